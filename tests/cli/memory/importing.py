"""Files of conversations, imported in this process into a store of their own, and what the store then holds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agent.bootstrap import new_id, store_client
from agent.cli.exit_codes import ExitCode
from agent.cli.memory.importing.import_files import ImportCommand
from agent.cli.output_format import Format
from agent.cli.terminal import Terminal
from agent.config import Settings
from agent.recall.sessions import Sessions
from agent.ruvector.models import TurnRecord
from agent.ruvector.reads import StoreReads
from tests.cli.streams import invocation, printed, terminal

MESSAGES = [
    {"role": "user", "content": "Can I change my flight?"},
    {"role": "assistant", "content": None, "tool_calls": [
        {"id": "call_1", "type": "function", "function": {"name": "find", "arguments": '{"code": "XQ1"}'}}]},
    {"role": "tool", "tool_call_id": "call_1", "content": "found"},
    {"role": "assistant", "content": "Yes, to Friday."},
]  # fmt: skip


def chat(number: int, messages: Sequence[Any] = MESSAGES, **more: Any) -> dict[str, Any]:
    """A conversation that no other is the same as."""
    first = {"role": "user", "content": f"Conversation {number}"}
    return {"messages": [first, *messages], **more}


def lines(*values: Any) -> bytes:
    """JSON Lines; bytes are a line as they are."""
    return b"".join((each if isinstance(each, bytes) else json.dumps(each).encode()) + b"\n" for each in values)


@dataclass(frozen=True)
class Imported:
    """An import that has ended: its exit code, one document a result, and what was said."""

    code: ExitCode
    results: list[dict[str, Any]]
    err: str

    @property
    def taken(self) -> list[dict[str, Any]]:
        return [result for result in self.results if "error" not in result]

    @property
    def kinds(self) -> list[str]:
        """Why something was not taken, in order."""
        return [result["error"]["kind"] for result in self.results if "error" in result]

    def sum(self, name: str) -> int:
        return sum(result.get(name, 0) for result in self.taken)


def command(*names: Path | str, **options: Any) -> ImportCommand:
    given: dict[str, Any] = {
        "asked": "auto", "at": None, "source_name": None, "dry_run": False, "resume": False, "new_id": new_id,
    }  # fmt: skip
    return ImportCommand([str(name) for name in names], **{**given, **options})


def imported(store: Path, *names: Path | str, state: Path | None = None, **options: Any) -> Imported:
    """Import ``names`` into ``store``; ``state`` is where the state of imports is kept."""
    at = terminal(environ={} if state is None else {"XDG_STATE_HOME": str(state)})
    run = replace(invocation(at, Format.JSON, store=str(store)), jsonl=True)
    code = run.run(command(*names, **options), interrupted=ImportCommand.interrupted)
    out, err = printed(at)
    return Imported(code, [json.loads(line) for line in out.splitlines()], err)


def shown(
    store: Path, *names: Path | str, form: Format = Format.TABLE, screen: Terminal | None = None, **options: Any
) -> tuple[ExitCode, str, str]:
    """The same for people, or as one document."""
    at = screen or terminal()
    code = invocation(at, form, store=str(store)).run(command(*names, **options), interrupted=ImportCommand.interrupted)
    return code, *printed(at)


def stored(store: Path) -> dict[str, list[TurnRecord]]:
    """Every turn in the store, in order, by the session's own id or else its UUID."""
    settings = Settings.from_env({"RUVECTOR_SERVICE_URL": f"embedded:{store}"})
    with closing(store_client(settings)) as client:
        return {
            row.native_session_id or row.session_id: _turns(client.reads, row.session_id)
            for row in Sessions(client.reads, limit=10**6)
        }


def _turns(reads: StoreReads, session: str) -> list[TurnRecord]:
    found: list[TurnRecord] = []
    # A page of large turns is short, and not the last.
    while page := reads.turns(session, after_seq=found[-1].seq if found else 0, limit=1000).turns:
        found += page
    return found


def said(store: Path) -> dict[str, list[tuple[str, str | None]]]:
    """Roles and texts of ``stored``."""
    return {name: [(turn.role, turn.content) for turn in turns] for name, turns in stored(store).items()}


def events(store: Path) -> list[dict[str, Any]]:
    """Every event's payload in the store, in order."""
    settings = Settings.from_env({"RUVECTOR_SERVICE_URL": f"embedded:{store}"})
    with closing(store_client(settings)) as client:
        found: list[dict[str, Any]] = []
        cursor = None
        while True:
            page = client.reads.events(limit=500, cursor=cursor)
            found += [event.payload for event in page.events]
            cursor = page.next_cursor
            if cursor is None:
                return found
