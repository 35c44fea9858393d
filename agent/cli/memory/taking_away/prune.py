"""``prune``: the history of a session shows its newest messages from here on; the log keeps all (CONTRACT 9).

A result whose call would go keeps it: then a history has more messages than were asked for (``agent.core.cut``). Each
conversation is cut for itself. What is cut in one holds for the session's history too, which is kept from beginning
with such a result as well.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial

from agent.bootstrap import capture_service_on, store_client
from agent.cli.embedded_path import check_embedded_store
from agent.cli.exit_codes import ExitCode
from agent.cli.invocation import Invocation
from agent.cli.memory.taking_away.confirmation import Confirmation, counted
from agent.cli.memory.taking_away.session_views import SessionViews
from agent.cli.memory.taking_away.state_turn import StateTurns, Words
from agent.config import Settings


@dataclass(frozen=True, slots=True)
class PruneCommand:
    """One pruning of a session, or of one ``conversation`` of it, as people name them, to ``keep`` messages.

    System turns stay, and so does the state. ``new_id`` gives random UUIDs.
    """

    session: str
    conversation: str | None
    keep: int
    yes: bool
    new_id: Callable[[], str]

    interrupted = "interrupted: what was pruned stays pruned; the same command goes on with the rest"

    def __call__(self, invocation: Invocation) -> ExitCode:
        """Ask, append, and print what became of each conversation. One that is short enough is left alone."""
        confirmation = Confirmation.at(invocation.terminal, command="prune", yes=self.yes)
        settings = Settings.from_env(invocation.settings())
        check_embedded_store(settings.store)
        with closing(store_client(settings)) as client:
            views = SessionViews.read(client.reads, self.session, self.conversation)
            turns = self._turns(views)
            if turns.to_do:
                more = ", and more where results stay with their calls" if max(turns.kept.values()) > self.keep else ""
                refused = confirmation.ask(
                    f"prune {counted(len(turns.to_do), 'conversation')} of session {views.session_id} to "
                    f"{counted(self.keep, 'message')}{more} "
                    f"({counted(turns.left_out(turns.to_do), 'turn')} will leave the history)?"
                )
                if refused is not None:
                    return refused
            service = capture_service_on(lambda: client, settings.content)
            return turns.append(invocation, service, self.new_id)

    def _turns(self, views: SessionViews) -> StateTurns:
        there = {each: len(views.messages(each)) for each in views.conversations}
        keep_last = views.keep_last(self.keep)
        if self.conversation is not None:
            # Short enough for itself, and only it was asked for.
            keep_last = {each: count for each, count in keep_last.items() if count < there[each]}
        kept = {each: min(count, keep_last.get(each, count)) for each, count in there.items()}
        return StateTurns(
            session_id=views.session_id,
            asked={"keep": self.keep},
            to_do={each: {"keep_last": count} for each, count in keep_last.items()},
            left_alone=[each for each in views.conversations if each not in keep_last],
            words=Words("pruned", "already short", f"system turns and {counted(self.keep, 'message')}"),
            left_out=partial(self._leaving, views, keep_last),
            kept=kept,
            notes={each: self._note(count) for each, count in kept.items()},
        )

    def _note(self, kept: int) -> str:
        return f"{kept} kept" if kept <= self.keep else f"{kept} kept: results stay with their calls"

    def _leaving(self, views: SessionViews, keep_last: Mapping[str, int], done: Collection[str]) -> int:
        """How many turns leave a history once ``done`` are cut; one that leaves several counts once."""
        cuts: list[tuple[str | None, int]] = [(each, keep_last[each]) for each in done]
        if self.conversation is None and done:
            cuts.append((None, min(keep_last[each] for each in done)))
        leaving: set[str] = set()
        for conversation, count in cuts:
            messages = views.messages(conversation)
            leaving.update(turn.turn_id for turn in messages[: max(0, len(messages) - count)])
        return len(leaving)
