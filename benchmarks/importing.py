"""Times ``import`` of many small conversations; run by its row in the environment of the command line.

``FOLDER ROUNDS COUNT`` prints samples as JSON, one value a round, in seconds a conversation: the whole command in a
process that runs already, into an embedded store of its own, and the least that keeps the same lines (parse each, one
append with fsync each).

``peak KIND MEGABYTES FOLDER`` prints the peak resident size of this process, in bytes, after a dry run over a file of
so many megabytes: KIND is ``export`` (a JSON array on one line) or ``lines``.
"""

from __future__ import annotations

import io
import json
import os
import resource
import sys
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import jiter

from agent.bootstrap import new_id
from agent.cli.invocation import Invocation
from agent.cli.memory.importing.import_files import ImportCommand
from agent.cli.output_format import Format
from agent.cli.terminal import Terminal
from benchmarks.pairs import Act, Samples, in_turn

_TEXT = "How do I change the day of my flight, and what does it cost if I do that on the day before? "
_TURNS = 4


class _Tail(io.StringIO):
    """Results that go nowhere: the last of them is kept, where all of them would be the figure."""

    text = ""

    def write(self, text: str) -> int:
        self.text = (self.text + text)[-4096:]
        return len(text)


def importing(folder: Path, rounds: int, conversations: int) -> Samples:
    """The command, and the least that would keep the same lines."""
    numbers = count()

    def written() -> Path:
        # New ids for each round: what a store has already is a duplicate, and another figure.
        path = folder / f"conversations-{next(numbers)}.jsonl"
        path.write_text("".join(f"{json.dumps(each)}\n" for each in _chats(conversations)))
        return path

    def command() -> Act:
        path = written()
        return lambda: _import(path, conversations, store=path.with_suffix(".db"))

    def bare() -> Act:
        path = written()
        return lambda: _append(path, path.with_suffix(".kept"))

    sides: dict[str, Callable[[], Act]] = {"command": command, "bare": bare}
    return in_turn(sides, rounds=rounds, count=conversations)


def peak(kind: str, megabytes: int, folder: Path) -> int:
    """The peak of a dry run: nothing is stored, all is read, parsed, translated and checked."""
    path = folder / f"{kind}-{megabytes}.json"
    kept = _exported(path, megabytes) if kind == "export" else _lines(path, megabytes)
    try:
        _import(path, kept, store=None)
    finally:
        path.unlink()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _import(path: Path, conversations: int, *, store: Path | None) -> None:
    out = _Tail()
    invocation = Invocation(
        terminal=Terminal({}, None, out, sys.stderr),
        format=Format.JSON,
        debug=False,
        store=None if store is None else str(store),
        execution_ref="",
        clock=lambda: datetime.now(UTC),
    )
    command = ImportCommand([str(path)], "auto", None, None, dry_run=store is None, resume=False, new_id=new_id)
    code = command(invocation)
    if code != 0 or f'"total": {{"conversations": {conversations},' not in out.text:
        raise RuntimeError("not every conversation was imported: the figure would be about something else")


def _append(path: Path, kept: Path) -> None:
    handle = os.open(kept, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    with path.open("rb") as lines:
        for line in lines:
            jiter.from_json(line)
            os.write(handle, line)
            os.fsync(handle)
    os.close(handle)


def _chats(conversations: int, *, turns: int = _TURNS, text: str = _TEXT) -> Iterator[dict[str, Any]]:
    for _ in range(conversations):
        messages = [
            {"role": "assistant" if place % 2 else "user", "content": f"{place}: {text}"} for place in range(turns)
        ]
        yield {"session_id": str(uuid.uuid4()), "messages": messages}


def _exported(path: Path, megabytes: int) -> int:
    """A ChatGPT export, as it is downloaded: one array on one line."""
    kept = 0
    with path.open("w") as file:
        file.write("[")
        while file.tell() < megabytes * 10**6:
            file.write(("," if kept else "") + json.dumps(_conversation(kept)))
            kept += 1
        file.write("]")
    return kept


def _conversation(number: int) -> dict[str, Any]:
    mapping: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None, "children": ["0"]}}
    turns = 20
    for place in range(turns):
        mapping[str(place)] = {
            "id": str(place),
            "parent": str(place - 1) if place else "root",
            "children": [str(place + 1)] if place + 1 < turns else [],
            "message": {
                "id": str(place),
                "author": {"role": "assistant" if place % 2 else "user"},
                "create_time": 1.7e9 + place,
                "content": {"content_type": "text", "parts": [f"{number} {place}: {_TEXT * 4}"]},
                "metadata": {"model_slug": "gpt-4o"} if place % 2 else {},
            },
        }
    return {
        "id": str(uuid.UUID(int=number)),
        "title": f"Flight {number}",
        "create_time": 1.7e9,
        "current_node": str(turns - 1),
        "mapping": mapping,
    }


def _lines(path: Path, megabytes: int) -> int:
    kept = 0
    with path.open("w") as file:
        while file.tell() < megabytes * 10**6:
            for each in _chats(100, turns=20, text=_TEXT * 10):
                file.write(f"{json.dumps(each)}\n")
            kept += 100
    return kept


if __name__ == "__main__":
    if sys.argv[1] == "peak":
        print(json.dumps(peak(sys.argv[2], int(sys.argv[3]), Path(sys.argv[4]))))
    else:
        where, rounds_text, count_text = sys.argv[1:]
        print(json.dumps(importing(Path(where), int(rounds_text), int(count_text))))
