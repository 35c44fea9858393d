"""Keys, quotas and figures for tests of the surface, as plain as the ports allow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from store.errors import Forbidden, TooManyRequests, Unauthorized


@dataclass
class FakeCaller:
    tenant: str
    key_name: str
    bytes_left: int = 10**12
    spent: list[int] = field(default_factory=list)

    def spend(self, size: int) -> None:
        if size > self.bytes_left:
            raise TooManyRequests("the quota of bytes is used up", 60)
        self.bytes_left -= size
        self.spent.append(size)


@dataclass
class FakeGuard:
    """``keys`` are the rights and the caller of each key. ``calls_left`` bounds the requests of all."""

    keys: dict[str, tuple[set[str], FakeCaller]] = field(default_factory=dict)
    metrics_key: str = "metrics-key"
    calls_left: int = 10**9
    asked: list[str] = field(default_factory=list)

    def check(self, environ: Mapping[str, Any], right: str) -> FakeCaller:
        self.asked.append(right)
        key = environ.get("HTTP_AUTHORIZATION", "").removeprefix("Bearer ")
        if key not in self.keys:
            raise Unauthorized("the key is not known")
        rights, caller = self.keys[key]
        if right not in rights:
            raise Forbidden(f"the key does not have the right {right}")
        if self.calls_left == 0:
            raise TooManyRequests("the quota of requests is used up", 2)
        self.calls_left -= 1
        return caller

    def check_metrics(self, environ: Mapping[str, Any]) -> None:
        self.asked.append("metrics")
        if environ.get("HTTP_AUTHORIZATION") != f"Bearer {self.metrics_key}":
            raise Unauthorized("the key does not open the metrics")


@dataclass
class FakeMetrics:
    observed: list[tuple[str, str, int, float]] = field(default_factory=list)
    appends: list[tuple[bool, float]] = field(default_factory=list)

    def observe(self, route: str, method: str, status: int, seconds: float) -> None:
        self.observed.append((route, method, status, seconds))

    def appended(self, duplicate: bool, seconds: float) -> None:
        self.appends.append((duplicate, seconds))

    def exposition(self) -> tuple[str, bytes]:
        return "text/plain; version=0.0.4; charset=utf-8", b"ruvector_appends_total 1.0\n"
