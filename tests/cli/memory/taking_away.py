"""Stores with sessions to take from, and the commands run on them, at a terminal that answers or without one."""

from __future__ import annotations

import io
import itertools
import json
import re
import uuid
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from agent.bootstrap import new_id, store_client
from agent.cli.exit_codes import ExitCode
from agent.cli.memory.capturing.capture import CaptureCommand
from agent.cli.memory.taking_away.clear import ClearCommand
from agent.cli.memory.taking_away.erase import EraseCommand
from agent.cli.memory.taking_away.prune import PruneCommand
from agent.cli.output_format import Format
from agent.cli.terminal import Terminal
from agent.config import Settings
from agent.core.history import history
from agent.core.turn import SessionTurn
from agent.recall.turns import session_turns
from tests.cli.streams import Screen, invocation, printed, terminal

GOLDEN = Path(__file__).parent / "golden"
SESSION = "6f1d2c3a-8b4e-4f70-9a51-0c2d3e4f5a61"
FIRST, SECOND = "b7a1e0d4-5c39-4e82-8f16-2d7c9b0a4e13", "c2c2c2c2-0000-4000-8000-000000000002"
ROLES = ("system", "user", "assistant", "user", "assistant")
Ended = tuple[ExitCode, str, str]
Command = ClearCommand | PruneCommand | EraseCommand
_UNSTABLE = (
    (re.compile(r'((?:turn_id|execution_ref)"?: ?)"[0-9a-f-]{36}"'), r'\1"<id>"'),
    (re.compile(r'(at"?(?:: ?"| +))[0-9T:.-]+Z'), r"\1<time>"),
)


class Keyboard(io.BytesIO):
    """A standard input at which somebody types ``typed``; None is Ctrl-C."""

    def __init__(self, typed: bytes | None) -> None:
        super().__init__(typed or b"")
        self._typed = typed

    def isatty(self) -> bool:
        return True

    def readline(self, size: int | None = -1, /) -> bytes:
        if self._typed is None:
            raise KeyboardInterrupt
        return super().readline(size)


def at_keyboard(typed: bytes | None, **environ: str) -> Terminal:
    """A terminal at which a person sits."""
    return Terminal(environ, Keyboard(typed), Screen(tty=True), Screen(tty=True))


def normalised(text: str) -> str:
    for pattern, replacement in _UNSTABLE:
        text = pattern.sub(replacement, text)
    return text


def clear(
    session: str = SESSION,
    conversation: str | None = None,
    *,
    everything: bool = False,
    yes: bool = True,
    ids: Callable[[], str] = new_id,
) -> ClearCommand:
    return ClearCommand(session, conversation, everything=everything, yes=yes, new_id=ids)


def prune(
    keep: int,
    session: str = SESSION,
    conversation: str | None = None,
    *,
    yes: bool = True,
    ids: Callable[[], str] = new_id,
) -> PruneCommand:
    return PruneCommand(session, conversation, keep=keep, yes=yes, new_id=ids)


def failing(after: int, error: BaseException) -> Callable[[], str]:
    """Ids for ``after`` captures, two each; then ``error``."""
    places = itertools.count()

    def next_id() -> str:
        if next(places) >= 2 * after:
            raise error
        return str(uuid.uuid4())

    return next_id


def run(
    command: Command, store: Path | str, output_format: Format = Format.JSON, *, at: Terminal | None = None
) -> Ended:
    """Run ``command`` on ``store``: the exit code, the results, and all else that was printed."""
    at = at or terminal()
    code = invocation(at, output_format, store=str(store)).run(command, interrupted=command.interrupted)
    return code, *printed(at)


def capture(
    store: Path | str, *roles: str, conversation: str = FIRST, session: str = SESSION, **last: Any
) -> list[str]:
    """Capture a turn of each role; ``last`` are members of the last turn. Returns the turns' ids."""
    turns: list[dict[str, Any]] = [
        {
            "turn_id": str(uuid.uuid4()),
            "role": role,
            "content": f"a text of {role}",
            "timestamp": "2026-03-02T08:15:00Z",
        }
        for role in roles
    ]
    turns[-1].update(last)
    payload = {
        "session_id": session,
        "conversation_id": conversation,
        "turns": turns,
        "context": {"user_id": "ann"},
        "capture_options": {"derive_ids": True},
    }
    capture_body(store, payload)
    return [turn["turn_id"] for turn in turns]


def capture_body(store: Path | str, body: dict[str, Any], form: str = "native") -> None:
    """Capture ``body`` as it stands."""
    at = terminal(stdin=json.dumps(body).encode())
    command = CaptureCommand("-", form, None)
    assert invocation(at, Format.JSON, store=str(store)).run(command, interrupted="") == ExitCode.OK, printed(at)


def turns_of(store: Path, session: str = SESSION) -> tuple[SessionTurn, ...]:
    """All turns that the store has of a session."""
    with closing(store_client(Settings.from_env({"RUVECTOR_SERVICE_URL": f"embedded:{store}"}))) as client:
        return session_turns(client.reads, session)


def shown_of(store: Path, conversation: str | None = None) -> list[str]:
    """The ids of the turns that the session's history shows, or a conversation's."""
    return [turn.turn_id for turn in history(turns_of(store), conversation_id=conversation)]


def results(out: str) -> dict[str, str]:
    """What a JSON answer says of each conversation."""
    return {each["conversation_id"]: each["result"] for each in json.loads(out)["conversations"]}
