"""Turns that say something, the tiny model, and vectors to file."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

from agent.core.turn import SessionTurn
from agent.recall.semantic.embedder import Embedder
from agent.recall.semantic.model import SemanticModel
from agent.recall.semantic.semantic import Semantic
from agent.recall.semantic.vector_files import VectorFiles
from tests.recall.semantic.tiny import TINY

MODEL = SemanticModel.at(TINY)
SESSION = "6f1d2c3a-8b4e-4f70-9a51-0c2d3e4f5a61"


def turn_id(number: int) -> str:
    return str(uuid.UUID(int=number))


def turn(number: int, content: str | None, *, role: str = "user", erased: bool = False, **fields: Any) -> SessionTurn:
    """The turn of this number, changed last at that position."""
    fields = {"version": number, **fields}
    return SessionTurn(turn_id(number), number, SESSION, None, role, content, erased, fields)


def turns(*contents: str) -> list[SessionTurn]:
    return [turn(number, content) for number, content in enumerate(contents, 1)]


def semantic(folder: Path | None = None, **settings: Any) -> Semantic:
    """With an embedder of its own, so that nothing is remembered; its vectors in ``folder``."""
    return Semantic(Embedder(MODEL), None if folder is None else VectorFiles(folder, MODEL), **settings)
