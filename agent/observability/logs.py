"""JSON logs, one object a line, in the field names of Cloud Logging.

What is refused: content. The message of a line is the fixed text of its event, never a formatted one; arguments of a
foreign ``logging`` call are left out; exceptions are described by types and frames (CONTRACT 7); a field is a number,
a boolean, a token (an id, a name, a rule) or some of them, or ``Fields`` of these, and anything else is replaced by the
name of its type.
"""

from __future__ import annotations

import json
import logging
import math
import re
import time
from collections import deque
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice
from types import TracebackType
from typing import Any, Final, Protocol, TypedDict

import orjson

from agent.errors import (
    AgentError,
    ConfigurationError,
    RateLimitExceeded,
    StoreWriteError,
    Unauthorized,
    ValidationError,
)
from agent.observability.trace_context import TraceContext

LOGGER_NAME: Final = "agent"
# The embedded store runs in this process and logs under its own name.
_LOGGERS: Final = (LOGGER_NAME, "store")
_MOST_EXCEPTIONS: Final = 8
_MOST_FRAMES: Final = 32
_LONGEST_TEXT: Final = 200
_LARGEST_INTEGER: Final = 2**63 - 1
# No white space and no quotes: a sentence, a JSON text or a name with a surname is no token.
_TOKEN: Final = re.compile(r"[A-Za-z0-9_$.:/@+\[\]-]{1,200}\Z", re.ASCII)
# https://cloud.google.com/logging/docs/reference/v2/rest/v2/LogEntry#LogSeverity, from the highest.
_SEVERITIES: Final = ((50, "CRITICAL"), (40, "ERROR"), (30, "WARNING"), (20, "INFO"), (10, "DEBUG"))


class Fields(dict[str, "Field"]):
    """Fields under one name. Their own names stand in our code; those of a plain dict may be anybody's: not told."""


Field = str | int | float | bool | tuple[str, ...] | Fields


class Stream(Protocol):
    """Where lines go: a text stream."""

    def write(self, text: str, /) -> object: ...

    def flush(self) -> object: ...


class ExceptionDescription(TypedDict):
    """An exception without its message: its type and ``file:line:function`` of each frame, outermost first."""

    type: str
    frames: list[str]


class JsonLines(logging.Handler):
    """Writes each record as one line, by one ``write`` call. A line that cannot be written is counted in ``lost``."""

    def __init__(self, stream: Stream) -> None:
        super().__init__()
        self._stream = stream
        self.lost = 0

    def handle(self, record: logging.LogRecord) -> bool:
        """Emit without the handler's lock: a line is one write, and threads need not queue behind it."""
        self.emit(record)
        return True

    def emit(self, record: logging.LogRecord) -> None:
        error = getattr(record, "agent_error", None) or (record.exc_info[1] if record.exc_info else None)
        members: Mapping[str, object] = getattr(record, "agent_members", {})
        # record.msg as it stands: getMessage() would put the arguments of the call in.
        self.tell(record.levelno, record.msg, record.created, members, error)

    def tell(
        self, level: int, message: object, created: float, members: Mapping[str, object], error: BaseException | None
    ) -> None:
        """Write one line, at ``created`` seconds of the epoch."""
        try:
            self._stream.write(_json(_entry(level, message, created, members, error)) + "\n")
            self._stream.flush()
        except Exception:  # noqa: BLE001 - a broken stream or entry costs its line, never the request
            self.lost += 1


def configure_logging(stream: Stream, *, level: str) -> JsonLines:
    """Send what the product logs to ``stream``, from ``level`` (DEBUG, INFO, WARNING, ERROR, CRITICAL) on.

    Only the loggers ``agent`` and ``store`` are touched; a second call replaces the first. Raises ValueError for an
    unknown level.
    """
    lines = JsonLines(stream)
    for logger in map(logging.getLogger, _LOGGERS):
        logger.setLevel(level)
        logger.propagate = False
        for handler in [each for each in logger.handlers if isinstance(each, JsonLines)]:
            logger.removeHandler(handler)
        logger.addHandler(lines)
    return lines


def tell_as_ours(library: str) -> None:
    """Send what ``library`` logs where ours goes: its fixed texts, without what it would fill them with.

    Into a message of its own a library puts the value of a setting that it cannot read, which may be a key.
    """
    logger = logging.getLogger(library)
    ours = [handler for handler in logging.getLogger(LOGGER_NAME).handlers if isinstance(handler, JsonLines)]
    # Whoever has given it a handler of his own has decided what becomes of it.
    if ours and all(isinstance(handler, JsonLines) for handler in logger.handlers):
        logger.handlers = [*ours]
        logger.propagate = False


def log_event(
    message: str,
    *,
    level: int = logging.INFO,
    execution_ref: str | None = None,
    trace: TraceContext | None = None,
    project: str | None = None,
    error: BaseException | None = None,
    fields: Mapping[str, Field] | None = None,
) -> None:
    """Log one event, and ``error`` by types and frames. Never raises.

    ``message`` is the fixed text of the event; what differs from time to time goes into ``fields``.
    """
    logger = logging.getLogger(LOGGER_NAME)
    if not logger.isEnabledFor(level):
        return
    members = {name: safe_field(value) for name, value in (fields or {}).items()}
    if execution_ref is not None:
        members["execution_ref"] = safe_field(execution_ref)
    if trace is not None:
        members["trace"] = members["logging.googleapis.com/trace"] = trace.trace_name(project)
        if trace.span_id is not None:
            members["logging.googleapis.com/spanId"] = trace.span_id
    handlers = logger.handlers
    if len(handlers) == 1 and type(handlers[0]) is JsonLines and not logger.propagate and not logger.filters:
        # Nobody else would see a record, and making one costs as much as the line.
        handlers[0].tell(level, message, time.time(), members, error)
        return
    # Without findCaller, which costs as much as the rest: an event is found by its fixed message. Not as exc_info: a
    # handler of somebody else would write the exception's message.
    extra = {"agent_members": members, "agent_error": error}
    logger.handle(logger.makeRecord(logger.name, level, "", 0, message, (), None, extra=extra))


def log_refused_start(stream: Stream, error: ConfigurationError) -> None:
    """One line for a setting that ends the start; its message names the variable and never the value."""
    entry: dict[str, object] = {"severity": "CRITICAL", "message": f"the function does not start: {error.message}"}
    stream.write(_json(entry) + "\n")
    stream.flush()


def log_failure(
    error: AgentError,
    *,
    execution_ref: str,
    trace: TraceContext | None = None,
    project: str | None = None,
    about: Mapping[str, Field] | None = None,
) -> None:
    """Log a request that was refused (4xx, WARNING) or that failed (5xx, ERROR), with what is known ``about`` it.

    A refusal is told by its rules, a failure by the types and frames of its exceptions; neither by any message.
    Never raises.
    """
    refused = error.status < 500
    fields: dict[str, Field] = {**(about or {}), "error_code": error.error_code, "status": error.status}
    if isinstance(error, ValidationError):
        fields["problems"] = len(error.problems)
        fields["rules"] = tuple(sorted({problem.rule for problem in error.problems}))
    if isinstance(error, Unauthorized):
        fields["reason"] = error.reason
    if isinstance(error, StoreWriteError):
        fields["upstream_status"] = error.upstream_status
    if isinstance(error, RateLimitExceeded) and "limit" in error.details:
        # Our own, of requests or of memory; the store's has no such name.
        fields["limit"] = str(error.details["limit"])
    log_event(
        "request refused" if refused else "request failed",
        level=logging.WARNING if refused else logging.ERROR,
        execution_ref=execution_ref,
        trace=trace,
        project=project,
        error=None if refused else error,
        fields=fields,
    )


def describe_exception(error: BaseException) -> list[ExceptionDescription]:
    """``error``, what caused it and what a group of it holds, as types and frames, without any message.

    Causes that ``raise ... from None`` hides are told too: what was hidden is their text, which is not told here.
    At most 8 exceptions, and of each the 32 innermost frames; cycles end.
    """
    return [
        {"type": type_name(type(each)), "frames": list(_frames(each.__traceback__))}
        for each in islice(_related(error), _MOST_EXCEPTIONS)
    ]


def type_name(kind: type) -> str:
    """Return the full name of an exception's type; of a built-in one without its module."""
    module = str(kind.__module__)
    name = kind.__qualname__ if module == "builtins" else f"{module}.{kind.__qualname__}"
    return name[:_LONGEST_TEXT]


def safe_field(value: Any) -> Field:
    """``value`` where it is a number, a boolean, a token, tokens or ``Fields``; else ``<the name of its type>``."""
    kind = type(value)
    if kind is str:
        safe = _TOKEN.match(value) is not None
    elif kind is int:
        safe = abs(value) <= _LARGEST_INTEGER
    elif kind is float:
        safe = math.isfinite(value)
    elif kind is Fields:
        return Fields({name: safe_field(each) for name, each in value.items()})
    elif kind is tuple:
        safe = all(type(each) is str and _TOKEN.match(each) for each in value)
    else:
        safe = kind is bool
    return value if safe else f"<{kind.__name__}>"


def _related(error: BaseException) -> Iterator[BaseException]:
    """``error`` and everything reachable from it, nearest first, each once."""
    pending: deque[BaseException] = deque([error])
    seen: set[int] = set()
    while pending:
        each = pending.popleft()
        if id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        pending.extend(linked for linked in (each.__cause__, each.__context__) if linked is not None)
        if isinstance(each, BaseExceptionGroup):
            pending.extend(each.exceptions[:_MOST_EXCEPTIONS])


def _frames(traceback: TracebackType | None) -> deque[str]:
    frames: deque[str] = deque(maxlen=_MOST_FRAMES)
    while traceback is not None:
        code = traceback.tb_frame.f_code
        frames.append(f"{code.co_filename}:{traceback.tb_lineno}:{code.co_name}"[-_LONGEST_TEXT:])
        traceback = traceback.tb_next
    return frames


def _entry(
    level: int, message: object, created: float, members: Mapping[str, object], error: BaseException | None
) -> dict[str, object]:
    """Make the object of a line; members of its own win over fields of the same name."""
    entry: dict[str, object] = {
        "severity": next((name for least, name in _SEVERITIES if level >= least), "DEFAULT"),
        "message": message[:_LONGEST_TEXT] if isinstance(message, str) else type_name(type(message)),
        "time": datetime.fromtimestamp(created, UTC).isoformat(timespec="microseconds")[: -len("+00:00")] + "Z",
    }
    if error is not None:
        entry["exceptions"] = describe_exception(error)
    return {**entry, **members, **entry}  # in the order that people read, and then as the docstring says


def _json(entry: dict[str, object]) -> str:
    """Encode ``entry`` in ASCII, which a stream of any encoding can take."""
    try:
        line = orjson.dumps(entry).decode()
    except TypeError:  # a lone surrogate, as in the name of a file that is not UTF-8
        return json.dumps(entry)
    return line if line.isascii() else json.dumps(entry)
