"""Canaries through every route of every function: its path, each of its parameters, its headers and its body.

The routes and their parameters are those of the OpenAPI documents. One with a body that nobody has planted here fails.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import pytest
from werkzeug.test import Client, TestResponse

from agent.core.ids import session_uuid
from schemas import events_openapi_bytes, openapi_bytes, recall_openapi_bytes, ruvector_openapi_bytes
from tests.leak_watch import SECRET
from tests.leaks.canaries import ALL, first_found
from tests.leaks.doors import without_paths
from tests.leaks.world import (
    BESIDE,
    CAPTURE_KEY,
    METRICS_KEY,
    RECALL_KEY,
    SESSION,
    STORE_KEY,
    World,
    bearer,
    planted,
)

SURFACES: Mapping[str, tuple[Callable[[], bytes], str]] = {
    "capture": (openapi_bytes, CAPTURE_KEY),
    "events": (events_openapi_bytes, CAPTURE_KEY),
    "recall": (recall_openapi_bytes, RECALL_KEY),
    "store": (ruvector_openapi_bytes, STORE_KEY),
}
PUSH = {"message": {"data": base64.b64encode(json.dumps(planted()).encode()).decode(), "attributes": {SECRET: ALL}}}
EVENT = {"type": SECRET, "runId": SECRET, "timestamp": "2026-03-02T08:15:00Z", "payload": {SECRET: ALL, "plan": [ALL]}}
BODIES: Mapping[tuple[str, str], Any] = {
    ("capture", "/"): planted(),
    ("capture", "/conversation-memory"): {"payload": planted()},
    ("capture", "/v1/memory-graph/conversation"): planted(),
    ("events", "/"): PUSH,
    ("recall", "/api/conversation/{session_id}/hydrate"): {"user_message": ALL, "turn_id": SECRET},
    ("recall", "/api/context"): {
        "messages": [{"role": "user", "content": ALL}, {"role": "assistant", "content": ALL}],
        "strategy": "relevant",
        "query": ALL,
        "max_tokens": 9000,
    },
    ("store", "/v1/decision-events"): EVENT,
    ("store", "/events/decisions"): EVENT,
    ("store", "/api/v1/decision-events"): EVENT,
}


class Route(NamedTuple):
    surface: str
    method: str
    path: str

    def __str__(self) -> str:
        return f"{self.surface} {self.method} {self.path}"


def document(surface: str) -> dict[str, Any]:
    return json.loads(SURFACES[surface][0]())


def routes() -> list[Route]:
    # Erasures last: they take away what the others are to find.
    found = [
        Route(surface, method.upper(), path)
        for surface in SURFACES
        for path, methods in document(surface)["paths"].items()
        for method in methods
        if method != "parameters"
    ]
    return sorted(found, key=lambda route: route.method == "DELETE")


def parameters(route: Route, place: str) -> list[str]:
    """The names of a route's parameters in ``place``: query, header, path."""
    whole = document(route.surface)
    item = whole["paths"][route.path]
    found = []
    for each in (*item.get("parameters", ()), *item[route.method.lower()].get("parameters", ())):
        named = whole["components"]["parameters"][each["$ref"].rpartition("/")[2]] if "$ref" in each else each
        if named["in"] == place:
            found.append(named["name"])
    return found


def paths(route: Route, world: World) -> Iterator[str]:
    """The route's path with names that are there, and with canaries in their place."""
    # A capture of its own, since some routes take away what the others are to find.
    session = f"{SESSION} {route.method}" if route.method == "DELETE" else SESSION
    captured = world.post({**planted(), "session_id": session})
    stored = session_uuid(session)
    there = {
        "session_id": SESSION if route.surface == "recall" else stored,
        "execution_ref": captured.headers["X-Execution-Ref"],
        "turn_id": world.client.reads.turns(stored, limit=1).turns[-1].turn_id,
        "user_id": ALL,
    }
    for names in (there, dict.fromkeys(there, ALL), dict.fromkeys(there, SECRET)):
        yield route.path.format(**{name: quote(value, safe="") for name, value in names.items()})
        if "{" not in route.path:
            return


def sent(world: World, route: Route, path: str, *, key: str | None = None, **headers: str) -> TestResponse:
    web: Client = getattr(world, route.surface)
    known = METRICS_KEY if route.path == "/metrics" else SURFACES[route.surface][1]
    body = None
    if route.method == "POST":
        body = json.dumps(BODIES[route.surface, route.path]).encode()
    everything = {**bearer(key or known), **BESIDE, **headers}
    return web.open(path, method=route.method, data=body, headers=everything)


def silent(answer: TestResponse) -> int:
    """Its status; a refusal repeats nothing but the path of what it refuses."""
    told = without_paths(answer.get_data()) if answer.status_code >= 400 else ""
    assert first_found(told + repr(dict(answer.headers))) is None
    return answer.status_code


@pytest.mark.parametrize("route", routes(), ids=str)
def test_a_route_tells_nothing_of_what_it_is_asked(route: Route, world: World) -> None:
    statuses = []
    for path in paths(route, world):
        statuses.append(silent(sent(world, route, path)))
        for name in (*parameters(route, "query"), SECRET):
            silent(sent(world, route, f"{path}?{urlencode({name: ALL})}"))
            silent(sent(world, route, f"{path}?{urlencode({name: SECRET, SECRET: ALL})}"))
        for name in parameters(route, "header"):
            silent(sent(world, route, path, **{name: SECRET}))
    # Planted content went all the way, at least once.
    assert statuses[0] < 400
    path = f"{next(paths(route, world))}?q={SECRET}"
    assert silent(sent(world, route, path, key=f"{SECRET}-key-of-nobody")) in {200, 400, 401}
    assert silent(sent(world, route, f"/{SECRET}/{quote(ALL)}")) in {200, 404, 405}
    assert silent(getattr(world, route.surface).open(path, method="PATCH", data=ALL.encode())) in {401, 405}


def test_each_body_that_is_planted_belongs_to_a_route() -> None:
    posts = [(route.surface, route.path) for route in routes() if route.method == "POST"]
    assert sorted(BODIES) == sorted(posts)
