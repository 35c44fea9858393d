"""From a path and a method to the handler that takes them, and the right that it asks for. Raises 404 and 405.

A template has at most one variable. Paths come decoded (PEP 3333), so a variable that may be any string may hold
slashes; where two templates then fit, the method decides (``DELETE /v1/users/a%2Fexport`` erases the user
``a/export``, a GET of it is the export of ``a``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from store.errors import MethodNotAllowed, NotFound
from store.http.answer import Answer
from store.http.edge import Right
from store.http.request import NO_SUCH_PATH, Request

Handler = Callable[[Request], Answer]
# "open" asks for no key, "metrics" is what the guard decides on its own.
Access = Right | Literal["open", "metrics"]


class Endpoint(NamedTuple):
    """Who may call it, and what it does."""

    access: Access
    handle: Handler


@dataclass(frozen=True, slots=True)
class Route:
    """A path as the OpenAPI document writes it, and its methods; ``any_text``: its variable may hold slashes."""

    template: str
    methods: Mapping[str, Endpoint]
    any_text: bool = False


class Found(NamedTuple):
    """What takes a request, and what its path has in place of the variable."""

    template: str
    endpoint: Endpoint
    variable: str


class _Variable(NamedTuple):
    route: Route
    prefix: str
    suffix: str

    @classmethod
    def of(cls, route: Route) -> _Variable:
        """The parts of the template of ``route``."""
        prefix, _, rest = route.template.partition("{")
        return cls(route, prefix, rest.partition("}")[2])

    def value(self, path: str) -> str | None:
        """What ``path`` has in place of the variable; None where it does not fit."""
        prefix, suffix = self.prefix, self.suffix
        if not (path.startswith(prefix) and path.endswith(suffix) and len(path) > len(prefix) + len(suffix)):
            return None
        value = path[len(prefix) : len(path) - len(suffix)]
        return value if self.route.any_text or "/" not in value else None


class Router:
    """Finds what takes a request. Routes with the same template are one."""

    def __init__(self, routes: Iterable[Route]) -> None:
        merged: dict[str, Route] = {}
        for route in routes:
            known = merged.get(route.template, route)
            merged[route.template] = replace(known, methods={**known.methods, **route.methods})
        self._fixed = {template: route for template, route in merged.items() if "{" not in template}
        variable = [_Variable.of(route) for template, route in merged.items() if "{" in template]
        # The longest suffix first: the more particular template.
        self._variable = sorted(variable, key=lambda one: -len(one.suffix))

    def find(self, path: str, method: str) -> Found:
        """Raises NotFound for an unknown path, MethodNotAllowed for another method of a known one."""
        # RFC 9110 9.3.2: HEAD is GET without the content.
        wanted = "GET" if method == "HEAD" else method
        first: Route | None = None
        for route, variable in self._fitting(path):
            endpoint = route.methods.get(wanted)
            if endpoint is not None:
                return Found(route.template, endpoint, variable)
            first = first or route
        if first is None:
            raise NotFound(NO_SUCH_PATH)
        # Of the most particular template, as it is documented.
        raise MethodNotAllowed(", ".join([*first.methods, "HEAD"] if "GET" in first.methods else first.methods))

    def _fitting(self, path: str) -> Iterable[tuple[Route, str]]:
        fixed = self._fixed.get(path)
        if fixed is not None:
            return ((fixed, ""),)
        return ((one.route, value) for one in self._variable if (value := one.value(path)) is not None)
