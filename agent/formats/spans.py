"""OpenTelemetry spans and log records as exporters write them, in one form: ids, times, attributes, events.

OTLP JSON (``resourceSpans``, ``resourceLogs``; opentelemetry-proto 1.x), what the SDKs of Python and JavaScript print,
and lists or lines of these. Attributes are an object, or OTLP's list of ``{key, value: AnyValue}``. What is no record
is not refused here: who reads the records counts it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import jiter

from agent.core.json_path import json_path
from agent.core.timestamps import instant
from agent.formats.conversation.times import from_epoch, stated

_MAX_ID: Final = 256
_NANOS: Final = 10**9
_LISTS: Final = ("records", "spans", "logs", "data", "logRecords")
# OTLP: from the request down to its records.
_RESOURCES: Final = {
    "resourceSpans": (("scopeSpans", "instrumentationLibrarySpans"), "spans"),
    "resourceLogs": (("scopeLogs",), "logRecords"),
}
# Strings that hold messages are documents of their own, and have the bounds of one (CONTRACT 2).
_MAX_DEPTH: Final = 120


class Event(NamedTuple):
    """An event of a span; ``time`` is RFC 3339, None where it has none that is one."""

    name: str
    time: str | None
    attributes: Mapping[str, Any]


class Record(NamedTuple):
    """A span, or a log record, which has a ``body`` and ``event`` for its event's name.

    Ids are hexadecimal in lower case, without ``0x``; None where there are none. ``at`` is where it stands in its
    document, ``holder`` the member that its attributes stand in. ``start`` and ``end`` are RFC 3339; a log record has
    its one time in both.
    """

    at: tuple[str | int, ...]
    name: str
    trace_id: str | None
    span_id: str | None
    parent_id: str | None
    start: str | None
    end: str | None
    attributes: Mapping[str, Any]
    events: tuple[Event, ...]
    event: str | None
    body: Any
    holder: tuple[str, ...] = ("attributes",)

    def attribute_path(self, *more: str | int) -> str:
        """The path of the attribute, and of what is in it, that ``more`` leads to."""
        return self.path(*self.holder, *more)

    def path(self, *more: str | int) -> str:
        """The path of what ``more`` leads to in this record."""
        return json_path((*self.at, *more))


def listed(document: Any) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """What stands where ``document`` has records, with its place; a lone record is the one of its document."""
    yield from _listed(document, ())


def _listed(document: Any, at: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    if isinstance(document, list):
        for index, each in enumerate(document):
            yield from _opened(each, (*at, index))
        return
    name = next((name for name in _LISTS if isinstance(document, dict) and isinstance(document.get(name), list)), None)
    if name is not None:
        yield from _listed(document[name], (*at, name))
    else:
        yield from _opened(document, at)


def _opened(document: Any, at: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    requests = [name for name in _RESOURCES if isinstance(document, dict) and isinstance(document.get(name), list)]
    if not requests:
        yield at, document
    for name in requests:
        scopes, records = _RESOURCES[name]
        for number, resource in enumerate(document[name]):
            for member in scopes:
                for index, scope in enumerate(_list(resource, member)):
                    for place, record in enumerate(_list(scope, records)):
                        yield (*at, name, number, member, index, records, place), record


def _list(holder: Any, name: str) -> list[Any]:
    value = holder.get(name) if isinstance(holder, dict) else None
    return value if isinstance(value, list) else []


def record_of(raw: Any, at: tuple[str | int, ...] = ()) -> Record | None:
    """``raw`` as a span or a log record; None where it has no attributes and no event's name."""
    if not isinstance(raw, dict):
        return None
    attributes = attributes_of(raw.get("attributes"))
    event = _text(raw, "event_name", "eventName") or _text(attributes, "event.name")
    if attributes is None and event is None:
        return None
    context = raw.get("context") or raw.get("spanContext") or raw.get("span_context")
    ids = {**context, **raw} if isinstance(context, dict) else raw
    parent = raw.get("parentSpanContext")
    parent_ids = {**raw, "parent_id": _text(parent, "spanId", "span_id")} if isinstance(parent, dict) else raw
    time = _time(raw, "timestamp", "timeUnixNano", "time_unix_nano") or _time(
        raw, "observed_timestamp", "observedTimestamp", "observedTimeUnixNano", "hrTime"
    )
    start = _time(raw, "start_time", "startTime", "startTimeUnixNano", "start_time_unix_nano")
    return Record(
        at,
        _text(raw, "name") or "",
        _hex(_text(ids, "trace_id", "traceId", "context.trace_id")),
        _hex(_text(ids, "span_id", "spanId", "context.span_id", "id")),
        _hex(_text(parent_ids, "parent_id", "parentSpanId", "parent_span_id", "parentId")),
        start or time,
        _time(raw, "end_time", "endTime", "endTimeUnixNano", "end_time_unix_nano") or time,
        attributes or {},
        tuple(_events(raw.get("events"))),
        event,
        any_value(raw["body"]) if "body" in raw else None,
    )


def attributes_record(attributes: Mapping[str, Any]) -> Record:
    """A document that is nothing but attributes."""
    return Record((), "", None, None, None, None, None, attributes, (), None, None, ())


def _events(events: Any) -> Iterator[Event]:
    for event in events if isinstance(events, list) else ():
        if isinstance(event, dict) and isinstance(event.get("name"), str):
            time = _time(event, "timestamp", "time", "timeUnixNano", "time_unix_nano")
            yield Event(event["name"], time, attributes_of(event.get("attributes")) or {})


def attributes_of(value: Any) -> dict[str, Any] | None:
    """Attributes as an object, whichever way they are written; None for what are none."""
    if isinstance(value, dict):
        return value
    if not isinstance(value, list):
        return None
    pairs = [pair for pair in value if isinstance(pair, dict) and isinstance(pair.get("key"), str)]
    return {pair["key"]: any_value(pair.get("value")) for pair in pairs} if len(pairs) == len(value) else None


def any_value(value: Any) -> Any:
    """An OTLP ``AnyValue`` as the JSON value that it holds (OTLP 1.x, JSON encoding); any other value as it is."""
    if not isinstance(value, dict) or len(value) != 1:
        return value
    ((kind, held),) = value.items()
    if kind in ("stringValue", "boolValue", "doubleValue", "bytesValue"):
        return held
    if kind == "intValue":
        # 64-bit integers are decimal strings in protobuf's JSON.
        digits = isinstance(held, str) and held.removeprefix("-").isdecimal() and held.isascii() and len(held) <= 20
        return int(held) if digits else held
    if kind == "arrayValue" and isinstance(held, dict):
        return [any_value(each) for each in _list(held, "values")]
    if kind == "kvlistValue" and isinstance(held, dict):
        return attributes_of(_list(held, "values")) or {}
    return value


def structured(value: Any) -> Any:
    """What an attribute holds: attributes of older SDKs have no structure, so it is JSON in a string.

    A string that is no JSON is itself.
    """
    if not isinstance(value, str) or not value.lstrip().startswith(("[", "{")):
        return value
    try:
        found = jiter.from_json(value.encode(), catch_duplicate_keys=True, allow_inf_nan=False)
    except ValueError:
        return value
    return found if is_sound(found) else value


def is_sound(value: Any) -> bool:
    """Whether ``value``, parsed out of a string, may stand in a payload: its numbers finite, its depth bounded."""
    level, depth = [value], 0
    while level:
        depth += 1
        deeper: list[Any] = []
        for item in level:
            if isinstance(item, float) and not math.isfinite(item):
                return False
            if isinstance(item, dict | list):
                deeper.extend(item.values() if isinstance(item, dict) else item)
        level = deeper
    return depth <= _MAX_DEPTH


def _text(holder: Any, *names: str) -> str | None:
    if isinstance(holder, dict):
        for name in names:
            value = holder.get(name)
            if isinstance(value, str) and value:
                return value
    return None


def _hex(text: str | None) -> str | None:
    digits = "" if text is None else text.lower().removeprefix("0x")
    # OTLP: an id of zeros is none.
    return digits if digits.strip("0") and len(digits) <= _MAX_ID else None


def _time(holder: Mapping[str, Any], *names: str) -> str | None:
    for name in names:
        found = _instant(holder.get(name))
        if found is not None:
            return found
    return None


def _instant(value: Any) -> str | None:
    """A time as RFC 3339: ISO text, nanoseconds, microseconds (by their size), ``[seconds, nanoseconds]``."""
    if isinstance(value, list):
        whole = len(value) == 2 and all(isinstance(each, int) and not isinstance(each, bool) for each in value)
        return from_epoch(value[0] * _NANOS + value[1], per_second=_NANOS) if whole else None
    if isinstance(value, str) and value.isdecimal() and value.isascii() and len(value) <= 20:
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        # Of our time, nanoseconds have 19 digits, microseconds 16, milliseconds 13.
        return from_epoch(value, per_second=_NANOS if value >= 10**17 else 10**6 if value >= 10**14 else 10**3)
    return stated(value)


def latest(record: Record) -> int | None:
    """When it ended, in nanoseconds since 1970; None where nobody wrote that down."""
    end = record.end or record.start
    return None if end is None else instant(end)
