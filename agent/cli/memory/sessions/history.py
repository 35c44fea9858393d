"""``history``: the turns of a session in their order, after branches, resets and cuts (CONTRACT 9 and 10)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial

from agent.bootstrap import store_client
from agent.cli.exit_codes import ExitCode
from agent.cli.invocation import Invocation
from agent.cli.listing import Listing
from agent.cli.memory.names import both, leaf_id, session_id
from agent.cli.memory.sessions.stored_session import StoredSession, read_session
from agent.cli.memory.sessions.turn_text import COLUMNS, Page, row
from agent.cli.output_format import Format
from agent.config import Settings
from agent.core.history import shown
from agent.core.turn import SessionTurn
from agent.errors import StoreNotFound
from agent.recall.speakers import speakers


@dataclass(frozen=True, slots=True)
class HistoryCommand:
    """One reading of a session, of one ``conversation`` of it, or of the branch that ends with ``leaf``.

    All three as people name them. ``last``: only so many of the newest turns; ``verbose``: whole, for people.
    """

    session: str
    conversation: str | None
    leaf: str | None
    last: int | None
    verbose: bool

    interrupted = "interrupted: nothing was changed"

    def __call__(self, invocation: Invocation) -> ExitCode:
        """Print the turns that the history shows. Raises StoreNotFound for what is not there to be shown."""
        leaf = None if self.leaf is None else leaf_id(self.leaf, session=session_id(self.session))
        session = read_session(invocation, self.session, self.conversation)
        if leaf is not None and leaf not in session.paths.turns:
            raise StoreNotFound(f"there is no turn {both(self.leaf or leaf, leaf)} in this session")
        turns = shown(session.paths.path(session.conversation_id, leaf))
        newest = turns if self.last is None else turns[-self.last :]
        if self.verbose and invocation.format is Format.TABLE:
            _print_whole(invocation, newest, _speakers(invocation, session.session_id, newest))
        else:
            _list(invocation, newest, session)
        if not turns:
            there = len(session.turns)
            invocation.terminal.say(f"the history is empty: of the session's turns ({there}) it shows none")
        return ExitCode.OK


def _list(invocation: Invocation, turns: Sequence[SessionTurn], session: StoredSession) -> None:
    with Listing(invocation, "turns", COLUMNS) as listing:
        listing.members["session_id"] = session.session_id
        if session.conversation_id is not None:
            listing.members["conversation_id"] = session.conversation_id
        for turn in turns:
            # Not orjson: a captured integer may have more than 64 bits.
            listing.add(json.dumps(turn.fields, ensure_ascii=False), partial(row, turn))


def _speakers(invocation: Invocation, session: str, turns: Sequence[SessionTurn]) -> dict[str, str]:
    with closing(store_client(Settings.from_env(invocation.settings()))) as client:
        return speakers(client.reads, session, turns)


def _print_whole(invocation: Invocation, turns: Sequence[SessionTurn], agents: Mapping[str, str]) -> None:
    terminal = invocation.terminal
    width = terminal.width if terminal.stdout.isatty() else None
    several = len({turn.conversation_id for turn in turns}) > 1
    page = Page(terminal.encoding, width, names_conversations=several, speakers=agents)
    for place, turn in enumerate(turns):
        terminal.plain(("\n" if place else "") + page.text(turn))
