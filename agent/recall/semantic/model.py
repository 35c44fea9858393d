"""The folder that ``make semantic`` makes: checked at start, so that a wrong model is refused before it is asked.

Refused are a folder without a manifest, files that are not what it says, and a Python without the extra.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple

from agent.errors import ConfigurationError

VARIABLE: Final = "SEMANTIC_MODEL"
MODEL: Final = "model.onnx"
TOKENIZER: Final = "tokenizer.json"
_FORMAT: Final = 1
_NEEDED: Final = ("onnxruntime", "tokenizers")
_MAKE: Final = "make semantic makes one"
# As BERT has them, with room to spare; a text needs its first and its last piece, and one between them.
_MOST_DIMENSIONS: Final = 4096
_LEAST_PIECES: Final = 3
_MOST_PIECES: Final = 8192


class SemanticModel(NamedTuple):
    """A model that may be loaded. ``digest`` (hex) tells its vectors from those of every other model.

    ``dimensions`` of a vector; ``pieces``: so many word pieces it sees at once, the first and the last included.
    """

    folder: Path
    digest: str
    dimensions: int
    pieces: int

    @classmethod
    def at(cls, folder: Path, *, is_installed: Callable[[str], bool] | None = None) -> SemanticModel:
        """The model in ``folder``. Raises ConfigurationError with the name of the setting."""
        missing = [name for name in _NEEDED if not (is_installed or _is_installed)(name)]
        if missing:
            raise _refused(f"needs {' and '.join(missing)}: pip install '.[semantic]' in a clone")
        try:
            manifest = json.loads((folder / "manifest.json").read_bytes())
        except (OSError, ValueError) as error:
            raise _refused(f"is no folder with a model: {_MAKE}") from error
        if not isinstance(manifest, dict) or manifest.get("format") != _FORMAT:
            raise _refused(f"holds a model that this release cannot read: {_MAKE}")
        files = manifest.get("files")
        digests = [_checked(folder / name, files) for name in (MODEL, TOKENIZER)]
        return cls(
            folder,
            hashlib.sha256("".join(digests).encode()).hexdigest(),
            _number(manifest.get("dimensions"), 1, _MOST_DIMENSIONS),
            _number(manifest.get("pieces"), _LEAST_PIECES, _MOST_PIECES),
        )


def _checked(file: Path, files: Any) -> str:
    """The digest of ``file``, which must be the manifest's."""
    said = files.get(file.name) if isinstance(files, dict) else None
    try:
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError as error:
        raise _refused(f"has no {file.name}: {_MAKE}") from error
    if not isinstance(said, dict) or said.get("sha256") != digest:
        raise _refused(f"has a {file.name} that is not the one of its manifest: {_MAKE}")
    return digest


def _number(value: Any, least: int, most: int) -> int:
    if type(value) is not int or not least <= value <= most:
        raise _refused(f"has a manifest that no model has: {_MAKE}")
    return value


def _is_installed(name: str) -> bool:
    return find_spec(name) is not None


def _refused(problem: str) -> ConfigurationError:
    return ConfigurationError(VARIABLE, problem)
