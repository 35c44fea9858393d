"""A message of a conversation, as whoever writes an agent gives it and gets it back. It never changes.

Refuses, by ValidationError with the member's path, a role that is none of ours and members of the wrong type; its
message says what the first of them may be. What a message says is checked where it is made, so that the line that is
wrong is the line that fails.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple, Self, TypeVar, get_args

from agent.errors import Problem, ValidationError
from agent.sdk.arguments import AN_INSTANT, checked_instant
from agent.sdk.json_value import ALLOWED, json_copy, read_only
from agent.sdk.session_name import LONGEST_ID

A_MESSAGE: Final = "a message is a Message, a dictionary of role and content, or a message object of another library"
Role = Literal["user", "assistant", "tool", "system"]
ROLES: Final[tuple[str, ...]] = get_args(Role)
# What other programs call them.
_SPELLED: Final = {"agent": "assistant", "ai": "assistant", "human": "user"}
A_ROLE: Final = f"must be one of {', '.join(ROLES)}; agent and ai are taken for assistant, human for user"
# What the store says of a message; the last of its members.
_STORED: Final = ("conversation_id", "seq", "erased")
# Where it does not fit: a result stands on a tool's message, a call on any other.
_PLACE: Final = {"tool_calls": "must not stand on a tool's message", "tool_results": "must stand on a tool's message"}


class ToolCall(NamedTuple):
    """A call that a message makes.

    ``invocation_id`` is any string where it is given, and a UUID where it is read; then ``native_id`` is the string
    that it was given as, None where that was the UUID. ``arguments`` is None where it has none.
    """

    invocation_id: str
    tool_name: str
    arguments: Any = None
    success: bool | None = None
    native_id: str | None = None


class ToolResult(NamedTuple):
    """The call whose result a tool's message is, by the names of that call; the result itself is the text."""

    invocation_id: str
    tool_name: str
    success: bool | None = None
    native_id: str | None = None


Invocation = TypeVar("Invocation", ToolCall, ToolResult)
# What is wrong with a message, each with what would be right.
Findings = list[tuple[Problem, str]]


class _Members(NamedTuple):
    role: str
    text: str
    timestamp: str | None
    metadata: Mapping[str, Any]
    agent: str | None
    tool_calls: tuple[ToolCall, ...]
    tool_results: tuple[ToolResult, ...]
    model: str | None
    token_usage: Mapping[str, int] | None
    turn_id: str | None
    conversation_id: str | None
    seq: int | None
    erased: bool


class Message(_Members):
    """One message: ``role``, ``text``, when it was said (RFC 3339), and ``metadata``.

    ``content`` is another word for ``text``.
    ``agent`` is who spoke, as far as the message says it. ``turn_id`` names the message: one that is given again under
    its ``turn_id`` is known, and with another text it is a new revision. ``conversation_id``, ``seq`` and ``erased``
    are the store's to say: a message with a ``seq`` was read from a session. An erased one is a gap that shows: its
    text is empty and its metadata is ``{"erased": True}``. ``metadata``, ``token_usage`` and the arguments of calls
    are for reading: they are dictionaries and lists that refuse to be changed.
    """

    __slots__ = ()

    def __new__(
        cls,
        role: str,
        text: str,
        timestamp: str | datetime | None = None,
        metadata: Mapping[str, Any] | None = None,
        *,
        agent: str | None = None,
        tool_calls: Iterable[ToolCall] = (),
        tool_results: Iterable[ToolResult] = (),
        model: str | None = None,
        token_usage: Mapping[str, int] | None = None,
        turn_id: str | None = None,
    ) -> Self:
        """Raises ValidationError for what no message can be."""
        problems: Findings = []
        text = _string("text", text, problems) or ""
        agent = _string("agent", agent, problems, may_be_absent=True)
        model = _string("model", model, problems, may_be_absent=True)
        turn_id = _string("turn_id", turn_id, problems, may_be_absent=True)
        role = _role(role, problems)
        said_at = _timestamp(timestamp, problems)
        said = _object("metadata", metadata, problems)
        calls = tuple(
            call._replace(arguments=read_only(_copied(call.arguments, f"{path}.arguments", problems)))
            for path, call in _invocations("tool_calls", tool_calls, ToolCall, problems, fits=role != "tool")
        )
        named = _invocations("tool_results", tool_results, ToolResult, problems, fits=role == "tool")
        results = tuple(result for _, result in named)
        used = _object("token_usage", token_usage, problems)
        if problems:
            first, allowed = problems[0]
            message = f"this is no message: {first.path.removeprefix('$.')} {allowed}"
            raise ValidationError(message, [problem for problem, _ in problems])
        return tuple.__new__(
            cls,
            (
                *(role, text, said_at, read_only(said or {}), agent, calls, results, model),
                *(read_only(used), turn_id, None, None, False),
            ),
        )

    @property
    def content(self) -> str:
        """The text, by the name that most formats have for it."""
        return self.text

    def _replace(self, /, **changes: Any) -> Self:
        """A copy with ``changes``, which are checked as in a new message; what the store said of it stays."""
        said = _Members._fields[: -len(_STORED)]
        checked = type(self)(**{name: changes.pop(name, getattr(self, name)) for name in said})
        kept: Self = tuple.__new__(type(self), (*checked[: len(said)], *self[len(said) :]))
        return super(Message, kept)._replace(**changes)

    def __reduce__(self) -> tuple[Any, ...]:
        return self._make, (tuple(self),)


def spelled_role(role: str) -> str:
    """``role`` as this library names it: ``agent`` is an assistant; any other word stays."""
    return _SPELLED.get(role, role)


def _role(role: object, problems: Findings) -> str:
    if not isinstance(role, str):
        problems.append((Problem("$.role", "type"), A_ROLE))
        return ""
    found = spelled_role(role)
    if found not in ROLES:
        problems.append((Problem("$.role", "enum"), A_ROLE))
    return found


def _string(name: str, given: object, problems: Findings, *, may_be_absent: bool = False) -> str | None:
    if given is None and may_be_absent:
        return None
    if not isinstance(given, str):
        problems.append((Problem(f"$.{name}", "type"), "must be a string"))
        return None
    copied: str | None = _copied(given, f"$.{name}", problems)
    return copied


def _timestamp(given: object, problems: Findings) -> str | None:
    try:
        return None if given is None else checked_instant(given, "timestamp")
    except ValidationError as error:
        problems.extend((problem, AN_INSTANT) for problem in error.problems)
        return None


def _invocations(
    name: str, given: Iterable[Invocation], kind: type[Invocation], problems: Findings, *, fits: bool
) -> Iterator[tuple[str, Invocation]]:
    """What is called, or answered, by its path; ``fits`` says whether it stands on the right message."""
    if not isinstance(given, Iterable):
        problems.append((Problem(f"$.{name}", "type"), f"must be a list of {kind.__name__}"))
        return
    for place, each in enumerate(given):
        path = f"$.{name}[{place}]"
        if not fits:
            problems.append((Problem(path, "not"), _PLACE[name]))
        elif not isinstance(each, kind):
            problems.append((Problem(path, "type"), f"must be a {kind.__name__}"))
        else:
            _check_names(path, each, problems)
            yield path, each


def _check_names(path: str, each: ToolCall | ToolResult, problems: Findings) -> None:
    """As a capture would (CONTRACT 1), only sooner."""
    longest = {"invocation_id": LONGEST_ID, "native_id": LONGEST_ID, "tool_name": None}
    for part, most in longest.items():
        at = f"{path}.{part}".removeprefix("$.")
        name = _string(at, getattr(each, part), problems, may_be_absent=part == "native_id")
        if name == "":
            problems.append((Problem(f"$.{at}", "minLength"), "must not be empty"))
        elif name is not None and most is not None and len(name) > most:
            problems.append((Problem(f"$.{at}", "maxLength"), f"must not be longer than {most} characters"))
    success: object = each.success
    if not isinstance(success, bool | None):
        problems.append((Problem(f"{path}.success", "type"), "must be True, False or None"))


def _copied(value: object, path: str, problems: Findings) -> Any:
    """A copy of ``value``; None where it is no JSON value."""
    try:
        return json_copy(value, path)
    except ValidationError as error:
        problems.extend((problem, ALLOWED[problem.rule]) for problem in error.problems)
        return None


def _object(name: str, given: object, problems: Findings) -> dict[str, Any] | None:
    if given is None:
        return None
    if not isinstance(given, Mapping):
        problems.append((Problem(f"$.{name}", "type"), "must be a mapping"))
        return None
    copied: dict[str, Any] | None = _copied(given, f"$.{name}", problems)
    return copied
