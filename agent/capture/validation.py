"""Whether a payload is one that CONTRACT 1 accepts, and if not, every reason (at most 50).

The schema in ``schemas/`` is decided by ``jsonschema-rs``. What it lets through and the contract does not (times) and
what no schema can say (``rules``) is decided here. Why something was refused is looked up only then (``explanation``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agent.capture.fields import warnings_for
from agent.capture.finding import refusal_of
from agent.capture.gate import is_accepted
from agent.capture.rules import are_evidently_kept, findings_in, has_too_many, id_findings
from agent.core.timestamps import EVIDENT_DATE_TIME, is_date_time

__all__ = ["check_ids", "validate_payload", "warnings_for"]


def validate_payload(payload: dict[str, Any]) -> None:
    """Accept ``payload``, a parsed JSON object, or raise ValidationError with all problems (CONTRACT 1, 2).

    With ``capture_options.derive_ids`` the rules about ids hold for the UUIDs that ``derive_ids`` will make.
    """
    valid = is_accepted(payload) and _has_valid_times(payload["turns"])
    if valid and are_evidently_kept(payload):
        return
    findings = findings_in(payload)
    if not valid and not has_too_many(payload):
        # Loaded late: an instance that never refuses anything never needs it.
        from agent.capture.explanation import explain

        findings += explain(payload)
    if findings:
        raise refusal_of(payload, findings)


def check_ids(payload: dict[str, Any]) -> None:
    """Raise ValidationError where ids clash or a parent is no earlier turn; for any payload whose ids are strings."""
    if findings := id_findings(payload, derive=False):
        raise refusal_of(payload, findings)


def _has_valid_times(turns: Sequence[Mapping[str, Any]]) -> bool:
    # Most are: then one match decides, without a call of a function for each.
    evident = EVIDENT_DATE_TIME.match
    return all(evident(turn["timestamp"]) or is_date_time(turn["timestamp"]) for turn in turns)
