"""What is wrong with a payload, in the order in which a reader meets it, and the error that says so (CONTRACT 2).

A finding carries a path, a rule and a wording of ours. It never carries a value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from agent.core.json_path import json_path
from agent.errors import MAX_PROBLEMS, Problem, ValidationError

_WORDINGS: Final[Mapping[str, str]] = {
    "required": "is required",
    "turn_id_unique": "must be unique in the payload",
    "turn_id_is_session_id": "must differ from session_id",
    "invocation_id_clash": "must differ from session_id and from every turn_id",
    "parent_order": "must name an earlier turn: not itself, the session or a later one",
    "too_many_turns": "must hold at most 10000 turns and tool invocations together",
    "reserved_field": "is a name that derive_ids uses itself",
    "unsupported": "is not supported by this release",
}
_LIMITS: Final[Mapping[str, str]] = {
    "minimum": "must be at least",
    "maximum": "must be at most",
    "minLength": "must not be shorter than",
    "maxLength": "must not be longer than",
    "minItems": "must not have fewer items than",
}


_FORMATS: Final[Mapping[str, str]] = {
    "uuid": "must be a UUID, unless capture_options.derive_ids is true",
    "date-time": "must be an RFC 3339 time with an offset, as 2026-03-02T08:15:00Z",
}
_LOOKS_LIKE_CHAT: Final = "; a list of chat messages is taken with ?format=, as openai-chat or anthropic"


class Finding(NamedTuple):
    """One rule that the payload breaks, at ``parts``: member names and array places from the root."""

    parts: tuple[str | int, ...]
    rule: str
    wording: str = ""


def wording(rule: str, expected: object) -> str:
    """What a schema keyword asks for; ``expected`` is the keyword's value in our schema."""
    if rule in _WORDINGS:
        return _WORDINGS[rule]
    names = [str(name) for name in expected] if isinstance(expected, list) else [str(expected)]
    if rule == "format":
        return _FORMATS[names[0]]
    if rule == "type":
        return f"must be {' or '.join(sorted(names, reverse=True))}"
    if rule == "enum":
        return f"must be one of {', '.join(names)}"
    return f"{_LIMITS[rule]} {expected}"


def refusal_of(payload: Mapping[str, Any], findings: Sequence[Finding]) -> ValidationError:
    """The error for ``findings``, at least one: each once, by their place in ``payload``, at most 50."""
    places = _Places(payload)
    ordered = sorted(dict.fromkeys(findings), key=lambda finding: places.of(finding.parts))
    first = ordered[0]
    count = f"more than {MAX_PROBLEMS}" if len(ordered) > MAX_PROBLEMS else str(len(ordered))
    said = first.wording or _WORDINGS[first.rule]
    hint = _LOOKS_LIKE_CHAT if "messages" in payload and "turns" not in payload else ""
    return ValidationError(
        f"{count} {'problem' if count == '1' else 'problems'}; first: {json_path(first.parts)}: {said}{hint}",
        [Problem(json_path(finding.parts), finding.rule) for finding in ordered[:MAX_PROBLEMS]],
    )


class _Places:
    """Where paths stand in one payload as sent.

    The order of an object's members is looked up once: thousands of findings may name one object, and it may be large.
    """

    def __init__(self, payload: Mapping[str, Any]) -> None:
        self._payload = payload
        self._orders: dict[int, dict[str, int]] = {}

    def of(self, parts: Sequence[str | int]) -> tuple[int, ...]:
        """Sorts as the text reads; a missing member stands behind those that are there."""
        places = []
        node: Any = self._payload
        for part in parts:
            if isinstance(part, int):
                places.append(part)
            else:
                order = self._orders.get(id(node))
                if order is None:
                    order = self._orders[id(node)] = {name: place for place, name in enumerate(node)}
                places.append(order.get(part, len(order)))
                if part not in order:
                    break
            node = node[part]
        return tuple(places)
