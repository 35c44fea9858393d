"""What stands between the surface and its callers, as the surface sees it: keys with their quotas, and figures.

Without them, as a process embeds the store, everybody is one caller who may do everything and nothing is counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol

from store.port import DEFAULT_TENANT

Right = Literal["read", "write", "admin"]


class Caller(Protocol):
    """Who calls. ``key_name`` is the name of the key, never the key."""

    @property
    def tenant(self) -> str:
        """Whose rows are met."""

    @property
    def key_name(self) -> str:
        """What the audit says."""

    def may(self, right: Right, /) -> bool:
        """Whether it may do this too."""

    def spend(self, size: int, /) -> None:
        """Count ``size`` bytes of a body. Raises TooManyRequests where the quota does not hold them."""


class Guard(Protocol):
    """Who may come in."""

    def check(self, environ: Mapping[str, Any], right: Right, /) -> Caller:
        """The caller of a request. Raises Unauthorized, Forbidden or TooManyRequests."""

    def check_metrics(self, environ: Mapping[str, Any], /) -> object:
        """Return where the figures may be read; raises as ``check`` does."""


class Metrics(Protocol):
    """Counts what the surface does. Never raises into a request."""

    def observe(self, route: str, method: str, status: int, seconds: float, /) -> None:
        """One answer; ``route`` is a path of the OpenAPI document, or ``UNMATCHED``."""

    def appended(self, duplicate: bool, seconds: float, /) -> None:  # noqa: FBT001 - a port's one fact, by position
        """One acknowledged write, and how long the store took for it."""

    def exposition(self) -> tuple[str, bytes]:
        """Content-Type and body for a scraper."""


@dataclass(frozen=True, slots=True)
class _Embedded:
    tenant: str = DEFAULT_TENANT
    key_name: str = "embedded"

    def may(self, right: Right, /) -> bool:  # noqa: ARG002 - the port's signature
        """A process may do everything with a store of its own."""
        return True

    def spend(self, size: int, /) -> None:
        """A process has no quota of itself."""


EMBEDDED: Final[Caller] = _Embedded()
# Of what no route took: paths and methods that clients make up must not become labels.
UNMATCHED: Final = "unmatched"
