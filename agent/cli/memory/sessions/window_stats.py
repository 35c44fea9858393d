"""``stats``: how full a session's window is, in the figures that somebody on call asks for first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from agent.cli.exit_codes import ExitCode
from agent.cli.invocation import Invocation
from agent.cli.memory.sessions.seen_session import Named, seen_for
from agent.cli.memory.sessions.window_shown import warnings
from agent.cli.result import print_result
from agent.recall.context import ContextRequest, WindowStats, window_stats
from agent.recall.window_stats import spaced


@dataclass(frozen=True, slots=True)
class StatsCommand:
    """The figures of one session, or of one ``conversation`` of it, as people name them."""

    session: str
    conversation: str | None
    request: ContextRequest

    interrupted = "interrupted: nothing was changed"

    def __call__(self, invocation: Invocation) -> ExitCode:
        """Count and print. Raises as ``seen_for``."""
        named = Named.of(self.session, self.conversation)
        with seen_for(invocation, named, self.request) as seen:
            found = window_stats(seen.session, self.request, seen.settings, seen.windows, now=invocation.clock())
        print_result(invocation, {"session_id": named.session, **found.document()}, _facts(named, found))
        lines = warnings(found.warnings, has_budget=self.request.max_tokens is not None)
        if lines:
            invocation.terminal.say(*lines)
        return ExitCode.OK


def _facts(named: Named, found: WindowStats) -> Iterator[tuple[str, str]]:
    yield "session", named.session
    yield "in short", found.line
    if found.conversation_id is not None:
        yield "conversation", found.conversation_id
    yield "messages", f"{found.total_messages}, {found.in_context} in context, {found.pruned} pruned"
    yield "tokens", f"{spaced(found.total_tokens)}, {spaced(found.context_tokens)} in context"
    used = f"{found.percent_used:.0f} % used" if found.needed is None else f"{spaced(found.needed)} are needed"
    yield "limit", f"{spaced(found.limit)} tokens, {used}"
    yield "by role", ", ".join(f"{role} {spaced(tokens)}" for role, tokens in found.tokens_by_role.items()) or "nothing"
    yield "counted by", found.counter if found.is_exact else f"{found.counter}, not exact"
    yield "oldest in memory", found.oldest_in_memory or "nothing"
    yield "last prune", found.last_prune or "never"
