"""Every path of the surface, each with the right that each of its methods asks for."""

from __future__ import annotations

from tests.store.http.site import SESSION, TURN

RIGHTS: dict[str, dict[str, str]] = {
    "/v1/decision-events": {"GET": "read", "POST": "write"},
    "/v1/decision-events/{execution_ref}": {"GET": "read"},
    "/events/decisions": {"GET": "read", "POST": "write"},
    "/api/v1/decision-events": {"POST": "write"},
    "/v1/sessions": {"GET": "read"},
    "/v1/sessions/{session_id}": {"GET": "read", "DELETE": "admin"},
    "/v1/sessions/{session_id}/turns": {"GET": "read"},
    "/v1/turns/{turn_id}": {"DELETE": "admin"},
    "/v1/users/{user_id}": {"DELETE": "admin"},
    "/v1/users/{user_id}/export": {"GET": "admin"},
    "/v1/audit": {"GET": "admin"},
    "/v1/stats": {"GET": "read"},
    "/health": {"GET": "open"},
    "/ready": {"GET": "open"},
    "/openapi.json": {"GET": "open"},
    "/metrics": {"GET": "metrics"},
}
VARIABLES = {"execution_ref": "r-1", "session_id": SESSION, "turn_id": TURN, "user_id": "u-1"}
METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"]


def concrete(template: str) -> str:
    """A path of ``template`` that ``site.filled`` has something behind."""
    return template.format(**VARIABLES)


def taken(template: str) -> set[str]:
    """The methods that are documented for a path: HEAD wherever GET."""
    methods = set(RIGHTS[template])
    return methods | {"HEAD"} if "GET" in methods else methods


CALLS = [(method, template, right) for template, methods in RIGHTS.items() for method, right in methods.items()]
CALLS += [("HEAD", template, right) for method, template, right in CALLS if method == "GET"]
