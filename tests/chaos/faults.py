"""The faults of the network: which of the two ways they are on, and what each does to what passes there.

A fault of processes, clocks and releases is in ``upheavals``. All chances come from the run's own source.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Literal, NamedTuple

from tests.chaos.act import UNTOUCHED, Act, http_answer

Way = Literal["store", "database"]


class NetworkFault(NamedTuple):
    """``act`` says what happens to what is met; ``share`` of all requests (or pieces of answers) are.

    ``refuses``: nothing listens while it holds, and what was open is cut.
    """

    name: str
    way: Way
    share: float = 1.0
    act: Callable[[random.Random, float], Act] = lambda _chance, _deadline_s: UNTOUCHED
    refuses: bool = False

    def plan(self, chance: random.Random, deadline_s: float) -> Callable[[], Act]:
        """What a proxy asks; ``deadline_s`` is that of the function, which some delays are measured by."""
        return lambda: self.act(chance, deadline_s) if chance.random() < self.share else UNTOUCHED


def _answered(status: int, *, asked: bool = False, body: bytes | None = None, **fields: str) -> Act:
    return Act(instead=http_answer(status, body, **fields), passes_on=asked)


def _date(seconds: float) -> str:
    return format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)


_NONSENSE = ("soon", "-1", "1.5", "Sun, 99 Nov 2026 00:00:00 GMT", "")
_HTML = b"<html><body>Welcome to nginx!</body></html>"

STORE_FAULTS = (
    NetworkFault("store: connections refused", "store", refuses=True),
    NetworkFault(
        "store: delayed, below the deadline", "store", 0.7, lambda chance, _: Act(wait_s=chance.uniform(0.05, 0.4))
    ),
    NetworkFault(
        "store: request delayed beyond the deadline", "store", 0.6, lambda _, deadline: Act(wait_s=deadline + 1)
    ),
    NetworkFault(
        "store: answer delayed beyond the deadline", "store", 0.6, lambda _, deadline: Act(late_s=deadline + 1)
    ),
    NetworkFault(
        "store: cut after the request was passed on",
        "store",
        0.5,
        lambda chance, _: Act(answer="lost", hard=chance.random() < 0.5),
    ),
    NetworkFault(
        "store: cut inside the answer",
        "store",
        0.5,
        lambda chance, _: Act(answer="half", part=chance.random(), hard=chance.random() < 0.5),
    ),
    NetworkFault("store: answer byte by byte, in time", "store", 0.7, lambda *_: Act(answer="trickled", gap_s=0.0005)),
    NetworkFault("store: answer byte by byte, never done", "store", 0.5, lambda *_: Act(answer="trickled", gap_s=0.1)),
    NetworkFault("store: silent after the request", "store", 0.4, lambda *_: Act(answer="swallowed", late_s=3600)),
    NetworkFault("store: 500, not asked", "store", 0.7, lambda *_: _answered(500)),
    NetworkFault("store: 500 in place of its answer", "store", 0.5, lambda *_: _answered(500, asked=True)),
    NetworkFault(
        "store: 502 and 504 in place of its answer",
        "store",
        0.5,
        lambda chance, _: _answered(chance.choice([502, 504]), asked=True),
    ),
    NetworkFault("store: 200 with a page of HTML", "store", 0.5, lambda *_: _answered(200, body=_HTML)),
    NetworkFault("store: 503", "store", 0.8, lambda *_: _answered(503)),
    NetworkFault("store: 503, Retry-After: 1", "store", 0.6, lambda *_: _answered(503, Retry_After="1")),
    NetworkFault("store: 503, Retry-After: a date", "store", 0.6, lambda *_: _answered(503, Retry_After=_date(1))),
    NetworkFault(
        "store: 503, Retry-After: nonsense",
        "store",
        0.8,
        lambda chance, _: _answered(503, Retry_After=chance.choice(_NONSENSE)),
    ),
    NetworkFault("store: 503, Retry-After: an hour", "store", 0.5, lambda *_: _answered(503, Retry_After="3600")),
    NetworkFault("store: 429", "store", 0.8, lambda *_: _answered(429)),
    NetworkFault("store: 429, Retry-After: 1", "store", 0.6, lambda *_: _answered(429, Retry_After="1")),
    NetworkFault("store: 429, Retry-After: a date", "store", 0.6, lambda *_: _answered(429, Retry_After=_date(30))),
    NetworkFault(
        "store: 429, Retry-After: nonsense",
        "store",
        0.8,
        lambda chance, _: _answered(429, Retry_After=chance.choice(_NONSENSE)),
    ),
)
# A piece of PostgreSQL's protocol: an append reads several.
DATABASE_FAULTS = (
    NetworkFault(
        "database: silent beyond the deadline, then cut",
        "database",
        0.05,
        lambda _, deadline: Act(answer="swallowed", late_s=deadline + 1),
    ),
    NetworkFault("database: connections refused", "database", refuses=True),
    NetworkFault(
        "database: delayed, below the deadline",
        "database",
        0.3,
        lambda chance, _: Act(late_s=chance.uniform(0.01, 0.1)),
    ),
    NetworkFault(
        "database: delayed beyond the deadline", "database", 0.05, lambda _, deadline: Act(late_s=deadline + 1)
    ),
    NetworkFault(
        "database: cut after the statement was passed on",
        "database",
        0.05,
        lambda chance, _: Act(answer="lost", hard=chance.random() < 0.5),
    ),
    NetworkFault(
        "database: cut inside the answer",
        "database",
        0.05,
        lambda chance, _: Act(answer="half", part=chance.random(), hard=chance.random() < 0.5),
    ),
    NetworkFault("database: answer byte by byte", "database", 0.2, lambda *_: Act(answer="trickled", gap_s=0.001)),
)
