"""The rows about conversations in Python: what they time is read, written and whole."""

from __future__ import annotations

from pathlib import Path

from agent.sdk import ConversationMemory
from benchmarks.recall import appends, growth, history, listing


def taken(samples):
    return {name: len(side["seconds"]) for name, side in samples.items()}


def test_a_history_is_read_first_and_again_beside_the_same_records(tmp_path: Path):
    samples = history(tmp_path, rounds=1, turns=20)
    assert taken(samples) == {"first": 1, "again": 1, "bare": 1, "bare_jiter": 1}
    with ConversationMemory(tmp_path / "store.db", environ={}) as memory:
        assert {row.turn_count for row in memory.sessions()} == {20}


def test_each_round_reads_one_more_turn_of_both_sessions(tmp_path: Path):
    assert taken(growth(tmp_path, rounds=3, turns=200)) == {"short": 3, "long": 3}
    with ConversationMemory(tmp_path / "store.db", environ={}) as memory:
        # The round that warms up adds one too.
        assert sorted(row.turn_count for row in memory.sessions()) == [104, 204]


def test_both_sides_of_an_append_keep_as_many_messages_of_the_same_text(tmp_path: Path):
    assert taken(appends(tmp_path, rounds=1)) == {"program": 1, "store": 1}
    texts = []
    for name in ("memory.db", "store.db"):
        with ConversationMemory(tmp_path / name, environ={}) as memory:
            [row] = memory.sessions()
            texts.append([message.text for message in memory.for_session(row.session_id).history()])
    assert len(texts[0]) == 2 * 50
    assert texts[0] == texts[1]


def test_the_last_page_of_a_list_is_reached_by_cursors(tmp_path: Path):
    samples = listing(tmp_path, rounds=1, sessions=300)
    assert taken(samples) == {"first": 1, "last": 1}
