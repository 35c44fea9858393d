"""``store expire``: erases the sessions without activity, batch after batch; what was erased stays so."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from agent.cli.exit_codes import ExitCode
from agent.cli.invocation import Invocation
from agent.cli.result import print_result
from agent.cli.store.actor import actor_of
from agent.cli.store.database import opened, store_settings
from agent.cli.store.duration import age
from agent.core.timestamps import utc_text
from store.log.event_store import EventStore
from store.port import Actor
from store.privacy.expiry import Expired, expire

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ExpireCommand:
    """One run. ``older_than`` as the command line has it; the files are rewritten after ``batch`` sessions."""

    older_than: str
    dry_run: bool
    batch: int

    interrupted = "interrupted: what was erased stays erased; the same command goes on"

    def __call__(self, invocation: Invocation) -> ExitCode:
        """Erase and print what was erased, also where it ends early."""
        before = invocation.clock() - age("--older-than", self.older_than)
        actor = actor_of(invocation)
        sessions: list[dict[str, Any]] = []
        try:
            with opened(store_settings(invocation).url) as store, closing(self._expired(store, before, actor)) as found:
                for each in found:
                    done = {"session_id": each.session_id, "turns": each.turns}
                    sessions.append(done)
        except BaseException:
            if sessions:
                self._print(invocation, utc_text(before), sessions)
            raise
        self._print(invocation, utc_text(before), sessions)
        return ExitCode.OK

    def _expired(self, store: EventStore, before: datetime, actor: Actor) -> Generator[Expired, None, None]:
        """The sessions as they are erased. To be closed: the database's files are rewritten then."""
        before_us = (before - _EPOCH) // timedelta(microseconds=1)
        yield from expire(store, before_us=before_us, actor=actor, dry_run=self.dry_run, batch=self.batch)

    def _print(self, invocation: Invocation, before: str, sessions: list[dict[str, Any]]) -> None:
        turns = sum(session["turns"] for session in sessions)
        document = {"dry_run": self.dry_run, "before": before, "turns": turns, "sessions": sessions}
        word = "would be erased" if self.dry_run else "erased"
        facts = [
            ("last activity before", before),
            ("sessions", f"{len(sessions)} {word}"),
            ("turns", f"{turns} {word}"),
        ]
        if self.dry_run:
            facts += [("session", f"{session['session_id']}  {session['turns']} turns") for session in sessions]
        print_result(invocation, document, facts)
