"""The schemas themselves: valid, closed in themselves, strict where they must be (CONTRACT 1, 6, 7)."""

import json
from typing import Any

import jsonschema
import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

import schemas
from agent.core.canonical import inputs_hash
from agent.core.decision import AGENT_ID, AGENT_VERSION, DecisionEvent, Inputs, Outputs, constraints_applied
from agent.core.graph import build_graph
from agent.core.native import derive_ids
from agent.edge.body import MAX_BODY_BYTES
from agent.edge.json_text import MAX_VALUES
from agent.errors import (
    AgentError,
    InternalError,
    Problem,
    RateLimitExceeded,
    StoreConnectionError,
    StoreDamaged,
    StoreWriteError,
    ValidationError,
)
from tests.conftest import vectors

EXECUTION_REF = "7d1c5b0a-9f3e-4c28-8b67-0e4a2d6c1f95"
AT = "2026-05-04T07:30:05.123456Z"


def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(schemas.bundle(name), format_checker=Draft202012Validator.FORMAT_CHECKER)


def openapi() -> dict[str, Any]:
    return json.loads(schemas.openapi_bytes())


def references(node: Any) -> set[str]:
    if isinstance(node, list):
        return {found for item in node for found in references(item)}
    if not isinstance(node, dict):
        return set()
    own = {node["$ref"]} if isinstance(node.get("$ref"), str) else set()
    return own | {found for item in node.values() for found in references(item)}


@pytest.mark.parametrize("name", schemas.NAMES)
def test_a_schema_is_valid_by_its_meta_schema_and_refuses_the_empty_object(name):
    schema = schemas.load(name)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == f"{name}.schema.json"
    Draft202012Validator.check_schema(schema)
    assert not validator(name).is_valid({})
    for wrong in (None, [], "x", 1):
        assert not validator(name).is_valid(wrong)


@pytest.mark.parametrize("name", schemas.NAMES)
def test_a_bundled_schema_needs_no_other_file(name):
    bundled = schemas.bundle(name)
    Draft202012Validator.check_schema(bundled)
    definitions = {f"#/$defs/{definition}" for definition in bundled["$defs"]}
    assert references(bundled) <= definitions


def test_every_schema_file_is_named_and_loaded_as_package_data():
    folder = schemas.files(schemas.__name__)
    names = {
        entry.name.removesuffix(".schema.json") for entry in folder.iterdir() if entry.name.endswith(".schema.json")
    }
    assert names == set(schemas.NAMES)


def test_two_definitions_of_one_name_are_refused():
    document = {"$ref": "agent-error.schema.json"}
    with pytest.raises(ValueError, match="Problem is defined twice"):
        schemas.embedded(document, "#/$defs/", {"Problem": {"type": "string"}})


def test_the_example_of_the_capture_input_is_accepted():
    for example in schemas.load("capture-input")["examples"]:
        validator("capture-input").validate(example)
        assert build_graph(example).nodes


def captured(payload: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The native payload with UUIDs, and the event as it is stored."""
    native = derive_ids(payload) if payload.get("capture_options", {}).get("derive_ids") else payload
    event = DecisionEvent(
        inputs=Inputs(json.dumps(native).encode(), inputs_hash(native), inputs_hash(payload)),
        outputs=Outputs.of(native).encode(AT),
        constraints_applied=constraints_applied(native, ids_derived=native is not payload),
        execution_ref=EXECUTION_REF,
        timestamp=AT,
        telemetry={"duration_ms": 1, "memory_bytes": 2, "release": "0.1.0"},
    )
    return native, json.loads(event.envelope())["payload"]


@pytest.mark.parametrize("case", vectors(), ids=lambda case: case["name"])
def test_every_golden_capture_and_its_event_are_valid(case):
    validator("capture-input").validate(case["input"])
    _, event = captured(case["input"])
    validator("decision-event").validate(event)
    validator("capture-output").validate(event["outputs"])


@pytest.mark.parametrize("case", vectors(), ids=lambda case: case["name"])
def test_every_golden_capture_and_its_event_are_valid_by_the_published_schema(published_schema, case):
    native, event = captured(case["input"])
    for kind, value in (
        ("ConversationCaptureInput", native),
        ("DecisionEvent", event),
        ("ConversationCaptureOutput", event["outputs"]),
    ):
        Draft202012Validator({**published_schema, "$ref": f"#/definitions/{kind}"}).validate(value)


@pytest.mark.parametrize(
    "error",
    [
        ValidationError("m", [Problem("$.turns[0].role", "enum")] * 60),
        ValidationError("m"),
        StoreConnectionError("m"),
        StoreWriteError("m", upstream_status=422),
        StoreDamaged("damaged_event", upstream_status=500, position=7, through=3),
        RateLimitExceeded("m"),
        InternalError("m"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_every_kind_of_error_is_valid_by_the_schema(error: AgentError):
    body = {"error_code": error.error_code, "message": error.message, "execution_ref": EXECUTION_REF, "timestamp": AT}
    validator("agent-error").validate({**body, "details": error.details})
    assert not validator("agent-error").is_valid({**body, "error_code": "OTHER"})
    assert not validator("agent-error").is_valid({**body, "details": {"errors": [{"path": "turns", "rule": "enum"}]}})


@pytest.mark.parametrize(
    ("name", "value"),
    [("agent_version", "2.0.0"), ("agent_id", "x"), ("confidence", 0.5), ("inputs_hash", "AB" * 32), ("outputs", {})],
)
def test_an_event_of_another_kind_or_major_version_is_not_valid(name, value):
    event = openapi()["components"]["responses"]["Captured"]["content"]["application/json"]["examples"]["first"][
        "value"
    ]["decision_event"]
    validator("decision-event").validate(event)
    assert not validator("decision-event").is_valid({**event, name: value})


# The OpenAPI document.


def test_the_openapi_document_is_valid_and_needs_no_other_file():
    document = openapi()
    OpenAPIV31SpecValidator(document).validate()
    assert document["openapi"].startswith("3.1.")
    assert all(reference.startswith("#/components/") for reference in references(document))
    assert b"schema.json" not in schemas.openapi_bytes()


def test_the_openapi_document_names_every_path_method_and_status():
    paths = openapi()["paths"]
    assert {(path, method) for path, item in paths.items() for method in item} == {
        ("/", "post"),
        ("/conversation-memory", "post"),
        ("/v1/memory-graph/conversation", "post"),
        *(
            (path, method)
            for path in ("/health", "/conversation-memory/health", "/openapi.json")
            for method in ("get", "head")
        ),
    }
    for path, item in paths.items():
        if "post" in item:
            assert set(item["post"]["responses"]) == {"200", "400", "401", "405", "409", "413", "429", "500", "502"}
        else:
            expected = {"200", "405", "500"} if path == "/openapi.json" else {"200", "405", "500", "503"}
            assert set(item["get"]["responses"]) == set(item["head"]["responses"]) == expected
    assert "NotFound" in openapi()["components"]["responses"]
    operations = [operation["operationId"] for item in paths.values() for operation in item.values()]
    assert len(operations) == len(set(operations))


def test_answers_name_their_headers():
    responses = openapi()["components"]["responses"]
    for name, response in responses.items():
        assert {"X-Agent-Id", "X-Agent-Version"} <= set(response["headers"]), name
    for name in ("Captured", "Refused", "Conflict", "TooLarge", "TooManyRequests", "InternalError", "StoreFailed"):
        assert "X-Execution-Ref" in responses[name]["headers"]
    assert "Retry-After" in responses["TooManyRequests"]["headers"]
    assert "Retry-After" in responses["StoreFailed"]["headers"]
    assert "Allow" in responses["MethodNotAllowed"]["headers"]
    assert "WWW-Authenticate" in responses["Unauthorized"]["headers"]
    assert "Idempotency-Replayed" in responses["Captured"]["headers"]


def examples() -> list[tuple[str, dict[str, Any], Any]]:
    """Every example of the document: its name, its schema, its value."""
    components = openapi()["components"]
    found = []
    for kind in ("responses", "requestBodies"):
        for name, component in components[kind].items():
            media = component["content"]["application/json"]
            found += [
                (f"{name}:{key}", media["schema"], one["value"]) for key, one in media.get("examples", {}).items()
            ]
    return found


@pytest.mark.parametrize(("schema", "value"), [one[1:] for one in examples()], ids=[one[0] for one in examples()])
def test_every_example_is_valid_by_its_schema_and_no_schema_takes_the_empty_object(schema, value):
    root = {**schema, "components": openapi()["components"]}
    checking = Draft202012Validator(root, format_checker=jsonschema.FormatChecker())
    checking.validate(value)
    assert not checking.is_valid({})


def test_every_error_code_and_every_answer_has_an_example():
    values = [value for _, _, value in examples()]
    codes = {value["error"]["error_code"] for value in values if value.get("success") is False}
    assert codes == set(schemas.load("agent-error")["properties"]["error_code"]["enum"])
    for name, response in openapi()["components"]["responses"].items():
        assert name == "Description" or response["content"]["application/json"]["examples"]


def test_the_document_says_what_the_code_says():
    document = openapi()
    assert document["info"]["version"] == AGENT_VERSION
    assert document["components"]["headers"]["X-Agent-Id"]["schema"]["const"] == AGENT_ID
    too_large = document["components"]["responses"]["TooLarge"]["content"]["application/json"]["examples"]
    assert str(MAX_BODY_BYTES) in too_large["bytes"]["value"]["error"]["message"]
    assert str(MAX_VALUES) in too_large["values"]["value"]["error"]["message"]
    first = document["components"]["responses"]["Captured"]["content"]["application/json"]["examples"]["first"]["value"]
    wrapped = document["components"]["requestBodies"]["Capture"]["content"]["application/json"]["examples"]["wrapped"][
        "value"
    ]
    assert json.loads(Outputs.of(wrapped["payload"]).encode(AT)) == first["output"]
    assert inputs_hash(wrapped["payload"]) == first["decision_event"]["inputs_hash"]
