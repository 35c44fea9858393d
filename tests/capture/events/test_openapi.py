"""The description of the surface that a queue pushes to: valid, and as the code and the capture's own have it."""

import json
from typing import Any

import jsonschema
import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

import schemas
from agent.capture.events.app import HEALTH_PATHS, OPENAPI_PATH
from tests.capture.events.envelopes import Posted
from tests.openapi_examples import examples

DOCUMENT: dict[str, Any] = json.loads(schemas.events_openapi_bytes())
CAPTURE: dict[str, Any] = json.loads(schemas.openapi_bytes())
COMPONENTS = DOCUMENT["components"]


def test_the_document_is_valid_and_needs_no_other_file() -> None:
    OpenAPIV31SpecValidator(DOCUMENT).validate()
    assert b"schema.json" not in schemas.events_openapi_bytes()


def test_it_names_every_path_and_every_status_that_the_code_answers() -> None:
    assert set(DOCUMENT["paths"]) == {"/", *HEALTH_PATHS, OPENAPI_PATH}
    assert set(DOCUMENT["paths"]["/"]["post"]["responses"]) == {"200", "400", "405", "413", "500", "502", "503"}


def test_what_it_shares_with_the_captures_description_is_the_same_there() -> None:
    for kind in ("parameters", "headers", "responses", "schemas"):
        shared = set(COMPONENTS[kind]) & set(CAPTURE["components"][kind])
        assert {name: COMPONENTS[kind][name] for name in shared} == {
            name: CAPTURE["components"][kind][name] for name in shared
        }
    for path in (*HEALTH_PATHS, OPENAPI_PATH):
        assert DOCUMENT["paths"][path] == CAPTURE["paths"][path]
    assert DOCUMENT["info"]["version"] == CAPTURE["info"]["version"]
    formats = COMPONENTS["parameters"]["format"]["schema"]["enum"]
    assert COMPONENTS["parameters"]["ce-format"]["schema"]["enum"] == formats


@pytest.mark.parametrize(("name", "schema", "value"), examples(COMPONENTS))
def test_every_example_is_valid_by_its_schema(name: str, schema: dict[str, Any], value: Any) -> None:
    root = {**schema, "components": COMPONENTS}
    checking = Draft202012Validator(root, format_checker=jsonschema.FormatChecker())
    checking.validate(value)
    assert not checking.is_valid({}), name


def test_every_example_of_a_delivery_is_taken(handle: Any) -> None:
    bodies = COMPONENTS["requestBodies"]["Delivery"]["content"]["application/json"]["examples"]
    for name, one in bodies.items():
        assert handle(Posted(json.dumps(one["value"]).encode(), {})).status_code == 200, name
