"""Every conversation of a folder of data as turns: those that a format reads as it reads them, others by hand."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from agent.core.turn import SessionTurn
from tests.formats.corpus import FILES, documents
from tests.formats.whole_sessions import captures

ID = "6f1d2c3a-8b4e-4f70-9a51-0c2d3e4f5a61"


def turn(content: str = "", role: str = "user", **fields: Any) -> SessionTurn:
    return SessionTurn(ID, 1, ID, None, role, content, erased=False, fields=fields)


def conversations(folder: Path) -> Iterator[tuple[str, list[SessionTurn]]]:
    """The conversations of ``folder``, each with the name of its file."""
    for document in documents(folder):
        for found in captures(document.form, document.document):
            turns = [each for payload in found for each in payload["turns"]]
            yield document.name, [_turn(each) for each in turns]
    for path in sorted(folder.glob("*.json*")):
        if not any(fnmatch(path.name, pattern) for pattern, _, _ in FILES):
            for said in _said(path):
                yield path.name, [turn(text) for text in said]


def dialogs(path: Path) -> Iterator[tuple[str, list[SessionTurn]]]:
    """The dialogs of LoCoMo."""
    for dialog in json.loads(path.read_bytes()):
        said = [each for name, turns in dialog["conversation"].items() if isinstance(turns, list) for each in turns]
        yield path.name, [turn(f"{each['speaker']}: {each['text']}") for each in said]


def _turn(fields: dict[str, Any]) -> SessionTurn:
    return SessionTurn(fields["turn_id"], 1, ID, None, fields["role"], fields["content"], erased=False, fields=fields)


def _said(path: Path) -> Iterable[list[str]]:
    """The messages of each conversation of a file that no format reads; one that is none of these is its lines."""
    lines = path.read_text(encoding="utf-8").splitlines()
    if path.name.startswith("sgd__dev__4"):
        return ([each["utterance"] for each in json.loads(line)["turns"]] for line in lines)
    if path.name.startswith("bfcl"):
        return ([each["content"] for asked in json.loads(line)["question"] for each in asked] for line in lines)
    return [lines]
