"""Times ``verify`` over an embedded store; run by its row in the environment of the command line.

``FOLDER ROUNDS EVENTS`` prints samples as JSON, one value a round, in seconds an event. Each round is the whole command
in a process that runs already: settings, opening the file, every event, the document.
"""

from __future__ import annotations

import hashlib
import io
import json
import sys
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from agent.bootstrap import store_client
from agent.cli.invocation import Invocation
from agent.cli.memory.checking.verify import VerifyCommand
from agent.cli.output_format import Format
from agent.cli.terminal import Terminal
from agent.config import Settings
from benchmarks.envelopes import TenTurns
from benchmarks.pairs import Act, Samples, in_turn
from benchmarks.stores import appending, read
from store.urls import open_store

_BATCH = 500


def verifying(folder: Path, rounds: int, count: int) -> Samples:
    """The command, and the least that could be said of the same bytes: that they are JSON, and their SHA-256."""
    path = folder / "store.db"
    texts = _filled(path, count)

    def bare() -> None:
        for text in texts:
            json.loads(text)
            hashlib.sha256(text).digest()

    sides: dict[str, Callable[[], Act]] = {"command": lambda: lambda: _verify(path, count), "bare": lambda: bare}
    return in_turn(sides, rounds=rounds, count=count)


def _verify(path: Path, count: int) -> None:
    out = io.StringIO()
    invocation = Invocation(
        terminal=Terminal({}, None, out, sys.stderr),
        format=Format.JSON,
        debug=False,
        store=str(path),
        execution_ref="",
        clock=lambda: datetime.now(UTC),
    )
    code = VerifyCommand(limit=100)(invocation)
    if code != 0 or json.loads(out.getvalue())["verdicts"]["identical"] != count:
        raise RuntimeError("not every event was found identical: the figure would be about something else")


def _filled(path: Path, count: int) -> list[bytes]:
    """A store of ``count`` conversations, and their events as it gives them."""
    with closing(open_store(f"sqlite:///{path}")) as store:
        append = appending(store)
        writes = TenTurns(seed=51)
        for _ in range(0, count, _BATCH):
            for body in writes.many(_BATCH):
                append(read(body))
    texts: list[bytes] = []
    with closing(store_client(Settings.from_env({"RUVECTOR_SERVICE_URL": f"embedded:{path}"}))) as client:
        cursor = None
        while len(texts) < count:
            page = client.reads.feed(cursor, limit=_BATCH)
            texts += [event.text for event in page.events]
            cursor = page.next_cursor
    return texts


if __name__ == "__main__":
    where, rounds_text, events_text = sys.argv[1:]
    print(json.dumps(verifying(Path(where), int(rounds_text), int(events_text))))
