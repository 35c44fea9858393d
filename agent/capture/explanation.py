"""Why the schema refuses a payload: every path and keyword, by ``jsonschema``. Imported only when something is refused.

It reads an ``excerpt``, since it takes 0.1 ms a turn. Its messages hold the caller's values and are never used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final, cast

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from agent.capture.excerpt import excerpt
from agent.capture.finding import Finding, wording
from agent.capture.gate import findings_of_gate
from agent.core.ids import is_uuid
from agent.core.timestamps import is_date_time
from agent.errors import MAX_PROBLEMS
from schemas import load

# One more than may be reported, so that "more than 50" can be said.
_LOOKED_FOR: Final = MAX_PROBLEMS + 1


def explain(payload: Mapping[str, Any]) -> list[Finding]:
    """What the schema and CONTRACT 2 refuse in ``payload``, at most 51 findings; empty where they accept it."""
    part = excerpt(payload, at_most=_LOOKED_FOR)
    found = list(islice(findings_of_jsonschema(part.payload), _LOOKED_FOR))
    # Should the two ever disagree, the gate's word stands, and it says why.
    found = found or list(islice(findings_of_gate(part.payload), _LOOKED_FOR))
    return [finding._replace(parts=part.original(finding.parts)) for finding in found]


def findings_of_jsonschema(payload: Mapping[str, Any]) -> Iterator[Finding]:
    """What ``jsonschema`` refuses, with our own notion of a UUID and of a time."""
    for error in _VALIDATOR.iter_errors(payload):
        rule = str(error.validator)
        # The library's types call a keyword's value perhaps unset; an error that was yielded has one.
        yield Finding(tuple(error.absolute_path), rule, wording(rule, cast("Any", error.validator_value)))


def _required(_: object, names: list[str], instance: object, __: object) -> Iterator[ValidationError]:
    """A missing member at its own path; the library's own errors name it in their messages alone."""
    if isinstance(instance, dict):
        yield from (ValidationError("", path=[name]) for name in names if name not in instance)


def _formats() -> FormatChecker:
    """Only our own two: the library's take a full-width digit in a UUID and a line break behind a time."""
    checker = FormatChecker(formats=())
    checker.checks("uuid")(lambda value: not isinstance(value, str) or is_uuid(value))
    checker.checks("date-time")(lambda value: not isinstance(value, str) or is_date_time(value))
    return checker


_WITH_PATHS: Final = extend(Draft202012Validator, {"required": _required})  # type: ignore[no-untyped-call]  # its stubs
_VALIDATOR: Final = _WITH_PATHS(load("capture-input"), format_checker=_formats())
