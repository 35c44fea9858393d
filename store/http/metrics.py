"""What a store server counts, for Prometheus: appends, their time, requests, connections. Of this process only.

No label holds what a caller sent: routes are templates, as ``/v1/sessions/{id}``, and methods those of HTTP. So the
number of series is bounded, whatever is called. Tenants are not told apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from prometheus_client import Metric

_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_OTHER: Final = "other"
# From a page out of the cache to what the capture function waits for at most (CONTRACT 7).
_SECONDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

# Connections in use and idle, now.
PoolSource = Callable[[], tuple[int, int]]


class Metrics:
    """Counts, in a registry of its own. Safe to use from several threads."""

    def __init__(self) -> None:
        # 0.1 s to import, and only a server that shows metrics needs it.
        from prometheus_client import CollectorRegistry, Counter, Histogram

        self._registry = CollectorRegistry()
        appends = Counter("ruvector_appends", "Events appended", ["result"], registry=self._registry)
        self._accepted = appends.labels(result="accepted")
        self._duplicates = appends.labels(result="duplicate")
        self._append_seconds = Histogram(
            "ruvector_append_seconds", "Time of an append in the store", buckets=_SECONDS, registry=self._registry
        )
        self._request_seconds = Histogram(
            "ruvector_request_seconds",
            "Time of a request",
            ["route", "method", "status"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._connections = _Connections()
        self._registry.register(self._connections)

    def observe(self, route: str, method: str, status: int, seconds: float) -> None:
        """One request was answered. ``route`` is the template of its path, never the path."""
        bounded = method if method in _METHODS else _OTHER
        self._request_seconds.labels(route=route, method=bounded, status=str(status)).observe(seconds)

    def appended(self, duplicate: bool, seconds: float) -> None:  # noqa: FBT001 - a receipt's own field, handed on
        """One event was acknowledged, as new or as a duplicate."""
        (self._duplicates if duplicate else self._accepted).inc()
        self._append_seconds.observe(seconds)

    def pool(self, source: PoolSource) -> None:
        """Show what ``source`` says of connections each time the metrics are read."""
        self._connections.source = source

    def exposition(self) -> tuple[str, bytes]:
        """The content type and the text that Prometheus reads."""
        from prometheus_client import generate_latest
        from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

        return CONTENT_TYPE_PLAIN_0_0_4, generate_latest(self._registry)


class _Connections:
    """The gauge of a pool, read when it is shown; a store without a pool has none."""

    def __init__(self) -> None:
        self.source: PoolSource | None = None

    def collect(self) -> Iterator[Metric]:
        from prometheus_client.core import GaugeMetricFamily

        if self.source is not None:
            gauge = GaugeMetricFamily("ruvector_pool_connections", "Connections to the database", labels=["state"])
            for state, count in zip(("in_use", "idle"), self.source(), strict=True):
                gauge.add_metric([state], count)
            yield gauge
