"""The store's OpenAPI document: valid, closed in itself, and exactly what the surface does."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

import schemas
from store.errors import (
    BadRequest,
    Conflict,
    DamagedEvent,
    DatabaseLocked,
    Forbidden,
    MethodNotAllowed,
    NotFound,
    StoreAnswerError,
    TooLarge,
    TooManyRequests,
    Unauthorized,
)
from store.http.query_values import MAX_SEARCH_CHARACTERS, MAX_TYPES
from store.http.request import MAX_BODY_BYTES
from store.log.capture import RECORD_FIELDS
from store.port import MAX_LIMIT
from tests.openapi_examples import examples
from tests.store.http.fake_guard import FakeMetrics
from tests.store.http.paths import CALLS, RIGHTS, concrete, taken
from tests.store.http.site import ABSENT, SESSION, Site, capture, event, filled

DOCUMENT: dict[str, Any] = json.loads(schemas.ruvector_openapi_bytes())
COMPONENTS = DOCUMENT["components"]
REFUSALS: dict[str, StoreAnswerError] = {
    "BadRequest": BadRequest("m"),
    "Unauthorized": Unauthorized("m"),
    "Forbidden": Forbidden("m"),
    "NotFound": NotFound("m"),
    "MethodNotAllowed": MethodNotAllowed("GET"),
    "Conflict": Conflict("m"),
    "TooLarge": TooLarge("m"),
    "TooManyRequests": TooManyRequests("m", 1),
    "InternalError": StoreAnswerError("m"),
    "Unavailable": DatabaseLocked("m"),
}


def resolved(node: dict[str, Any]) -> dict[str, Any]:
    """What ``node`` stands for."""
    while "$ref" in node:
        _, _, kind, name = node["$ref"].split("/")
        node = COMPONENTS[kind][name]
    return node


def validator(schema: dict[str, Any]) -> Draft202012Validator:
    checker = Draft202012Validator.FORMAT_CHECKER
    return Draft202012Validator({**schema, "components": COMPONENTS}, format_checker=checker)


def references(node: Any) -> set[str]:
    if isinstance(node, list):
        return {found for item in node for found in references(item)}
    if not isinstance(node, dict):
        return set()
    own = {node["$ref"]} if isinstance(node.get("$ref"), str) else set()
    return own | {found for item in node.values() for found in references(item)}


def answer_schema(template: str, method: str, status: int) -> dict[str, Any]:
    response = resolved(DOCUMENT["paths"][template][method.lower()]["responses"][str(status)])
    return response["content"]["application/json"]["schema"]


def test_the_document_is_valid_and_needs_no_other_file() -> None:
    OpenAPIV31SpecValidator(DOCUMENT).validate()
    found = references(DOCUMENT)
    assert all(reference.startswith("#/components/") for reference in found)
    components = {
        f"#/components/{kind}/{name}"
        for kind, named in COMPONENTS.items()
        if kind != "securitySchemes"
        for name in named
    }
    assert found == components


def test_it_names_every_path_and_method_that_the_router_has_and_no_other() -> None:
    router = Site(metrics=FakeMetrics()).app._router
    routes = [*router._fixed.values(), *[one.route for one in router._variable]]
    by_template: dict[str, set[str]] = {}
    for route in routes:
        by_template.setdefault(route.template, set()).update(route.methods)
    assert by_template == {template: set(methods) for template, methods in RIGHTS.items()}
    documented = {template: {method.upper() for method in item} for template, item in DOCUMENT["paths"].items()}
    assert documented == {template: taken(template) for template in RIGHTS}
    operations = [operation["operationId"] for item in DOCUMENT["paths"].values() for operation in item.values()]
    assert len(operations) == len(set(operations))


@pytest.mark.parametrize(("method", "template", "right"), CALLS)
def test_each_operation_names_the_statuses_and_the_key_that_it_may_need(method: str, template: str, right: str) -> None:
    operation = DOCUMENT["paths"][template][method.lower()]
    statuses = {"400", "405", "500"}
    if right in ("read", "write", "admin"):
        statuses |= {"401", "403", "429", "503"}
        assert "security" not in operation
    elif right == "metrics":
        statuses |= {"401", "403", "404"}
    else:
        assert operation["security"] == []
        statuses |= set() if template == "/openapi.json" else {"503"}
    statuses |= {"200", "201", "409", "413"} if method == "POST" else {"200"}
    statuses |= {"404"} if "{" in template else set()
    assert set(operation["responses"]) == statuses


@pytest.mark.parametrize(("method", "template", "right"), [one for one in CALLS if one[0] != "HEAD"])
def test_each_operation_names_the_query_that_its_path_takes(method: str, template: str, right: str) -> None:
    parameters = [resolved(one) for one in DOCUMENT["paths"][template][method.lower()].get("parameters", [])]
    names = [one["name"] for one in parameters if one["in"] == "query"]
    site = Site(filled(), metrics=FakeMetrics())
    answer = site.client.request(method, f"{concrete(template)}?unknown=1")
    takes = f"the query may hold {', '.join(names)}" if names else "this path takes no query"
    assert (answer.status_code, answer.json()["message"]) == (400, takes)
    in_path = [one["name"] for one in parameters if one["in"] == "path"]
    assert in_path == re.findall(r"\{(\w+)\}", template)


@pytest.mark.parametrize(
    "template", [one for one in RIGHTS if one != "/metrics" and "GET" in RIGHTS[one] and one != "/openapi.json"]
)
def test_each_answer_of_a_read_is_valid_by_its_schema(template: str, full: Site) -> None:
    answer = full.get(concrete(template))
    assert answer.status_code == 200
    validator(answer_schema(template, "GET", 200)).validate(answer.json())


@pytest.mark.parametrize("template", [one for one in RIGHTS if "DELETE" in RIGHTS[one]])
def test_each_receipt_of_an_erasure_is_valid_by_its_schema(template: str, full: Site) -> None:
    answer = full.client.delete(concrete(template))
    validator(answer_schema(template, "DELETE", 200)).validate(answer.json())


@pytest.mark.parametrize("template", [one for one in RIGHTS if "POST" in RIGHTS[one]])
def test_each_receipt_of_a_write_is_valid_by_its_schema(template: str, site: Site) -> None:
    for status in (201, 200):
        answer = site.post(capture(), template)
        assert answer.status_code == status
        schema = validator(answer_schema(template, "POST", status))
        schema.validate(answer.json())
        assert not schema.is_valid({**answer.json(), "status": "erased"})


def test_what_is_said_of_a_damaged_event_is_valid_by_its_schema(site: Site) -> None:
    site.store.faults["events"] = DamagedEvent("m", 2, through=1)
    answer = site.get("/events/decisions")
    schema = validator(answer_schema("/events/decisions", "GET", 500))
    schema.validate(answer.json())
    details = answer.json()["details"]
    assert details.keys() == {"rule", "position", "through", "next_cursor"}
    for name in details:
        assert not schema.is_valid({**answer.json(), "details": {**details, name: 0}})


@pytest.mark.parametrize("name", REFUSALS)
def test_each_refusal_is_valid_by_its_schema_and_has_its_headers(name: str, site: Site) -> None:
    fault = REFUSALS[name]
    site.store.faults["append"] = fault
    answer = site.post(event())
    response = COMPONENTS["responses"][name]
    schema = validator(response["content"]["application/json"]["schema"])
    schema.validate(answer.json())
    assert not schema.is_valid({**answer.json(), "error": "other"})
    assert set(response.get("headers", {})) == set(fault.headers)
    for header, reference in response.get("headers", {}).items():
        text = answer.headers[header]
        value = int(text) if header == "Retry-After" else text
        validator(resolved(reference)["schema"]).validate(value)
        assert resolved(reference)["required"] is True
    statuses = {
        status
        for item in DOCUMENT["paths"].values()
        for operation in item.values()
        for status, one in operation["responses"].items()
        if one == {"$ref": f"#/components/responses/{name}"}
    }
    assert statuses == {str(answer.status_code)}


def test_a_store_that_is_down_is_answered_by_its_schema(site: Site) -> None:
    site.store.faults["ping"] = DatabaseLocked("m")
    for template in ("/health", "/ready"):
        validator(answer_schema(template, "GET", 503)).validate(site.get(template).json())


def test_what_is_not_there_is_answered_by_its_schema(full: Site) -> None:
    answer = full.get(f"/v1/sessions/{ABSENT}/turns")
    validator(answer_schema("/v1/sessions/{session_id}/turns", "GET", 404)).validate(answer.json())


EXAMPLES = examples(COMPONENTS)


@pytest.mark.parametrize(("schema", "value"), [one[1:] for one in EXAMPLES], ids=[one[0] for one in EXAMPLES])
def test_every_example_is_valid_by_its_schema_and_no_schema_takes_the_empty_object(
    schema: dict[str, Any], value: Any
) -> None:
    validator(schema).validate(value)
    assert not validator(schema).is_valid({})


def test_every_answer_has_an_example() -> None:
    for name, response in COMPONENTS["responses"].items():
        assert name in ("Document", "Figures") or response["content"]["application/json"]["examples"], name


def test_the_examples_of_the_write_are_taken(site: Site) -> None:
    bodies = COMPONENTS["requestBodies"]["Event"]["content"]["application/json"]["examples"]
    assert [site.post(one["value"]).status_code for one in bodies.values()] == [201, 200, 201]
    made = [call.argument.capture for call in site.store.calls]
    assert [one is None for one in made] == [False, False, True]


def test_the_cursors_of_the_examples_are_ones_that_the_lists_take(full: Site) -> None:
    answers = COMPONENTS["responses"]
    feed = answers["Feed"]["content"]["application/json"]["examples"]["page"]["value"]["next_cursor"]
    sessions = answers["Sessions"]["content"]["application/json"]["examples"]["more"]["value"]["next_cursor"]
    assert full.get("/events/decisions", after=feed).status_code == 200
    assert full.get("/v1/sessions", cursor=sessions).status_code == 200


def test_the_cursors_that_lists_give_are_valid_by_their_parameters(full: Site) -> None:
    parameters = COMPONENTS["parameters"]
    for path, name, parameter in [
        ("/v1/decision-events", "next_cursor", "cursor"),
        ("/events/decisions", "next_cursor", "feed_after"),
        ("/v1/sessions", "next_cursor", "sessions_cursor"),
        ("/v1/audit", "next_after", "audit_after"),
    ]:
        validator(parameters[parameter]["schema"]).validate(full.json(path, limit=1)[name])


def test_the_document_says_what_the_code_says() -> None:
    parameters, shapes = COMPONENTS["parameters"], COMPONENTS["schemas"]
    assert parameters["limit"]["schema"]["maximum"] == parameters["last"]["schema"]["maximum"] == MAX_LIMIT
    assert parameters["q"]["schema"]["maxLength"] == MAX_SEARCH_CHARACTERS
    assert parameters["types"]["schema"]["pattern"] == f"^[^,]+(,[^,]+){{0,{MAX_TYPES - 1}}}$"
    assert set(shapes["Turn"]["required"]) == RECORD_FIELDS - {"agent_version"}
    assert set(shapes["Turn"]["properties"]) > RECORD_FIELDS
    too_large = COMPONENTS["responses"]["TooLarge"]["content"]["application/json"]["examples"]["example"]["value"]
    assert too_large == {"error": TooLarge.error, "message": f"a body has at most {MAX_BODY_BYTES} bytes"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("EventEnvelope", {**event(), "position": 1, "erased": True, "more": {}}),
        ("Turn", {"turn_id": SESSION}),
        ("Session", {"session_id": SESSION}),
    ],
)
def test_records_are_open_to_members_and_closed_to_gaps(name: str, value: dict[str, Any]) -> None:
    schema = validator({"$ref": f"#/components/schemas/{name}"})
    assert schema.is_valid(value) == (name == "EventEnvelope")
    assert not schema.is_valid({**value, "position": 0, "version": 0})
