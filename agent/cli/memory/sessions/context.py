"""``context``: what of a session a model is to be given, as people or as a provider want it, and why not the rest.

The window itself is a list of turns as ``history`` prints it, with markers where turns are missing; or with a format
the one document that its provider takes. What is close to its limit is said on standard error.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial

from agent.cli.exit_codes import ExitCode
from agent.cli.invocation import Invocation
from agent.cli.listing import Listing
from agent.cli.memory.sessions.seen_session import Named, Seen, seen_for
from agent.cli.memory.sessions.turn_text import COLUMNS
from agent.cli.memory.sessions.window_shown import EXPLAINED, account, explained_row, warnings_of, window_row
from agent.cli.output_format import Format
from agent.core.window.window import Window
from agent.recall.context import ContextRequest, session_window, written


@dataclass(frozen=True, slots=True)
class ContextCommand:
    """One window of a session, or of one ``conversation`` of it, as people name them.

    ``explain``: for people, every turn with what became of it, in place of the window.
    """

    session: str
    conversation: str | None
    request: ContextRequest
    explain: bool

    interrupted = "interrupted: nothing was changed"

    def __call__(self, invocation: Invocation) -> ExitCode:
        """Cut and print. Raises as ``seen_for`` and ``session_window``."""
        named = Named.of(self.session, self.conversation)
        with seen_for(invocation, named, self.request) as seen:
            window = session_window(seen.session, self.request, seen.settings, seen.windows)
            if self.request.format is not None:
                return self._print_document(invocation, window, seen, self.request.format)
            if self.explain and invocation.format is Format.TABLE:
                self._explain(invocation, window, seen)
            else:
                _list(invocation, window, named)
        self._say(invocation, window)
        return ExitCode.OK

    def _print_document(self, invocation: Invocation, window: Window, seen: Seen, target: str) -> ExitCode:
        found = written(window, target, seen=seen.session, source=seen.source)
        # Not orjson: a captured integer may have more than 64 bits.
        text = json.dumps(found.for_provider, ensure_ascii=False, separators=(",", ":"))
        if invocation.format is Format.YAML:
            invocation.print_json(text.encode())
        else:
            invocation.terminal.exact(f"{text}\n")
        if self.explain:
            left_out = (f"{kind.replace('_', ' ')} {count}" for kind, count in sorted(found.left_out.items()))
            says = f"{target} does not say: {', '.join(left_out) or 'nothing'}"
            invocation.terminal.say(*account(window.manifest), says)
        self._say(invocation, window)
        return ExitCode.OK

    def _explain(self, invocation: Invocation, window: Window, seen: Seen) -> None:
        turns = {turn.turn_id: turn for turn in seen.session.held.whole(seen.session.state.turns)}
        with Listing(invocation, "choices", EXPLAINED) as listing:
            for choice in window.manifest.choices:
                document = json.dumps(choice.document(), ensure_ascii=False)
                listing.add(document, partial(explained_row, choice, turns.get(choice.turn_id)))
            for line in ("", *account(window.manifest)):
                listing.note(line)

    def _say(self, invocation: Invocation, window: Window) -> None:
        lines = warnings_of(window.manifest, has_budget=self.request.max_tokens is not None)
        if lines:
            invocation.terminal.say(*lines)


def _list(invocation: Invocation, window: Window, named: Named) -> None:
    with Listing(invocation, "messages", COLUMNS) as listing:
        listing.members["session_id"] = named.session
        if named.conversation is not None:
            listing.members["conversation_id"] = named.conversation
        listing.members["manifest"] = window.manifest.document()
        for turn in window.messages:
            # Not orjson: a captured integer may have more than 64 bits.
            listing.add(json.dumps(turn.fields, ensure_ascii=False), partial(window_row, turn))
