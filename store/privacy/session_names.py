"""What the events of a session say of it beside its turns: agents, users, tags, its native id (CONTRACT 10).

Appends fold this forward (``SessionRow.with_capture``). Here it is read again from what is left.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from store.log.capture import text_or_none
from store.log.envelope import parse_kept
from store.log.event_body import OpenBody
from store.log.session_row import SessionRow, turn_agent

# Without these a text says nothing of the kind, and is not parsed.
_SPEAKER: Final = b'"agent"'
_ABOUT: Final = (b'"context"', b'"native_session_id"')


@dataclass(slots=True)
class SessionNames:
    """Gathers from one event after the other, the newest first."""

    agents: set[str] = field(default_factory=set)
    users: set[str] = field(default_factory=set)
    tags: set[str] = field(default_factory=set)
    native_session_id: str | None = None

    def add(self, body: OpenBody) -> None:
        """Add what an event says; nothing where it makes no turns."""
        if not body.rest.has_turns:
            return
        for turn in body.own:
            if _SPEAKER in turn.tail:
                self._add_speaker(turn.head + turn.tail)
        for reference in body.layout.turns:
            if reference is not None and reference.members and _SPEAKER in reference.members:
                self._add_speaker(reference.members)
        if any(name in body.rest.text for name in _ABOUT):
            self._add_inputs(body.rest.text)

    def of(self, row: SessionRow) -> SessionRow:
        """The row with these names."""
        native = self.native_session_id
        return replace(
            row,
            native_session_id=None if native is None else native.encode(),
            agents=tuple(sorted(self.agents)),
            users=tuple(sorted(self.users)),
            tags=tuple(sorted(self.tags)),
        )

    def _add_speaker(self, text: bytes) -> None:
        name = turn_agent(parse_kept(text))
        if name is not None:
            self.agents.add(name)

    def _add_inputs(self, rest: bytes) -> None:
        inputs = parse_kept(rest)["payload"]["inputs"]
        # The oldest event that has one counts.
        self.native_session_id = text_or_none(inputs.get("native_session_id")) or self.native_session_id
        context = inputs.get("context")
        about = context if isinstance(context, dict) else {}
        for names, name in ((self.agents, "agent_id"), (self.users, "user_id")):
            named = text_or_none(about.get(name))
            if named is not None:
                names.add(named)
        tags = about.get("tags")
        if isinstance(tags, list):
            self.tags.update(tag for tag in tags if isinstance(tag, str))
