"""The folder of a model: one that cannot be run is refused at start, with the setting's name and what to do."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from agent.errors import ConfigurationError
from agent.recall.semantic.model import SemanticModel
from agent.recall.semantic.settings import semantic_cache, semantic_model
from tests.recall.semantic.tiny import TINY


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(TINY, tmp_path / "model"))


def refused(folder: Path) -> str:
    with pytest.raises(ConfigurationError) as caught:
        semantic_model({"SEMANTIC_MODEL": str(folder)})
    assert caught.value.variable == "SEMANTIC_MODEL"
    assert str(folder) not in caught.value.message
    return caught.value.message


def test_the_setting_names_the_folder_and_unset_is_no_model() -> None:
    assert semantic_model({}) is None
    assert semantic_model({"SEMANTIC_MODEL": "  "}) is None
    model = semantic_model({"SEMANTIC_MODEL": str(TINY)})
    assert model is not None
    assert (model.folder, model.dimensions, model.pieces) == (TINY, 16, 32)


def test_two_models_have_two_digests(copy: Path) -> None:
    assert SemanticModel.at(copy).digest == SemanticModel.at(TINY).digest
    manifest = json.loads((copy / "manifest.json").read_bytes())
    manifest["files"]["tokenizer.json"] = manifest["files"]["model.onnx"]
    shutil.copy(copy / "model.onnx", copy / "tokenizer.json")
    (copy / "manifest.json").write_text(json.dumps(manifest))
    assert SemanticModel.at(copy).digest != SemanticModel.at(TINY).digest


def test_a_folder_without_a_manifest_is_refused(tmp_path: Path, copy: Path) -> None:
    assert "make semantic makes one" in refused(tmp_path)
    assert "is no folder with a model" in refused(tmp_path / "absent")
    (copy / "manifest.json").write_text("{")
    assert "is no folder with a model" in refused(copy)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_file_that_is_not_the_one_of_the_manifest_is_refused(copy: Path, name: str) -> None:
    with (copy / name).open("ab") as file:
        file.write(b" ")
    assert f"has a {name} that is not the one of its manifest" in refused(copy)
    (copy / name).unlink()
    assert f"has no {name}" in refused(copy)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("format", 2),
        ("files", None),
        ("files", {"model.onnx": "?"}),
        ("dimensions", 0),
        ("dimensions", True),
        ("pieces", 2),
        ("pieces", "32"),
    ],
)
def test_a_manifest_that_no_model_has_is_refused(copy: Path, name: str, value: Any) -> None:
    manifest = json.loads((copy / "manifest.json").read_bytes())
    (copy / "manifest.json").write_text(json.dumps({**manifest, name: value}))
    refused(copy)
    (copy / "manifest.json").write_text("[]")
    refused(copy)


def test_without_the_extra_it_is_said_what_to_install() -> None:
    with pytest.raises(ConfigurationError, match=r"needs tokenizers: pip install '\.\[semantic\]'"):
        SemanticModel.at(TINY, is_installed=lambda name: name != "tokenizers")


def test_the_cache_is_a_folder_that_is_made(tmp_path: Path) -> None:
    assert semantic_cache({}) is None
    folder = tmp_path / "a" / "b"
    assert semantic_cache({"SEMANTIC_CACHE": str(folder)}) == folder
    assert folder.is_dir()
    (folder / "file").write_text("")
    with pytest.raises(ConfigurationError, match="SEMANTIC_CACHE: is no folder"):
        semantic_cache({"SEMANTIC_CACHE": str(folder / "file")})
