"""The format ``google-adk``: sessions of the Agent Development Kit, streams of its events, and eval sets.

A session ``{id, app_name, user_id, state, events}`` in either spelling, its events alone (a list, the lines of a
stream, ``{"records": [...]}``), an eval set ``{eval_set_id, eval_cases}`` and an eval case ``{eval_id, conversation}``,
whose invocations are what their events would have been. An event's own id names its first turn; results in an event of
whatever role are turns of the tool. A rewind makes the next event go on from before what it took back.

Counted and left out: fragments of a stream (``partial``) whose whole came too (others are merged,
``google_adk_partial``), events without a content, compactions, junk. Refuses contents and parts of the wrong type, and
roles that are none.

Sources: google-adk, ``sessions.Session``, ``events.Event``, ``evaluation.EvalSet``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from agent.errors import MAX_PROBLEMS, Problem, ValidationError
from agent.formats.common_fields import MAX_ID_CHARACTERS, POSTED, refusal_of
from agent.formats.conversation.message import Conversation, Ignored, Message
from agent.formats.conversation.times import from_epoch
from agent.formats.gemini_pairs import OpenCalls
from agent.formats.gemini_parts import member, snake_case
from agent.formats.google_adk_eval import eval_events, is_eval_case, is_eval_set
from agent.formats.google_adk_event import Name, event_messages, is_event
from agent.formats.google_adk_partial import Merged, merged_fragments
from agent.formats.writing import Session, Written

# ``context`` is the session's own.
_NOT_KEPT: Final = (POSTED - {"context"}) | {"events", "records", "model"}


def detect(document: Any) -> bool:
    """A session, events, an eval set or an eval case."""
    if isinstance(document, list):
        return _are_events(document)
    if not isinstance(document, dict):
        return False
    return (
        _is_session(document)
        or _is_session(document.get("session"))
        or _are_events(document.get("records"))
        or is_eval_set(document)
        or is_eval_case(document)
    )


def _are_events(records: Any) -> bool:
    if not isinstance(records, list):
        return False
    objects = [record for record in records if isinstance(record, dict) and record]
    return bool(objects) and all(is_event(record) for record in objects)


def _is_session(document: Any) -> bool:
    if not isinstance(document, dict) or not isinstance(document.get("events"), list):
        return False
    named = all(isinstance(member(document, name), str) for name in ("appName", "userId"))
    return named or _are_events(document["events"])


def read(document: Any) -> Iterator[Conversation | ValidationError]:
    """The conversations of ``document``: one of a session or of events, one for each case of an eval set."""
    if isinstance(document, list):
        yield _session({"events": document}, "$")
        return
    if not isinstance(document, dict):
        yield refusal_of([Problem("$", "type")])
        return
    if is_eval_set(document):
        listed = "eval_cases" if "eval_cases" in document else "evalCases"
        about = {name: value for name, value in document.items() if name not in (listed, *_NOT_KEPT)}
        for number, case in enumerate(document[listed]):
            yield _case(case, f"$.{listed}[{number}]", {"eval_set": about}, number)
    elif is_eval_case(document):
        yield _case(document, "$", {}, 0)
    elif _is_session(document.get("session")):
        yield _session(document["session"], "$.session.events")
    elif "events" not in document and "records" in document:
        yield _session({**document, "events": document["records"]}, "$.records")
    else:
        yield _session(document, "$.events")


def _session(session: Mapping[str, Any], path: str) -> Conversation | ValidationError:
    events = session.get("events")
    if not isinstance(events, list):
        return refusal_of([Problem(path, "required" if "events" not in session else "type")])
    ignored = Ignored()
    found = _Events(path, ignored, merged_fragments(events))
    for index, event in enumerate(events):
        found.add(event, index)
        if len(found.problems) >= MAX_PROBLEMS:
            break
    if found.problems:
        return refusal_of(found.problems)
    native = {name: value for name, value in session.items() if name not in _NOT_KEPT}
    # The same words again, for whoever debugs the agent; erasing a turn would not reach them.
    if native.pop("event_logs", None):
        ignored.add("logs of model calls", f"{path.removesuffix('.events')}.event_logs")
    session_id, user = native.get("id"), member(native, "userId")
    if isinstance(session_id, str) and 0 < len(session_id) <= MAX_ID_CHARACTERS:
        del native["id"]
    else:
        session_id = None
    if isinstance(user, str):
        native = {name: value for name, value in native.items() if snake_case(name) != "user_id"}
    return Conversation(
        found.messages,
        session_id=session_id,
        leaf=found.leaf,
        context={"user_id": user} if isinstance(user, str) else {},
        native=native,
        ignored=ignored,
    )


class _Events:
    """The messages of a list of events while it is read."""

    def __init__(self, path: str, ignored: Ignored, merged: Mapping[int, Merged | None]) -> None:
        self.messages: list[Message] = []
        self.problems: list[Problem] = []
        self._path = path
        self._ignored = ignored
        self._merged = merged
        self._calls = OpenCalls()
        self._ids: set[str] = set()
        # Of each invocation, the name of the message before it; None where it is the first.
        self._before: dict[str, str | None] = {}
        self._last: str | None = None
        self._is_taken_back = False
        self._has_branches = False

    @property
    def leaf(self) -> str | None:
        """The end of the conversation, once a rewind has left another."""
        return self._last if self._has_branches else None

    def add(self, event: Any, index: int) -> None:
        path = f"{self._path}[{index}]"
        if not isinstance(event, dict) or not event:
            self._ignored.add("junk", path)
            return
        invocation = member(event, "invocationId")
        if isinstance(invocation, str):
            self._before.setdefault(invocation, self._last)
        merged = None
        if event.get("partial") is True:
            merged = self._merged.get(index)
            if index not in self._merged:
                self._ignored.add("partial events", path)
            if merged is None:
                return
            event = merged.event
        actions = event.get("actions")
        actions = actions if isinstance(actions, dict) else {}
        self._take_back(member(actions, "rewindBeforeInvocationId"))
        messages = event_messages(event, f"{path}.content", self._name(event, index), self._calls, self.problems)
        if not messages:
            self._ignored.add(_kind(actions), path)
            return
        if merged is not None:
            messages[0] = messages[0]._replace(native={**(messages[0].native or {}), "fragments": merged.size})
        if self._is_taken_back:
            messages[0] = messages[0]._replace(parent=self._last)
            self._is_taken_back = False
        self.messages += messages
        last = messages[-1]
        self._last = last.place if last.native_id is None else last.native_id

    def _take_back(self, rewound: Any) -> None:
        if isinstance(rewound, str) and rewound in self._before:
            self._last = self._before[rewound]
            self._is_taken_back = self._has_branches = True

    def _name(self, event: Mapping[str, Any], index: int) -> Name:
        event_id = event.get("id")
        if not isinstance(event_id, str) or not 0 < len(event_id) <= MAX_ID_CHARACTERS or event_id in self._ids:
            return Name(None, str(index))
        self._ids.add(event_id)
        return Name(event_id, f"event:{event_id}")


def _kind(actions: Mapping[str, Any]) -> str:
    if isinstance(actions.get("compaction"), dict):
        return "compactions"
    return "rewinds" if member(actions, "rewindBeforeInvocationId") is not None else "events without content"


def _case(case: Any, path: str, beside: Mapping[str, Any], number: int) -> Conversation | ValidationError:
    """One eval case: each case is a conversation, by its ``eval_id``."""
    problems: list[Problem] = []
    listed = case.get("conversation") if isinstance(case, dict) else None
    if not isinstance(case, dict) or not isinstance(listed, list):
        at = f"{path}.conversation" if isinstance(case, dict) else path
        return refusal_of([Problem(at, "required" if isinstance(case, dict) and listed is None else "type")])
    messages: list[Message] = []
    calls = OpenCalls()
    for index, invocation in enumerate(listed):
        at = f"{path}.conversation[{index}]"
        made = eval_events(invocation, at, problems)
        for event, where, kept in made:
            of_event = event_messages(event, where, Name(None, str(len(messages))), calls, problems)
            if of_event and kept:
                native = {**(of_event[0].native or {}), "invocation": kept}
                of_event[0] = of_event[0]._replace(native=native)
            messages += of_event
        if len(problems) >= MAX_PROBLEMS:
            break
    if problems:
        return refusal_of(problems)
    given = member(case, "sessionInput")
    user = member(given, "userId") if isinstance(given, dict) else None
    eval_id = member(case, "evalId")
    native = {name: value for name, value in case.items() if name not in ("conversation", *_NOT_KEPT)}
    return Conversation(
        messages,
        conversation_id=eval_id if isinstance(eval_id, str) and 0 < len(eval_id) <= MAX_ID_CHARACTERS else None,
        number=number,
        timestamp=from_epoch(member(case, "creationTimestamp")),
        context={"user_id": user} if isinstance(user, str) else {},
        native={**beside, **native},
    )


def write(session: Session) -> Written:
    """The history of ``session`` as one session of the kit."""
    from agent.formats.google_adk_out import write as write_session  # a capture only reads

    return write_session(session)
