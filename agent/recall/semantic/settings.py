"""The settings of the extra: ``SEMANTIC_MODEL`` and ``SEMANTIC_CACHE``, both folders, both unset by default."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from agent.errors import ConfigurationError
from agent.recall.semantic.model import VARIABLE as MODEL_VARIABLE
from agent.recall.semantic.model import SemanticModel

CACHE_VARIABLE: Final = "SEMANTIC_CACHE"


def semantic_model(environ: Mapping[str, str]) -> SemanticModel | None:
    """The model that ``SEMANTIC_MODEL`` names; None where it is unset: relevance is by words alone.

    Raises ConfigurationError for a model that is not there or cannot be run.
    """
    named = environ.get(MODEL_VARIABLE, "").strip()
    return SemanticModel.at(Path(named)) if named else None


def semantic_cache(environ: Mapping[str, str]) -> Path | None:
    """The folder for vectors; None where ``SEMANTIC_CACHE`` is unset: they are in memory alone.

    It is made where it is not there. Raises ConfigurationError where it is no folder.
    """
    named = environ.get(CACHE_VARIABLE, "").strip()
    if not named:
        return None
    folder = Path(named)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(CACHE_VARIABLE, "is no folder, and none can be made there") from error
    return folder
