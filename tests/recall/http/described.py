"""Every answer that the tests get is held to the description of the recall function (``recall.openapi.json``)."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import jsonschema_rs

from schemas import recall_openapi_bytes

_PREFIX = "/api/conversation/"
# A store that fails need not say when to come again.
_SOMETIMES = {"Retry-After"}


@cache
def described() -> dict[str, Any]:
    """The document, self-contained."""
    return dict(json.loads(recall_openapi_bytes()))


@cache
def validator(schema: str) -> Any:
    """A validator of a schema of the document, given as JSON."""
    root = {**json.loads(schema), "components": {"schemas": described()["components"]["schemas"]}}
    return jsonschema_rs.validator_for(root, validate_formats=True)


def check_described(method: str, path: str, response: Any) -> None:
    """Raise unless the document has this answer: its status, its type, its headers, and its body by the schema."""
    answer = _answer(method, path.partition("?")[0], response.status_code)
    for name in answer["headers"].keys() - _SOMETIMES:
        assert name in response.headers, name
    body = response.get_data()
    if response.status_code == 304 or method == "HEAD":
        assert body == b""
        return
    kind = response.headers["Content-Type"].partition(";")[0]
    assert int(response.headers["Content-Length"]) == len(body)
    schema = answer["content"][kind]["schema"]
    validator(json.dumps(schema)).validate(json.loads(body) if kind == "application/json" else body.decode())


def _answer(method: str, path: str, status: int) -> dict[str, Any]:
    document = described()
    responses = document["components"]["responses"]
    item = document["paths"].get(_template(path))
    if item is None:
        return dict(responses["NotFound"])
    operation = item.get(method.lower())
    if operation is None:
        return dict(responses["MethodNotAllowed"])
    return dict(responses[operation["responses"][str(status)]["$ref"].rpartition("/")[2]])


def _template(path: str) -> str:
    if not path.startswith(_PREFIX):
        return path
    _, slash, rest = path.removeprefix(_PREFIX).rpartition("/")
    known = described()["paths"]
    own = _PREFIX + "{session_id}" + slash + rest if slash else ""
    return own if own in known else _PREFIX + "{session_id}"
