"""The loop itself: the same seed makes the same inputs, what fails is found, named, saved and made short."""

import random
from collections.abc import Hashable, Sequence
from pathlib import Path

import pytest

from tests.fuzz import engine
from tests.fuzz.engine import Run, Target, fuzzed
from tests.fuzz.report import BEGIN, END, put_between_markers, table


class Clock:
    """A second passes with each look at it."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


@pytest.fixture(autouse=True)
def _build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "BUILD", tmp_path)
    monkeypatch.setattr(engine, "_SHORTENING_S", 1_000.0)


def numbered(pool: Sequence[bytes], rng: random.Random) -> bytes:
    return rng.choice(pool) + bytes([rng.randrange(65, 91)])


def target(look: object, *seeds: bytes) -> Target:
    return Target("told", seeds or (b"a",), numbered, look)  # type: ignore[arg-type]  # each test has its own


def test_the_same_seed_makes_the_same_inputs() -> None:
    told: list[list[bytes]] = []
    for seed in (1, 1, 2):
        made: list[bytes] = []

        def look(case: bytes, made: list[bytes] = made) -> Hashable:
            made.append(case)
            return len(case)

        fuzzed(target(look), seed=seed, seconds=50, monotonic=Clock())
        told.append(made)
    assert told[0] == told[1] != told[2]
    assert told[0][0] == b"a"
    # An input with a new outcome is mutated further.
    assert max(map(len, told[0])) > 2


def test_what_fails_is_saved_as_short_as_it_fails(tmp_path: Path) -> None:
    def look(case: bytes) -> Hashable:
        if b"!" in case:
            raise KeyError(case.decode())
        return None

    run = fuzzed(target(look, b"x" * 100 + b"!" + b"y" * 100), seed=3, seconds=20, monotonic=Clock())
    (finding,) = run.findings.values()
    assert finding.what.startswith("KeyError at test_engine.py:")
    assert finding.shortest == finding.file.read_bytes() == b"!"
    assert finding.file.parent == tmp_path
    assert "seed 3" in str(run)
    assert repr(b"!") in str(run)


def test_what_never_ends_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "CPU_BOUND_S", 0.05)

    def look(case: bytes) -> Hashable:
        while case == b"a":
            try:
                case.count(b"a")
            except Exception:  # noqa: BLE001 - an edge that catches all of them must not swallow the alarm
                return None
        return None

    run = fuzzed(target(look), seed=1, seconds=2, monotonic=Clock())
    assert list(run.findings) == ["TookTooLong"]


def test_the_table_has_a_row_a_target_and_stands_where_the_last_one_stood(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    text = table([Run("parser", 1, executions=1200, seconds=2.0), Run("parser", 2, executions=800, seconds=2.0)])
    put_between_markers(text, page)
    assert text.splitlines()[2].startswith("| **parser**")
    assert "| 2 000 | 500 | 0 | 0.00 s, 0 bytes | 0 |" in text
    assert page.read_text() == f"before\n{BEGIN}\n\n{text}\n\n{END}\nafter\n"
