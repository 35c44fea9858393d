"""The fields that the body of every foreign format shares: ids, ``context``, ``capture_options``, unknown ones.

Refuses ids that are not strings of 1 to 256 characters, and a ``context`` that is not what CONTRACT 1 says, so that a
caller hears of them together with what else is wrong. Where ``capture_options`` stand, ``asked`` knows.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from agent.core.json_path import json_path
from agent.core.payload_fields import OF_CONTEXT, OF_OPTIONS
from agent.errors import MAX_PROBLEMS, Problem, ValidationError

MAX_ID_CHARACTERS: Final = 256

# What any posted body says beside its conversation (CONTRACT 1, 3a). A provider's ``model`` may be both.
POSTED: Final = frozenset(
    {"session_id", "conversation_id", "context", "capture_options", "mode", "start_index", "request_id"}
)

_CONTEXT_STRINGS: Final = ("agent_id", "user_id", "source_system")

_WORDINGS: Final = {
    "required": "is required",
    "type": "is of the wrong type",
    "enum": "is none of the values that are known",
    "minLength": "is too short",
    "maxLength": "is too long",
    "minItems": "is empty",
    "minimum": "is too small",
    "maximum": "is too large",
    "not": "has no meaning here",
    "too_many_turns": "holds more than 10000 messages and tool calls together",
    "several_conversations": "holds several conversations, and one capture is of one: import them from a file",
    "invocation_id_clash": "must differ from session_id and from every turn's id",
}


def refusal_of(problems: list[Problem]) -> ValidationError:
    """The error for ``problems``, at least one, in the words that a native payload is refused in."""
    count = len(problems)
    many = f"more than {MAX_PROBLEMS}" if count > MAX_PROBLEMS else str(count)
    first = f"{problems[0].path}: {_WORDINGS[problems[0].rule]}"
    return ValidationError(f"{many} {'problem' if count == 1 else 'problems'}; first: {first}", problems)


def as_id(value: object) -> str | None:
    """``value`` if it may become an id (CONTRACT 1, ``derive_ids``): a string of 1 to 256 characters."""
    return value if isinstance(value, str) and 0 < len(value) <= MAX_ID_CHARACTERS else None


def check_string(
    body: dict[str, Any],
    name: str,
    problems: list[Problem],
    *,
    required: bool = False,
    min_length: int = 0,
    max_length: int | None = None,
) -> None:
    """Check that ``$.<name>`` is a string, of so many characters (code points), if it is there."""
    path = f"$.{name}"
    if name not in body:
        if required:
            problems.append(Problem(path, "required"))
        return
    value = body[name]
    if not isinstance(value, str):
        problems.append(Problem(path, "type"))
    elif len(value) < min_length:
        problems.append(Problem(path, "minLength"))
    elif max_length is not None and len(value) > max_length:
        problems.append(Problem(path, "maxLength"))


def check_id(body: dict[str, Any], name: str, problems: list[Problem], *, required: bool = False) -> None:
    """Check that ``$.<name>`` is what may become an id (CONTRACT 1, ``derive_ids``)."""
    check_string(body, name, problems, required=required, min_length=1, max_length=MAX_ID_CHARACTERS)


def check_context(body: dict[str, Any], problems: list[Problem]) -> None:
    """Check ``context`` of ``body``, which goes into the payload as it is."""
    context = _object(body, "context", problems)
    wrong = [name for name in _CONTEXT_STRINGS if not isinstance(context.get(name, ""), str)]
    problems.extend(Problem(f"$.context.{name}", "type") for name in wrong)
    tags = context.get("tags", [])
    if not isinstance(tags, list):
        problems.append(Problem("$.context.tags", "type"))
    else:
        places = (place for place, tag in enumerate(tags) if not isinstance(tag, str))
        problems.extend(Problem(f"$.context.tags[{place}]", "type") for place in places)


def _object(body: dict[str, Any], name: str, problems: list[Problem]) -> dict[str, Any]:
    value = body.get(name, {})
    if isinstance(value, dict):
        return value
    problems.append(Problem(f"$.{name}", "type"))
    return {}


def unknown_fields(body: dict[str, Any], known: Iterable[str]) -> tuple[Problem, ...]:
    """A warning for each field that nobody reads: of ``body``, of its ``context`` and its ``capture_options``."""
    return (
        *_unknown(body, frozenset(known), ()),
        *_unknown(body.get("context", {}), OF_CONTEXT, ("context",)),
        *_unknown(body.get("capture_options", {}), OF_OPTIONS, ("capture_options",)),
    )[:MAX_PROBLEMS]


def _unknown(fields: dict[str, Any], known: frozenset[str], at: tuple[str, ...]) -> list[Problem]:
    return [Problem(json_path((*at, name)), "unknown_field") for name in fields if name not in known]
