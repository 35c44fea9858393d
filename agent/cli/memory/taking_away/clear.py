"""``clear``: the history and the state of a session are empty from here on; the log keeps all (CONTRACT 9)."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from agent.bootstrap import capture_service_on, store_client
from agent.cli.embedded_path import check_embedded_store
from agent.cli.exit_codes import ExitCode
from agent.cli.invocation import Invocation
from agent.cli.memory.taking_away.confirmation import Confirmation, counted
from agent.cli.memory.taking_away.session_views import SessionViews
from agent.cli.memory.taking_away.state_turn import StateTurns, Words
from agent.config import Settings

_STATELESS: Final = frozenset({"state_only", "reset", "keep_last"})


@dataclass(frozen=True, slots=True)
class ClearCommand:
    """One clearing of a session, or of one ``conversation`` of it, as people name them.

    ``everything``: the system turns leave too. ``new_id`` gives random UUIDs.
    """

    session: str
    conversation: str | None
    everything: bool
    yes: bool
    new_id: Callable[[], str]

    interrupted = "interrupted: what was cleared stays cleared; the same command goes on with the rest"

    def __call__(self, invocation: Invocation) -> ExitCode:
        """Ask, append, and print what became of each conversation. One that is clear already is left alone."""
        confirmation = Confirmation.at(invocation.terminal, command="clear", yes=self.yes)
        settings = Settings.from_env(invocation.settings())
        check_embedded_store(settings.store)
        with closing(store_client(settings)) as client:
            views = SessionViews.read(client.reads, self.session, self.conversation)
            turns = self._turns(views)
            if turns.to_do:
                refused = confirmation.ask(
                    f"clear {counted(len(turns.to_do), 'conversation')} of session {views.session_id} "
                    f"({counted(self._leaving(views, turns.to_do), 'turn')} will leave the history)?"
                )
                if refused is not None:
                    return refused
            service = capture_service_on(lambda: client, settings.content)
            return turns.append(invocation, service, self.new_id)

    def _turns(self, views: SessionViews) -> StateTurns:
        to_do = [each for each in views.conversations if not self._is_clear(views, each)]
        memory: dict[str, Any] = {"reset": "all" if self.everything else True}
        return StateTurns(
            session_id=views.session_id,
            asked=memory,
            to_do=dict.fromkeys(to_do, memory),
            left_alone=[each for each in views.conversations if each not in to_do],
            words=Words("cleared", "already clear", "nothing" if self.everything else "system turns"),
            left_out=partial(self._leaving, views),
        )

    def _is_clear(self, views: SessionViews, conversation: str) -> bool:
        """Whether there is nothing to show and no state: the path ends with a reset and nothing beside it."""
        end = views.end(conversation)
        # Any other member is state that came after the reset (CONTRACT 9: within one turn the reset is first).
        is_reset = end.memory.get("reset") in (True, "all") and end.memory.keys() <= _STATELESS
        return is_reset and not self._leaving(views, [conversation])

    def _leaving(self, views: SessionViews, conversations: Collection[str]) -> int:
        """How many turns these histories show and would show no longer; one that several show counts once."""
        shown = {turn.turn_id: turn for each in conversations for turn in views.history(each)}
        return sum(self.everything or turn.role != "system" for turn in shown.values())
