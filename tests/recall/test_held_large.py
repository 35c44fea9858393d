"""A session of any length is read without ever holding all of its text. Measured, in real embedded stores."""

from __future__ import annotations

import json
import subprocess
import sys
import tracemalloc
import uuid
from pathlib import Path
from typing import Any

import pytest

from agent.recall.held import HeldSessions
from tests.core.session_turns import ONE
from tests.recall.embedded import SESSION, Memory, Watched, embedded

MIB = 1024 * 1024


def fill(store: Memory, turns: int, characters: int, a_capture: int) -> None:
    """A session of this many turns, no two of them with the same text."""
    for start in range(0, turns, a_capture):
        sent = [_turn(number, characters) for number in range(start, start + a_capture)]
        store.capture({"session_id": SESSION, "conversation_id": ONE, "turns": sent})


def _turn(number: int, characters: int) -> dict[str, Any]:
    return {
        "turn_id": str(uuid.UUID(int=number + 1)),
        "role": ("user", "assistant")[number % 2],
        "content": f"{number:08d}" + "x" * (characters - 8),
        "timestamp": "2026-03-02T08:15:00Z",
    }


def test_a_session_of_five_thousand_turns_is_never_in_memory_as_a_whole() -> None:
    with embedded() as store:
        fill(store, 5_000, characters=8_000, a_capture=1_000)
        # Of pages of 100 turns, which are 0.8 MB: the store in this process makes them, and counts too.
        reads = Watched(store.client.reads, page=100)
        sessions = HeldSessions(reads, whole_bytes=MIB)
        tracemalloc.start()
        try:
            held = sessions.session(SESSION)
            kept, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        print(f"text 40 MB, held {kept / 1e6:.1f} MB, at most {peak / 1e6:.1f} MB")
        assert kept < 8e6
        assert peak < 20e6
        assert all(turn.content is None for turn in held.state.turns)
        assert [turn.seq for turn in held.state.history] == list(range(1, 5_001))
        reads.page = 1000
        reads.taken()
        last = held.whole(held.state.history[-50:])
        assert [turn.content[:8] for turn in last if turn.content] == [f"{number:08d}" for number in range(4950, 5000)]
        assert reads.taken() == ["turns"]


READER = """
import json, re, sys
from pathlib import Path
from agent.recall.held import HeldSessions
from tests.recall.embedded import SESSION, embedded

def peak():
    # Not getrusage: what it counts begins with the process that started this one.
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) / 1024

with embedded(sys.argv[1]) as store:
    store.client.reads.turn_rows(SESSION, limit=1000)
    before = peak()
    sessions = HeldSessions(store.client.reads)
    held = sessions.session(SESSION)
    last = held.whole(held.state.history[-50:])
    print(json.dumps({
        "before": before,
        "after": peak(),
        "turns": len(held.state.history),
        "without content": sum(turn.content is None for turn in held.state.turns),
        "last": last[-1].content[:8],
        "again": sessions.session(SESSION).state is held.state,
    }))
"""


@pytest.mark.slow
def test_a_session_of_a_hundred_thousand_turns_is_paged_in_bounded_memory(tmp_path: Path) -> None:
    with embedded(str(tmp_path / "store.db")) as store:
        # 85 MB of text; a capture holds 10 MiB at most.
        fill(store, 100_000, characters=850, a_capture=5_000)
    command = [sys.executable, "-c", READER, str(tmp_path / "store.db")]
    finished = subprocess.run(command, check=True, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    found = json.loads(finished.stdout)
    grown = found["after"] - found["before"]
    print(f"text 81 MiB in 100 000 turns: the process grows by {grown:.0f} MiB to {found['after']:.0f} MiB")
    assert (found["turns"], found["without content"], found["last"]) == (100_000, 100_000, "00099999")
    assert found["again"]
    assert grown < 90
