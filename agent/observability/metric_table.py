"""Every metric that this product sends, with its labels and what they may say. It sends no other.

Dashboards, alerts, docs and tests are compared with this table. A label holds names out of our own code, never what a
caller sent: so the number of time series has an end, and no content can be in one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

SCOPE: Final = "conversation_memory"

# What a label says where its values are ours but many: a code of the error tree, the name of a route.
ERROR_CODE: Final = "error_code"
ROUTE: Final = "route"

# Seconds. 2.5 and 10 stand in the service levels; 30 is when the platform ends a request.
_DURATION_S: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
# Seconds that a message waited in a queue: up to the seven days that it is kept.
_AGE_S: Final = (0.1, 0.5, 1.0, 5.0, 30.0, 60.0, 300.0, 600.0, 3600.0, 21600.0, 86400.0, 604800.0)
# Bytes: 1 KiB to 16 MiB, by four.
_SIZE_BY: Final = tuple(float(1024 * 4**power) for power in range(8))

CAPTURES: Final = f"{SCOPE}.captures"
CAPTURE_DURATION: Final = f"{SCOPE}.capture.duration"
CAPTURE_SIZE: Final = f"{SCOPE}.capture.size"
TURNS: Final = f"{SCOPE}.turns"
STORE_DURATION: Final = f"{SCOPE}.store.duration"
STORE_RETRIES: Final = f"{SCOPE}.store.retries"
EVENT_AGE: Final = f"{SCOPE}.event.age"
EVENT_REDELIVERIES: Final = f"{SCOPE}.event.redeliveries"
RECALLS: Final = f"{SCOPE}.recalls"
RECALL_DURATION: Final = f"{SCOPE}.recall.duration"
DROPPED: Final = f"{SCOPE}.telemetry.dropped"


class Metric(NamedTuple):
    """One metric. ``labels`` are its attributes with the values they may have; ``buckets`` those of a histogram.

    ``observed``: nobody adds to it, it is asked for when it is sent.
    """

    name: str
    kind: Literal["counter", "histogram"]
    unit: str
    description: str
    labels: Mapping[str, tuple[str, ...]]
    buckets: tuple[float, ...] = ()
    observed: bool = False


_OUTCOME: Final = ("captured", "duplicate", "refused", "failed")
_ANSWERED: Final = ("answered", "refused", "failed")
_TRIGGER: Final = ("http", "event")
_ERROR: Final = (ERROR_CODE,)
_ROUTE: Final = (ROUTE,)

METRICS: Final = (
    Metric(
        CAPTURES,
        "counter",
        "{capture}",
        "Captures by what came of them",
        {"outcome": _OUTCOME, "trigger": _TRIGGER, "error.type": _ERROR},
    ),
    Metric(
        CAPTURE_DURATION,
        "histogram",
        "s",
        "Time from the arrival of a capture to its outcome",
        {"outcome": _OUTCOME, "trigger": _TRIGGER},
        _DURATION_S,
    ),
    Metric(
        CAPTURE_SIZE,
        "histogram",
        "By",
        "Size of the body of a capture that was acknowledged",
        {"trigger": _TRIGGER},
        _SIZE_BY,
    ),
    Metric(
        TURNS,
        "counter",
        "{turn}",
        "Turns by what the store says of them",
        {"state": ("new", "known", "revised", "erased")},
    ),
    Metric(
        STORE_DURATION,
        "histogram",
        "s",
        "Time of a whole append to the store, retries included",
        {"outcome": ("ok", "failed")},
        _DURATION_S,
    ),
    Metric(STORE_RETRIES, "counter", "{retry}", "Attempts of appends after the first", {}),
    Metric(EVENT_AGE, "histogram", "s", "Time from the publication of an event to its arrival here", {}, _AGE_S),
    Metric(EVENT_REDELIVERIES, "counter", "{delivery}", "Deliveries of an event after the first", {}),
    Metric(
        RECALLS,
        "counter",
        "{recall}",
        "Recalls by what came of them",
        {"operation": _ROUTE, "outcome": _ANSWERED, "error.type": _ERROR},
    ),
    Metric(
        RECALL_DURATION,
        "histogram",
        "s",
        "Time from the arrival of a recall to its outcome",
        {"operation": _ROUTE, "outcome": _ANSWERED},
        _DURATION_S,
    ),
    Metric(DROPPED, "counter", "{span}", "Spans that were not sent, or not known to be sent", {}, observed=True),
)
