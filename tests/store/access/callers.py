"""Requests of callers, keys, and clocks that stand until they are moved."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from store.http.access import Guard, Key
from store.http.quotas import Quota, Quotas

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
BOTH = "both-rights-0123456789"
READER = "reader-key-0123456789"
WRITER = "writer-key-0123456789"
ADMIN = "admin-key-0123456789ab"
OTHER = "of-another-tenant-01234"
KEYS = (
    Key.of("acme", BOTH),
    Key.of("acme", READER, "read"),
    Key.of("acme", WRITER, "write"),
    Key.of("acme", ADMIN, "admin"),
    Key.of("globex", OTHER),
)


@dataclass
class Clocks:
    """A monotonic clock and a wall clock."""

    ns: int = 0
    now: datetime = field(default=NOON)

    def monotonic_ns(self) -> int:
        return self.ns

    def wall(self) -> datetime:
        return self.now

    def pass_by(self, seconds: float) -> None:
        self.ns += round(seconds * 1e9)
        self.now += timedelta(seconds=seconds)


def quotas(*of: Quota, clocks: Clocks | None = None) -> Quotas:
    clocks = clocks or Clocks()
    return Quotas(of, monotonic_ns=clocks.monotonic_ns, clock=clocks.wall)


def guard(keys: tuple[Key, ...] = KEYS, *of: Quota, clocks: Clocks | None = None, **more: Any) -> Guard:
    return Guard(keys, quotas=quotas(*of, clocks=clocks), **more)


def request(key: str | None = None, **environ: str) -> dict[str, Any]:
    """A request from another host, with ``key`` as the bearer."""
    bearer = {} if key is None else {"HTTP_AUTHORIZATION": f"Bearer {key}"}
    return {"REQUEST_METHOD": "GET", "REMOTE_ADDR": "203.0.113.9", **bearer, **environ}
