"""Exact counts beside what is published of the encodings, and beside what the API of OpenAI counted itself."""

from __future__ import annotations

import sys
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.recall.tokens.exact import Exact, load
from tests.core.window.scripts import CODE, SPOKEN
from tests.recall.tokens.conversations import turn


@pytest.fixture(scope="module", params=["cl100k_base", "o200k_base"])
def counter(request: pytest.FixtureRequest) -> Exact:
    return loaded(request.param)


def loaded(encoding: str) -> Exact:
    found = load(encoding)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("encoding", "text", "tokens"),
    [
        # openai/openai-cookbook, How_to_count_tokens_with_tiktoken.
        ("cl100k_base", "tiktoken is great!", 6),
        ("o200k_base", "tiktoken is great!", 6),
        ("cl100k_base", "antidisestablishmentarianism", 6),
        ("cl100k_base", "2 + 2 = 4", 7),
        ("cl100k_base", "お誕生日おめでとう", 9),
        ("o200k_base", "hello world", 2),
    ],
)
def test_texts_have_the_published_numbers_of_tokens(encoding: str, text: str, tokens: int) -> None:
    assert loaded(encoding).text(text) == tokens


def test_it_says_what_it_counts_by(counter: Exact) -> None:
    assert counter.name in {"cl100k_base", "o200k_base"}
    assert counter.is_exact
    assert counter.overhead == 3


def test_a_message_takes_four_tokens_beside_its_text_and_a_name_one_more(counter: Exact) -> None:
    words = counter.text("New synergies help.")
    assert counter(turn("New synergies help.")) == words + 4
    assert counter(turn("New synergies help.", metadata={"agent": "user"})) == words + 4 + 1 + counter.text("user")


@pytest.mark.parametrize("special", ["<|endoftext|>", "<|im_start|>", "<|endofprompt|>", "<|fim_prefix|>"])
def test_what_looks_like_a_special_token_is_text(counter: Exact, special: str) -> None:
    assert counter.text(special) > 1
    assert counter.text(f"a {special} b") > counter.text(special)


@given(st.text(st.characters()))
def test_any_text_is_counted_lone_surrogates_too(counter: Exact, text: str) -> None:
    tokens = counter.text(text)
    assert (tokens >= 1) is bool(text)
    assert tokens <= len(text.encode(errors="surrogatepass"))


@given(st.text(), st.text())
def test_two_texts_apart_take_about_as_many_tokens_as_together(counter: Exact, text: str, more: str) -> None:
    count = counter.text
    # A token more at most for each character that may join the two words at the seam.
    assert count(text) + count(more) >= count(text + more) - 4
    assert count(text + "\n\n" + more) <= count(text) + count(more) + 4


def test_threads_count_alike(counter: Exact) -> None:
    texts = [CODE, *SPOKEN.values()]
    alone = [counter.text(text) for text in texts]
    found: list[list[int]] = []

    def count() -> None:
        for _ in range(20):
            found.append([counter.text(text) for text in texts])

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [alone] * 80


def test_without_the_extra_or_the_vocabulary_there_is_no_exact_counter(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load("p50k_base") is None
    # What an import of a package does that is not installed.
    monkeypatch.setitem(sys.modules, "splintr", None)
    assert load("o200k_base") is None
