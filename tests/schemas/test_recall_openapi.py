"""The description of the recall function: valid, closed in itself, and what the code does."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

import schemas
from agent.core.decision import AGENT_ID, AGENT_VERSION
from agent.core.window.policy import STRATEGIES
from agent.formats import WRITES
from agent.recall.http.context import FORMATS as WINDOW_FORMATS
from agent.recall.http.context_asked import LONGEST_QUERY
from agent.recall.http.conversation import FORMATS, MAX_MESSAGES
from agent.recall.http.export import FILES
from agent.recall.http.graph import FORMS
from agent.recall.http.query import LARGEST, LONGEST_NAME
from agent.recall.http.routing import FIXED, OF_A_SESSION
from agent.recall.http.session_list import MAX_SESSIONS
from agent.window_settings import LONGEST_MARKER, MOST_MESSAGES, MOST_TOKENS, SCOPES
from tests.openapi_examples import examples
from tests.recall.http.described import described
from tests.recall.http.examples import answers, stable

DOCUMENT = described()
COMPONENTS = DOCUMENT["components"]
ONE = "/api/conversation/{session_id}"
POSTED = (f"{ONE}/hydrate", "/api/context")


def references(node: Any) -> set[str]:
    if isinstance(node, list):
        return {found for item in node for found in references(item)}
    if not isinstance(node, dict):
        return set()
    own = {node["$ref"]} if isinstance(node.get("$ref"), str) else set()
    return own | {found for item in node.values() for found in references(item)}


def test_it_is_valid_and_needs_no_other_file() -> None:
    OpenAPIV31SpecValidator(DOCUMENT).validate()
    assert all(reference.startswith("#/components/") for reference in references(DOCUMENT))
    assert b"schema.json" not in schemas.recall_openapi_bytes()


def test_nothing_in_it_is_unused() -> None:
    used = references(DOCUMENT)
    for kind in ("parameters", "headers", "requestBodies", "responses", "schemas"):
        for name in COMPONENTS[kind]:
            # Where there is no operation, there is no reference either.
            assert f"#/components/{kind}/{name}" in used, name


def test_it_names_every_path_and_method_that_the_code_answers() -> None:
    fixed = {"/" + "/".join(parts) for parts in FIXED}
    of_a_session = {f"{ONE}/{name}" if name else ONE for name in OF_A_SESSION}
    assert set(DOCUMENT["paths"]) == fixed | of_a_session
    for path, item in DOCUMENT["paths"].items():
        assert set(item) == ({"post"} if path in POSTED else {"get", "head"}), path
    operations = [operation["operationId"] for item in DOCUMENT["paths"].values() for operation in item.values()]
    assert len(operations) == len(set(operations))


def test_what_says_something_of_somebody_may_ask_for_a_key() -> None:
    for path, item in DOCUMENT["paths"].items():
        for operation in item.values():
            is_open = path in ("/health", "/openapi.json")
            assert operation["security"] == ([] if is_open else [{}, {"key": []}])
            assert ("401" in operation["responses"]) is not is_open


def test_ranges_and_names_are_those_of_the_code() -> None:
    parameters = {name: each["schema"] for name, each in COMPONENTS["parameters"].items()}
    assert (parameters["message_limit"]["minimum"], parameters["message_limit"]["maximum"]) == (1, MAX_MESSAGES)
    assert (parameters["session_limit"]["minimum"], parameters["session_limit"]["maximum"]) == (1, MAX_SESSIONS)
    assert {parameters[name]["maximum"] for name in ("before_seq", "after_seq", "offset", "min_version")} == {LARGEST}
    assert parameters["session_id"]["maxLength"] == LONGEST_NAME
    assert parameters["message_format"]["enum"] == list(FORMATS) == ["native", *WRITES]
    assert parameters["window_format"]["enum"] == list(WINDOW_FORMATS)
    assert parameters["strategy"]["enum"] == list(STRATEGIES)
    assert parameters["scope"]["enum"] == list(SCOPES)
    most = {name: parameters[name]["maximum"] for name in ("max_tokens", "min_recent", "max_messages")}
    assert most == {"max_tokens": MOST_TOKENS, "min_recent": MOST_MESSAGES, "max_messages": MOST_MESSAGES}
    longest = {name: parameters[name]["maxLength"] for name in ("query", "model", "marker")}
    assert longest == {"query": LONGEST_QUERY, "model": LONGEST_NAME, "marker": LONGEST_MARKER}
    assert parameters["graph_format"]["enum"] == list(FORMS)
    assert parameters["file_format"]["enum"] == list(FILES)
    lowest = {name: parameters[name]["minimum"] for name in ("before_seq", "after_seq", "at_seq", "offset")}
    assert lowest == {"before_seq": 1, "after_seq": 0, "at_seq": 0, "offset": 0}
    assert DOCUMENT["info"]["version"] == AGENT_VERSION
    assert COMPONENTS["headers"]["X-Agent-Id"]["schema"]["const"] == AGENT_ID


def test_every_failure_says_what_it_is_called_in_the_log_and_no_success_does() -> None:
    for name, response in COMPONENTS["responses"].items():
        schema = response.get("content", {}).get("application/json", {}).get("schema", {})
        is_failure = schema == {"$ref": "#/components/schemas/Failure"}
        assert ("X-Execution-Ref" in response["headers"]) is is_failure, name


EXAMPLES = examples(COMPONENTS)


@pytest.mark.parametrize(("schema", "value"), [one[1:] for one in EXAMPLES], ids=[one[0] for one in EXAMPLES])
def test_every_example_is_valid_by_its_schema_and_no_schema_takes_the_empty_object(
    schema: dict[str, Any], value: Any
) -> None:
    checking = Draft202012Validator({**schema, "components": COMPONENTS}, format_checker=jsonschema.FormatChecker())
    checking.validate(value)
    assert not checking.is_valid({})


def test_every_answer_in_json_has_an_example_but_the_description_itself() -> None:
    for name, response in COMPONENTS["responses"].items():
        media = response.get("content", {}).get("application/json")
        assert media is None or name == "Description" or media["examples"], name


def test_the_examples_are_what_the_function_answers() -> None:
    answered = answers()
    shown = {name: value for name, _, value in EXAMPLES}
    for example, name in {
        "Conversation:native": "conversation",
        "Conversation:openai_chat": "openai-chat",
        "Conversations:page": "conversations",
        "State:state": "state",
        "Summary:summary": "summary",
        "Insights:insights": "insights",
        "Stats:stats": "stats",
        "Graph:graph": "graph",
        "Export:json": "export",
        "Hydrated:second_message": "hydrate",
        "Context:native": "context",
        "Context:openai_chat": "context in openai-chat",
        "PostedContext:openai_chat": "posted_context",
        "StoreStats:stats": "store_stats",
        "Healthy:up": "health",
    }.items():
        assert stable(shown[example]) == stable(answered[name]), example
