"""Every event and answer that the suite makes is held to our schemas, and to the published one where it is at hand."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import jsonschema_rs

from schemas import bundle
from tests.conftest import shared_folder

OURS = {"DecisionEvent": "decision-event", "ConversationCaptureOutput": "capture-output", "AgentError": "agent-error"}


@cache
def _validators(definition: str) -> list[Any]:
    validators = [jsonschema_rs.validator_for(bundle(OURS[definition]), validate_formats=True)]
    published = shared_folder() / "public" / "conversation-memory.schema.json"
    if published.exists():
        schema = json.loads(published.read_bytes())
        part = {**schema, "$ref": f"#/definitions/{definition}"}
        validators.append(jsonschema_rs.validator_for(part, validate_formats=True))
    return validators


def check(definition: str, value: Any) -> None:
    """Raise where ``value`` is not what our schema and the published one say that it is."""
    for validator in _validators(definition):
        validator.validate(value)


def check_event(event: Any) -> None:
    """A DecisionEvent as the store receives it, or as an answer shows it."""
    check("DecisionEvent", event)
    check("ConversationCaptureOutput", event["outputs"])


def check_answer(answer: Any) -> None:
    """An answer of the capture function: a success with its event, or a failure with its error."""
    if answer["success"]:
        check("ConversationCaptureOutput", answer["output"])
        check_event(answer["decision_event"])
    else:
        check("AgentError", answer["error"])


def check_response(response: Any) -> None:
    """An event hook for httpx: holds every answer that has a ``success`` to the schemas."""
    response.read()
    if response.content and response.request.method != "HEAD" and "success" in (answer := response.json()):
        check_answer(answer)
