"""``prune``: the history of a session shows its newest messages from here on; the log keeps all (CONTRACT 9)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass

from agent.bootstrap import store_client
from agent.cli.embedded_path import check_embedded_store
from agent.cli.exit_codes import ExitCode
from agent.cli.invocation import Invocation
from agent.cli.memory.confirmation import Confirmation, counted
from agent.cli.memory.session_views import SessionViews
from agent.cli.memory.state_turn import StateTurns, Words
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
                leaving = views.messages(None if self.conversation is None else views.conversations[0]) - self.keep
                refused = confirmation.ask(
                    f"prune {counted(len(turns.to_do), 'conversation')} of session {views.session_id} to "
                    f"{counted(self.keep, 'message')} ({counted(leaving, 'turn')} will leave the history)?"
                )
                if refused is not None:
                    return refused
            return turns.append(invocation, client, self.new_id)

    def _turns(self, views: SessionViews) -> StateTurns:
        to_do = [each for each in views.conversations if views.messages(each) > self.keep]
        if not to_do and self.conversation is None and views.messages() > self.keep:
            # Each is short enough and all together are not: a cut at the end of one holds for the merged history.
            to_do = [max(views.conversations, key=lambda each: views.end(each).seq)]
        return StateTurns(
            session_id=views.session_id,
            memory={"keep_last": self.keep},
            to_do=to_do,
            left_alone=[each for each in views.conversations if each not in to_do],
            words=Words("pruned", "already short", f"system turns and {counted(self.keep, 'message')}"),
        )
