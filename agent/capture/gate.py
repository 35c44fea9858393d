"""The fast gate: ``jsonschema-rs`` over the schema of the capture input. The one module that imports it.

It decides; ``jsonschema`` explains (``explanation``). Its messages hold the caller's values and are never used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import jsonschema_rs

from agent.capture.finding import Finding, wording
from schemas import load

_GATE: Final = jsonschema_rs.validator_for(load("capture-input"), validate_formats=True)


def is_accepted(payload: Mapping[str, Any]) -> bool:
    """Whether the schema accepts ``payload``. Of times it accepts a few more than CONTRACT 2."""
    return _GATE.is_valid(payload)


def findings_of_gate(payload: Mapping[str, Any]) -> Iterator[Finding]:
    """What the schema refuses, without the times that only CONTRACT 2 refuses."""
    for error in _GATE.iter_errors(payload):
        kind = error.kind
        missing = [kind.property] if isinstance(kind, jsonschema_rs.ValidationErrorKind.Required) else []
        # Every keyword of our schema describes itself by one thing: what it expects.
        (expected,) = kind.as_dict().values()
        yield Finding((*error.instance_path, *missing), kind.name, wording(kind.name, expected))
