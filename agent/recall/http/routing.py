"""From a path and a method to the operation that answers them. Raises 404 and 405.

A session's id is one part of the path. Where the server does not say how it was sent, an id may hold slashes all the
same, and the last part is what is asked of the session if it is the name of something.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from agent.errors import MethodNotAllowed, NotFound
from agent.recall.http.path import Path, path_of

_READ: Final = ("GET", "HEAD")
_SESSION: Final = ("api", "conversation")
# By what is asked, the methods that ask it.
FIXED: Final = {
    ("api", "conversations"): "conversations",
    ("api", "stats"): "store_stats",
    ("api", "context"): "posted_context",
    ("health",): "health",
    ("openapi.json",): "openapi",
}
OF_A_SESSION: Final = {
    "": "conversation",
    "state": "state",
    "summary": "summary",
    "insights": "insights",
    "stats": "stats",
    "graph": "graph",
    "export": "export",
    "context": "context",
    "hydrate": "hydrate",
}
_METHODS: Final = {"hydrate": ("POST",), "posted_context": ("POST",)}
# What asks for no key: it says nothing of anybody.
OPEN: Final = frozenset({"health", "openapi"})


class Found(NamedTuple):
    """An operation; ``session`` is its session as the path names it, empty where it is of none."""

    operation: str
    session: str


def find(environ: Mapping[str, Any]) -> Found:
    """What answers the request. Raises NotFound for an unknown path, MethodNotAllowed for a method that it lacks."""
    found = _found(path_of(environ))
    allowed = _METHODS.get(found.operation, _READ)
    if environ["REQUEST_METHOD"] not in allowed:
        names = ", ".join(allowed)
        raise MethodNotAllowed(f"this path answers {names}", headers={"Allow": names})
    return found


def _found(path: Path) -> Found:
    fixed = FIXED.get(path.parts)
    if fixed is not None:
        return Found(fixed, "")
    if path.parts[:2] == _SESSION:
        named, asked = _split(path)
        if named and asked in OF_A_SESSION:
            return Found(OF_A_SESSION[asked], named)
    raise NotFound(_no_such_path())


def _no_such_path() -> str:
    """Says what there is: most who miss a path misspelt it, or left a slash of an id as it is."""
    fixed = ", ".join(f"/{'/'.join(parts)}" for parts in FIXED)
    asked = ", ".join(f"/{name}" for name in OF_A_SESSION if name)
    session = f"/{'/'.join(_SESSION)}/{{session_id}}"
    return (
        f"there is nothing at this path; there is {fixed}, {session}, and of a session {asked} behind that; "
        "a slash within an id is written %2F"
    )


def _split(path: Path) -> tuple[str, str | None]:
    """The session's name, and what is asked of it; None where the path goes on behind that."""
    parts = path.parts[2:]
    if path.is_exact:
        return parts[0] if parts else "", _asked(parts)
    if len(parts) > 1 and parts[-1] and parts[-1] in OF_A_SESSION:
        return "/".join(parts[:-1]), parts[-1]
    return "/".join(parts), ""


def _asked(parts: tuple[str, ...]) -> str | None:
    if len(parts) > 2 or parts[1:] == ("",):
        # A slash at the end is not the session itself.
        return None
    return parts[1] if len(parts) == 2 else ""
