"""Texts to vectors, by the tiny model: what the model is asked, and what becomes of texts of every length."""

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from agent.recall.semantic.embedder import MOST_CHUNKS, Embedder
from agent.recall.semantic.packed import cosines, packed
from tests.recall.semantic.reference import sentence_vector
from tests.recall.semantic.said_turns import MODEL
from tests.recall.semantic.tiny import CONFIG, TINY, VOCABULARY, WORDS, weights

EMBEDDER = Embedder(MODEL)
ROOM = MODEL.pieces - 2
texts = st.lists(st.sampled_from([word for word in WORDS if word.isalpha()]), max_size=200).map(" ".join)


@pytest.mark.parametrize("text", ["", "hello", "where is my parcel ?", "the cat sat on the mat in rain today", "xyzzy"])
def test_int8_vectors_are_near_to_those_of_the_weights_themselves(text: str) -> None:
    pieces = Tokenizer.from_file(str(TINY / "tokenizer.json")).encode(text).ids
    assert (pieces[0], pieces[-1]) == (VOCABULARY["[CLS]"], VOCABULARY["[SEP]"])
    exact = sentence_vector(weights(), CONFIG, pieces)
    (vector,) = EMBEDDER.vectors(text)
    assert float(vector @ exact) > 0.98


@given(texts)
def test_every_text_has_one_to_eight_vectors_of_length_1(text: str) -> None:
    vectors = EMBEDDER.vectors(text)
    assert vectors.shape == (min(MOST_CHUNKS, max(1, -(-len(text.split()) // ROOM))), MODEL.dimensions)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


@given(st.text(max_size=50))
def test_any_text_has_a_vector(text: str) -> None:
    assert np.isfinite(EMBEDDER.vectors(text)).all()


def test_a_text_is_cut_into_chunks_of_about_one_size() -> None:
    words = ["parcel"] * ROOM + ["cat"]
    first, second = EMBEDDER.vectors(" ".join(words))
    half = len(words) // 2
    assert np.array_equal(first, EMBEDDER.vectors(" ".join(words[:half]))[0])
    assert np.array_equal(second, EMBEDDER.vectors(" ".join(words[half:]))[0])


def test_of_a_text_of_a_megabyte_the_start_stands_for_it() -> None:
    assert np.array_equal(EMBEDDER.vectors("cat " * 300_000), EMBEDDER.vectors("cat " * (ROOM * MOST_CHUNKS)))


def test_case_and_accents_do_not_count() -> None:
    assert np.array_equal(EMBEDDER.vectors("ZÜRICH"), EMBEDDER.vectors("zurich"))


def test_threads_share_one_embedder_and_get_the_same_vectors() -> None:
    fresh = Embedder(MODEL)
    start = threading.Barrier(4)
    found: list[bytes] = []

    def embed() -> None:
        start.wait()
        found.extend(fresh.vectors(f"where is the {word}").tobytes() for word in ("cat", "dog", "boat"))

    threads = [threading.Thread(target=embed) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 12
    assert len(set(found)) == 3


@given(st.lists(texts, min_size=1, max_size=3), texts)
def test_packed_vectors_have_the_cosines_of_the_vectors(told: list[str], asked: str) -> None:
    vectors = np.concatenate([EMBEDDER.vectors(text) for text in told])
    query = EMBEDDER.vectors(asked)[0]
    assert np.allclose(cosines(packed(vectors), query), vectors @ query, atol=0.01)


def test_a_vector_of_zeros_is_packed_too() -> None:
    zeros = np.zeros((2, MODEL.dimensions), np.float32)
    assert cosines(packed(zeros), np.ones(MODEL.dimensions, np.float32)).tolist() == [0.0, 0.0]
