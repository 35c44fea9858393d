"""``verify`` of stores with erasures: each is told from a loss, also what a restore applied; and the first capture."""

import json
import random
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from agent.cli.exit_codes import ExitCode
from agent.cli.memory.checking.findings import Finding
from agent.cli.memory.checking.positions import SeenPositions, look_at_empty
from agent.cli.output_format import Format
from agent.ruvector.models import AuditPage
from store.privacy.expiry import expire
from store.upkeep.backup import erasures
from tests.cli.memory.event_store import PLAN, with_store
from tests.cli.memory.test_verify_damage import found, lose, verified
from tests.ruvector.peer import Peer, answer
from tests.store.backups import copied, opened, restored
from tests.store.filled import ACTOR, Filling, session
from tests.store.surface import payload, turn

SEEDS = range(12)
Said = tuple[list[str], int | None]


def told(store: Path) -> Said:
    said = found(store)
    return [each["subject"] for each in said["findings"]], said["unexplained_positions"]


def captured(filling: Filling, number: int, **more: Any) -> None:
    filling.capture(payload(turn(number, f"text {number}"), session=session(number), **more))


def restored_with_ledger(live: Path, folder: Path) -> Path:
    """Events 1 to 8, the erasure 9, a backup, the erasures 10 and 11; what the backup and the ledger make of it."""
    with_store(live, *(partial(captured, number=number) for number in range(1, 9)))
    with_store(live, lambda filling: filling.erase("session", session(1)))
    backup = copied(live, folder / "backup.db")
    with_store(live, lambda filling: [filling.erase("session", session(number)) for number in (2, 3)])
    with opened(live) as store:
        ledger = list(erasures(store))
    restored(backup, folder / "restored.db", ledger, force=False)
    return folder / "restored.db"


def test_a_restored_store_is_whole_and_one_that_lost_an_event_says_which(tmp_path: Path) -> None:
    path = restored_with_ledger(tmp_path / "live.db", tmp_path)
    assert told(path) == ([], 0)
    lose(path, 5)
    assert told(path) == (["position 5"], 0)


def rows_of(path: Path) -> list[dict[str, Any]]:
    with opened(path) as store:
        return [json.loads(row) for row in store.audit(limit=1000)[0]]


def test_the_audit_says_where_an_erasure_stands_and_of_nothing_else(tmp_path: Path) -> None:
    rows = rows_of(restored_with_ledger(tmp_path / "live.db", tmp_path))
    assert [(row["action"], row.get("position")) for row in rows] == [
        *(("erase_session", position) for position in (9, 10, 11)),
        ("restore", None),
    ]
    assert "position" not in rows[-1]


def audited(*erased: int | None, restore: str | None = None) -> bytes:
    """An audit's only page: an erasure for each position, None as an older store says it."""
    rows = [{"action": "erase_session", "subject": "s", **({"position": at} if at else {})} for at in erased]
    rows += [] if restore is None else [{"action": "restore", "subject": restore}]
    named = [{"id": number, "at": "", "key_name": "k", **row} for number, row in enumerate(rows, 1)]
    return json.dumps({"audit": named, "next_after": None}).encode()


def seen_by(audit: bytes, *positions: int) -> Said:
    """What is said of a store with events at ``positions`` and this audit."""
    events = [{"position": position} for position in positions]
    page = json.dumps({"events": events, "next_cursor": "a"}, separators=(",", ":")).encode()
    with Peer(
        answer(200, page), answer(200, b'{"events":[],"next_cursor":"a"}'), answer(404), answer(200, audit)
    ) as peer:
        said = json.loads(verified(peer.url)[1])
    return [f"{each['subject']}: {each['detail']}" for each in said["findings"]], said["unexplained_positions"]


LOST = "no event and no erasure stands there"
CASES: list[tuple[bytes, tuple[int, ...], Said]] = [
    (audited(None), (1, 3), ([], 0)),
    (audited(None), (1, 3, 5), (["positions 2, 4: no event and no erasure stands in 1 of these, or more"], 0)),
    (audited(None, None), (1, 3), ([], 1)),
    (audited(None, None, None, restore="4-6"), (1, 2, 4, 7), ([], 1)),
    (audited(2, None), (1, 4), ([], 0)),
    (audited(2, 3, 9), (1, 4), ([], 0)),
    (audited(2, 9), (1, 4), ([f"position 3: {LOST}"], 0)),
    (audited(3, 6, restore="4-6"), (1, 2, 4, 7), ([], 0)),
    (audited(6, restore="4-6"), (1, 2, 4, 7), ([f"position 3: {LOST}"], 0)),
    (
        audited(5, 6, 10, restore="4-8"),
        (1, 4, 12),
        ([f"positions 2 to 3: {LOST}", *(f"position {at}: {LOST}" for at in (9, 11))], 0),
    ),
    (audited(2**63, -1, 2), (1, 3), ([], 0)),
    (audited(2**63), (1, 4), (["positions 2 to 3: no event and no erasure stands in 1 of these, or more"], 0)),
]


@pytest.mark.parametrize(("audit", "positions", "expected"), CASES)
def test_what_is_said_of_the_positions_without_an_event(
    audit: bytes, positions: tuple[int, ...], expected: Said
) -> None:
    assert seen_by(audit, *positions) == expected


def test_the_first_capture_of_all_that_comes_while_it_looks_is_not_lost() -> None:
    row = {"session_id": "s", "created_at": "", "last_activity": "", "turn_count": 1, "version": 1}
    steps = [
        {"events": [], "next_cursor": None},
        {"sessions": [row], "next_cursor": None},
        {"events": [{"position": 1}], "next_cursor": "a"},
        {"events": [], "next_cursor": "a"},
    ]
    with Peer(*(answer(200, json.dumps(step, separators=(",", ":")).encode()) for step in steps)) as peer:
        code, out, _ = verified(peer.url, Format.JSON)
    said = json.loads(out)
    assert (said["events"], said["findings"], said["unexplained_positions"]) == (1, [], 0)
    assert code is not ExitCode.DIFFERS


class Life:
    """A store that lives: captures, erasures, expiry, and restores of its backups. ``path`` is its database now."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.random = random.Random(seed)
        self.folder, self.path = folder, with_store(folder / "store.db")
        self.sessions = self.steps = 0
        self.backup: Path | None = None

    def step(self) -> None:
        self.steps += 1
        act = self.random.choice(
            [self.capture, self.capture, self.plan, self.erase, self.erase, self.expire, self.restore, self.restore]
        )
        act()

    def written(self, write: Callable[[Filling], Any]) -> None:
        def later(filling: Filling) -> None:
            # Each filling begins at the same time: a life goes on.
            for _ in range(self.steps * 10):
                filling.clock()
            write(filling)

        with_store(self.path, later)

    def capture(self) -> None:
        self.sessions += 1
        context = {"user_id": f"user-{self.sessions % 3}"}
        self.written(lambda filling: captured(filling, self.sessions, context=context))

    def plan(self) -> None:
        self.written(lambda filling: filling.post({**PLAN, "runId": f"plan {self.steps}"}))

    def erase(self) -> None:
        known = [row["session_id"] for row in self.listed()]
        if known:
            name = self.random.choice(known)
            self.written(lambda filling: filling.erase("session", name))

    def listed(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        with_store(self.path, lambda filling: rows.extend(filling.get("/v1/sessions")["sessions"]))
        return rows

    def expire(self) -> None:
        with opened(self.path) as store, store.engine.reading() as connection:
            (middle,) = connection.execute("SELECT avg(activity_us) FROM sessions").fetchone()
        with opened(self.path) as store:
            list(expire(store, before_us=int(middle or 0), actor=ACTOR, dry_run=False, batch=10))

    def restore(self) -> None:
        """The first time a backup is made; then it is put back, with the ledger of what is there."""
        if self.backup is None:
            self.backup = copied(self.path, self.folder / f"backup-{self.steps}.db")
            return
        with opened(self.path) as store:
            ledger = list(erasures(store))
        target = self.folder / f"restored-{self.steps}.db"
        restored(self.backup, target, ledger, force=False)
        self.path, self.backup = target, None

    def positions(self) -> list[int]:
        found: list[int] = []
        with_store(
            self.path,
            lambda filling: found.extend(
                event["position"] for event in filling.get("/v1/decision-events", limit=1000)["events"]
            ),
        )
        return found


def lived(folder: Path, seed: int) -> Life:
    life = Life(folder, seed)
    for _ in range(16):
        life.step()
    return life


def test_the_lives_have_restores_that_applied_erasures_and_erasures_of_what_was_erased(tmp_path: Path) -> None:
    spans = again = 0
    for seed in SEEDS:
        folder = tmp_path / str(seed)
        folder.mkdir()
        rows = rows_of(lived(folder, seed).path)
        spans += any(row["action"] == "restore" and len(set(row["subject"].split("-"))) == 2 for row in rows)
        erased = [row["subject"] for row in rows if row["action"] == "erase_session"]
        again += len(set(erased)) < len(erased)
    assert spans > len(SEEDS) // 4
    assert again > len(SEEDS) // 4


class Older:
    """A store's audit as an older release answers it: without positions."""

    def __init__(self, path: Path) -> None:
        self._rows = [{**row, "position": None} for row in rows_of(path)]

    def audit(self, *, after: int, limit: int) -> AuditPage:
        return AuditPage.model_validate({"audit": self._rows, "next_after": None})


def said_lost_by_an_older_store(life: Life) -> tuple[Finding, ...]:
    seen = SeenPositions()
    for position in life.positions():
        seen.see(position)
    return look_at_empty(Older(life.path), seen).findings  # type: ignore[arg-type]  # reads by what they are asked


@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_was_erased_and_restored_a_whole_store_is_whole_and_each_loss_is_told(
    seed: int, tmp_path: Path
) -> None:
    life = lived(tmp_path, seed)
    assert told(life.path) == ([], 0)
    assert said_lost_by_an_older_store(life) == ()
    # Behind it no loss is without a trace.
    life.capture()
    assert told(life.path) == ([], 0)
    for position in life.positions():
        damaged = Path(shutil.copy(life.path, tmp_path / "damaged.db"))
        lose(damaged, position)
        assert told(damaged) == ([f"position {position}"], 0)
