"""The JSON Schemas of this product, as package data: what goes in and out, the event, the error, the HTTP surfaces.

A file may refer to another by its name (``capture-output.schema.json``). ``load`` gives a file as it is, ``bundle`` and
the functions that end in ``openapi_bytes`` one document that needs no other file. Refuses two definitions of one name
that differ.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any, Final, cast

NAMES: Final = ("capture-input", "capture-output", "decision-event", "agent-error")
_SUFFIX: Final = ".schema.json"
_OWN: Final = "#/$defs/"


def load(name: str) -> dict[str, Any]:
    """The schema ``name``, one of ``NAMES``, as it stands in its file."""
    return _read(name + _SUFFIX)


def bundle(name: str) -> dict[str, Any]:
    """The schema ``name`` with everything that it refers to under its own ``$defs``."""
    schema = load(name)
    schema["$defs"] = embedded(schema, _OWN, schema.get("$defs", {}))
    return cast("dict[str, Any]", _repointed(schema, _OWN))


@cache
def openapi_bytes() -> bytes:
    """The OpenAPI 3.1 document of the function, self-contained, as JSON bytes."""
    return _openapi("openapi.json")


@cache
def events_openapi_bytes() -> bytes:
    """The OpenAPI 3.1 document of the function that a queue pushes to, self-contained, as JSON bytes."""
    return _openapi("events.openapi.json")


@cache
def recall_openapi_bytes() -> bytes:
    """The OpenAPI 3.1 document of the recall function, self-contained, as JSON bytes."""
    return _openapi("recall.openapi.json")


@cache
def ruvector_openapi_bytes() -> bytes:
    """The OpenAPI 3.1 document of the store, self-contained, as JSON bytes."""
    return _openapi("ruvector.openapi.json")


def _openapi(file_name: str) -> bytes:
    document = _read(file_name)
    prefix = "#/components/schemas/"
    components = document["components"]
    components["schemas"] = embedded(document, prefix, components["schemas"])
    return json.dumps(_repointed(document, prefix), ensure_ascii=False, separators=(",", ":")).encode()


def _read(file_name: str) -> dict[str, Any]:
    return cast("dict[str, Any]", json.loads((files(__name__) / file_name).read_bytes()))


def embedded(document: Any, prefix: str, definitions: dict[str, Any]) -> dict[str, Any]:
    """``definitions`` and those of every file that ``document`` refers to, pointing to one another below ``prefix``."""
    gathered = {name: _repointed(schema, prefix) for name, schema in definitions.items()}
    pending = sorted(_files(document))
    seen: set[str] = set()
    while pending:
        file_name = pending.pop()
        if file_name in seen:
            continue
        seen.add(file_name)
        schema = _read(file_name)
        pending.extend(_files(schema))
        own = schema.pop("$defs", {})
        for keyword in ("$schema", "$id"):
            del schema[keyword]
        for name, definition in {schema["title"]: schema, **own}.items():
            moved = _repointed(definition, prefix)
            if gathered.setdefault(name, moved) != moved:
                raise ValueError(f"{name} is defined twice, differently")
    return gathered


def _files(node: Any) -> set[str]:
    """The names of the schema files that ``node`` refers to."""
    if isinstance(node, list):
        return {name for item in node for name in _files(item)}
    if not isinstance(node, dict):
        return set()
    found = {name for item in node.values() for name in _files(item)}
    reference = node.get("$ref")
    return found | {reference} if isinstance(reference, str) and reference.endswith(_SUFFIX) else found


def _repointed(node: Any, prefix: str) -> Any:
    """``node`` with its references to own definitions and to other files below ``prefix``."""
    if isinstance(node, list):
        return [_repointed(item, prefix) for item in node]
    if not isinstance(node, dict):
        return node
    return {key: _reference(item, prefix) if key == "$ref" else _repointed(item, prefix) for key, item in node.items()}


def _reference(reference: str, prefix: str) -> str:
    if reference.startswith(_OWN):
        return prefix + reference.removeprefix(_OWN)
    if reference.endswith(_SUFFIX):
        words = reference.removesuffix(_SUFFIX).split("-")
        return prefix + "".join(word.capitalize() for word in words)
    return reference
