"""The format ``google-adk`` on its way out: the history as the events of one session of the kit.

``{"session_id", "conversation_id"?, "session": {id, app_name, user_id, state, events}}``, which the reader of this
format takes again; ``session`` is a ``Session`` by the kit's own types. Turns that came as an event are that event
again; any other turn becomes an event of its own, by its agent, with its time, model and usage. Nobody's ``app_name``
or ``user_id`` is made up: where there is none it is empty.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from agent.core.timestamps import instant
from agent.formats.conversation.payload import call_key
from agent.formats.conversation.said import Said, document, said
from agent.formats.gemini_native import has_digest, made_content, rebuilt, say_the_same
from agent.formats.gemini_out import groups_of, refused, with_objects
from agent.formats.gemini_pairs import OpenCalls
from agent.formats.gemini_parts import SNAKE, Turn, member
from agent.formats.google_adk_event import Told, event_turns, made_fields, told_by
from agent.formats.writing import Session, Written, agent_of

FORM: Final = "google-adk"


def write(session: Session) -> Written:
    """The history of ``session`` as one document."""
    turns, lost = said(session, FORM)
    lost += refused(turns)
    turns = with_objects(session, turns, FORM)
    events = _Events(session)
    for group in groups_of(turns, results_together=False):
        events.add(group)
    lost["times"] += sum(one.timestamp is not None for one in turns)
    lost["binaries"] = sum(has_digest(events.events))
    users = [context.get("user_id") for context in _contexts(session, turns)]
    user = next((each for each in users if isinstance(each, str)), "")
    lost["contexts"] -= sum(context == {"user_id": user} for context in _contexts(session, turns))
    lost -= events.said
    about = _about(session, turns)
    written: dict[str, Any] = {
        "id": session.native_session_id or session.session_id,
        "app_name": _text(about, "appName") or _text(_object(about, "sessionInput"), "appName"),
        "user_id": user,
        "state": _object(about, "state") or _object(_object(about, "sessionInput"), "state"),
        "events": events.events,
    }
    updated = member(about, "lastUpdateTime")
    if isinstance(updated, int | float) and not isinstance(updated, bool):
        written["last_update_time"] = updated
    return document(session, {"session": written}, lost)


def _contexts(session: Session, turns: Sequence[Said]) -> Iterator[Mapping[str, Any]]:
    return (session.capture_of(one.turn).context for one in turns)


def _about(session: Session, turns: Sequence[Said]) -> Mapping[str, Any]:
    """What the latest capture of this format said of the session."""
    for one in reversed(turns):
        capture = session.capture_of(one.turn)
        native = capture.fields.get("native")
        if capture.format == FORM and isinstance(native, dict):
            return _object(native, "beside")
    return {}


def _text(members: Mapping[str, Any], name: str) -> str:
    found = member(members, name)
    return found if isinstance(found, str) else ""


def _object(members: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = member(members, name)
    return found if isinstance(found, dict) else {}


class _Events:
    """The events while they are written; ``said`` counts by kind what they say that no list of messages does."""

    def __init__(self, session: Session) -> None:
        self.events: list[dict[str, Any]] = []
        self.said: Counter[str] = Counter()
        self._session = session
        self._calls = OpenCalls()
        self._ids: set[str] = set()
        self._invocations: set[str] = set()

    def add(self, group: Sequence[Said]) -> None:
        """Append the event that ``group`` came as, or those that say it best."""
        if group[0].native is None or not self._give_back(group):
            for one in group:
                if len(group) == 1 or one.native is None or not self._give_back([one]):
                    self._make(one)

    def _give_back(self, group: Sequence[Said]) -> bool:
        first = group[0]
        native = first.native or {}
        kept, absent = native.get("event", {}), native.get("event_absent", [])
        content = rebuilt(group, SNAKE)
        if content is None or not isinstance(kept, dict) or not isinstance(absent, list):
            return False
        told = self._told(first)
        event = {**made_fields(first.role, told), "content": content, **kept}
        event = {name: value for name, value in event.items() if name not in absent}
        problems: list[Any] = []
        turns = event_turns(event, "", problems)
        others = all((self._told(one).agent, one.timestamp) == (told.agent, told.timestamp) for one in group[1:])
        is_whole = not problems and others and self._is_told(event, first) and self._stays(event)
        if not is_whole or not say_the_same(turns, group, self._calls):
            return False
        self._append(event, turns, group)
        return True

    def _is_told(self, event: Mapping[str, Any], one: Said) -> bool:
        """Whether ``event`` says of ``one`` what is known of it. An id that came before, or none, names no turn."""
        read, told = told_by(event), self._told(one)
        if read._replace(native_id=None) != told._replace(native_id=None):
            return False
        if read.native_id is None or read.native_id in self._ids:
            return one.native_id is None
        return told.native_id is not None and call_key(read.native_id) == call_key(told.native_id)

    def _stays(self, event: Mapping[str, Any]) -> bool:
        """Whether ``event`` is no fragment, and takes nothing back that was written."""
        actions = event.get("actions")
        rewound = member(actions, "rewindBeforeInvocationId") if isinstance(actions, dict) else None
        return event.get("partial") is not True and not (isinstance(rewound, str) and rewound in self._invocations)

    def _make(self, one: Said) -> None:
        content, turns = made_content([one], self._calls, SNAKE)
        told = self._told(one)
        if told.native_id in self._ids:
            # Of a window: a turn that answers calls of two events is two. The kit names one that has no id.
            told = told._replace(native_id=None)
        self._append({**made_fields(one.role, told), "content": content}, turns, [one])

    def _append(self, event: dict[str, Any], turns: Sequence[Turn], group: Sequence[Said]) -> None:
        self.events.append(event)
        self._calls.add(turns)
        told = told_by(event)
        invocation = member(event, "invocationId")
        self._ids |= set() if told.native_id is None else {told.native_id}
        self._invocations |= {invocation} if isinstance(invocation, str) else set()
        for place, one in enumerate(group):
            wanted = self._told(one)
            self.said["times"] += _is_time(told.timestamp, wanted.timestamp)
            self.said["agents"] += one.turn.agent is not None and told.agent == wanted.agent
            self.said["models"] += place == 0 and wanted.model is not None and told.model == wanted.model
            self.said["token_usage"] += place == 0 and wanted.usage is not None and told.usage == wanted.usage

    def _told(self, one: Said) -> Told:
        # A turn's own id is one that the next reader knows it by.
        return Told(
            one.native_id or one.turn.turn_id, agent_of(self._session, one.turn), one.timestamp, one.model, one.usage
        )


def _is_time(written: str | None, wanted: str | None) -> bool:
    return written is not None and wanted is not None and instant(written) == instant(wanted)
