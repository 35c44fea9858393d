"""Every part fails in turn while 16 clients capture: what was acknowledged is stored once and in order, every refusal
has its code, and no capture is longer than its deadline.

CHAOS_CAPTURES says how many (300 in the suite, under the rolls and two faults of each kind; `make chaos` sends 20 000
under all), CHAOS_SEED which chances. CHAOS_REPORT names the document that the table is written into.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.chaos.ledger import Ledger
from tests.chaos.old_release import revision_of
from tests.chaos.parts import Life
from tests.chaos.proof import Proof, verified
from tests.chaos.report import Told, markdown, put_between_markers
from tests.chaos.schedule import Run, planned
from tests.chaos.system import System, system
from tests.store.postgres_server import Postgres, start

CAPTURES = int(os.environ.get("CHAOS_CAPTURES", "300"))
SEED = int(os.environ.get("CHAOS_SEED", "20261128"))
REPORT = os.environ.get("CHAOS_REPORT")
IS_WHOLE = CAPTURES >= 5000
DEADLINE_S = 3.0 if IS_WHOLE else 1.5
HOLD_S = 3.0 if IS_WHOLE else 0.5
# A short run has a few faults of each kind, by chance.
ROUNDS = 2 if CAPTURES >= 15_000 else 1
FEW = None if IS_WHOLE else 2
# What a capture may take beside the store's deadline: to be read and checked, and to get a processor among all others
# of this machine, the clients and the proxies of the run included. A short run tells how long they took, no more.
BESIDE_S = 2.0
# What a process may hold more at its end than after its first captures: threads and connections that are kept.
MORE_RSS = 96 * 2**20
MORE_THREADS = 40
MORE_FILES = 80

pytestmark = pytest.mark.slow


@pytest.fixture
def postgres() -> Iterator[Postgres]:
    """A server that flushes what it commits."""
    running = start(fsync=True)
    yield running
    running.remove()


def test_nothing_acknowledged_is_lost_doubled_or_out_of_order_whatever_fails(
    tmp_path: Path, postgres: Postgres
) -> None:
    began, load = time.monotonic(), os.getloadavg()[0]
    at = datetime.now(UTC)
    chance = random.Random(SEED)
    print(f"\nCHAOS_CAPTURES={CAPTURES} CHAOS_SEED={SEED}")
    with system(tmp_path, postgres, DEADLINE_S) as parts:
        if parts.old is None:
            print("rolls left out: this copy of the repository has no history with an older release")
        plan = planned(chance, ROUNDS, FEW, has_old=parts.old is not None)
        run = Run(parts, chance, plan, CAPTURES, HOLD_S)
        run()
        findings = Proof(parts.store.url, postgres, parts.database, run.ledger).check()
        verified(tmp_path, parts.store.url, parts.database)
        lives = ended(parts)
    told = Told(
        f"make chaos CHAOS_CAPTURES={CAPTURES} CHAOS_SEED={SEED}",
        at,
        time.monotonic() - began,
        revision_of(),
        parts.old and parts.old.revision,
        DEADLINE_S,
        DEADLINE_S + BESIDE_S,
        load,
        sum(part.failed_starts for part in parts.parts()),
    )
    text = markdown(told, run.ledger, findings, lives)
    print(text)
    if REPORT:
        put_between_markers(Path(REPORT), text)
    assert run.ledger.wrong == []
    findings.none()
    assert no_internal_errors(run.ledger) == {}
    assert run.ledger.count() == CAPTURES
    if IS_WHOLE:
        assert {name: row.slowest for name, row in run.ledger.rows.items() if row.slowest > told.bound_s} == {}
        assert [life for life in lives if grown(life)] == []


def ended(parts: System) -> list[Life]:
    """The lives of all processes, now that the last of them are over: each ended by SIGTERM in peace."""
    for part in parts.parts():
        if part.process is not None:
            part.end()
    return parts.lives()


def no_internal_errors(ledger: Ledger) -> dict[str, int]:
    """Faults of ours: whatever fails around the function has a code of its own."""
    found = {name: row.answers["500 INTERNAL_ERROR"] for name, row in ledger.rows.items()}
    return {name: count for name, count in found.items() if count}


def grown(life: Life) -> bool:
    first, last = life.first, life.last
    return (
        last.rss - first.rss > MORE_RSS
        or last.threads - first.threads > MORE_THREADS
        or last.files - first.files > MORE_FILES
    )
