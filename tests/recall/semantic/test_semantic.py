"""How near messages are to a query: order, memory, files, what is left for later, and what is erased."""

import dataclasses
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.core.window.marker import marker_turn
from agent.recall.semantic.embedder import Embedder
from agent.recall.semantic.said import Said, said, text_of
from agent.recall.semantic.semantic import Embedded
from agent.recall.semantic.vector_files import VectorFiles
from tests.recall.semantic.said_turns import MODEL, SESSION, semantic, turn, turn_id, turns
from tests.recall.semantic.tiny import WORDS

TALK = turns("where is my parcel ?", "it has been sent to bern", "the cat sat on the mat", "hello", "rain today")
SHARED = semantic()


def files(folder: Path) -> VectorFiles:
    return VectorFiles(folder, MODEL)


def filed(folder: Path) -> list[str]:
    return [each.turn_id for each in files(folder).of(SESSION).read().filed]


def test_what_says_the_same_is_nearest_and_scores_are_0_to_1() -> None:
    scores = SHARED.rank(TALK, "the cat sat on the mat")
    assert max(scores) == scores[2] > 0.99
    assert all(0 <= score <= 1 for score in scores)
    assert SHARED.rank(TALK, "where is the parcel")[0] == max(SHARED.rank(TALK, "where is the parcel"))


words = st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join)


@settings(max_examples=50)
@given(st.lists(words, max_size=6), words)
def test_a_message_has_the_same_score_whatever_stands_beside_it(contents: list[str], query: str) -> None:
    scores = SHARED.rank(turns(*contents), query)
    assert len(scores) == len(contents)
    alone = [SHARED.rank([each], query)[0] for each in turns(*contents)]
    assert scores == pytest.approx(alone, abs=1e-6)


def test_of_a_long_message_the_nearest_part_counts() -> None:
    long = "hello thanks yes " * 30 + "the cat sat on the mat " * 5 + "no and of for " * 30
    short = "hello thanks yes no"
    scores = SHARED.rank(turns(long, short), "the cat sat on the mat")
    assert scores[0] > scores[1]


def test_a_name_that_many_messages_say_counts_half() -> None:
    talk = turns(*(f"Bern : {word}" for word in WORDS[:20]))
    embedder = Embedder(MODEL)
    query, bare = (embedder.vectors(text)[0] for text in ("where did Bern lost the cat ?", "where did lost the cat ?"))
    asked = (query + bare) / np.linalg.norm(query + bare)
    expected = [max(0.0, float(embedder.vectors(str(each.content))[0] @ asked)) for each in talk]
    assert SHARED.rank(talk, "where did Bern lost the cat ?") == pytest.approx(expected, abs=0.005)
    # Of nine messages none is a name's.
    few = [max(0.0, float(embedder.vectors(str(each.content))[0] @ query)) for each in talk[:9]]
    assert SHARED.rank(talk[:9], "where did Bern lost the cat ?") == pytest.approx(few, abs=0.005)


def test_what_says_nothing_scores_0() -> None:
    call = turn(2, "", role="assistant", tool_invocations=[{"tool_name": "parcel", "arguments": {"to": "bern"}}])
    marker = marker_turn(3, "{count} messages removed", call)
    nothing = [turn(1, " \n"), turn(3, None, erased=True), marker, turn(4, None)]
    assert SHARED.rank(nothing, "parcel") == [0.0] * 4
    assert SHARED.rank([call], "parcel to bern")[0] > 0
    assert SHARED.rank(TALK, "  ") == [0.0] * len(TALK)
    assert SHARED.rank([], "parcel") == []


def test_a_call_without_text_says_what_it_called_and_with_what() -> None:
    calls = [{"tool_name": "track", "arguments": {"n": 7}}, {"tool_name": 7, "arguments": "text"}, {"arguments": None}]
    assert text_of("", calls) == 'track {"n":7}\n7 text'
    assert text_of("said", calls) == "said"
    assert text_of(None, [{"tool_name": "big", "arguments": 10**40}, {"arguments": "\ud800"}]) == "big\n\ud800"


def test_the_second_reader_finds_what_the_first_one_filed(tmp_path: Path) -> None:
    first = semantic(tmp_path).rank(TALK, "parcel", session_id=SESSION)
    assert filed(tmp_path) == [each.turn_id for each in TALK]
    # It may compute nothing at all.
    assert semantic(tmp_path, most_new=0).rank(TALK, "parcel", session_id=SESSION) == first
    assert semantic(tmp_path, most_new=0).rank(TALK, "parcel") == [0.0] * len(TALK)


def test_without_a_session_nothing_is_filed(tmp_path: Path) -> None:
    reader = semantic(tmp_path)
    assert reader.ranker(None)(TALK, "parcel") == reader.ranker(SESSION)(TALK, "parcel")
    reader.rank(turns("boat"), "boat", session_id="no uuid ../../x")
    assert filed(tmp_path) == []


def test_a_revised_turn_is_filed_again(tmp_path: Path) -> None:
    reader = semantic(tmp_path)
    reader.rank([turn(1, "parcel")], "parcel", session_id=SESSION)
    reader.rank([turn(1, "boat")], "parcel", session_id=SESSION)
    assert filed(tmp_path) == [turn_id(1), turn_id(1)]


def test_of_more_than_one_call_may_compute_the_newest_come_first() -> None:
    reader = semantic(most_new=2)
    scores = [[score > 0 for score in reader.rank(TALK, "the cat")] for _ in range(3)]
    assert scores == [[False] * 3 + [True] * 2, [False] + [True] * 4, [True] * 5]


def test_memory_holds_no_more_than_it_may(tmp_path: Path) -> None:
    reader = semantic(tmp_path, most_held=2)
    first = reader.rank(TALK, "parcel", session_id=SESSION)
    assert reader.rank(TALK, "parcel", session_id=SESSION) == first
    assert len(filed(tmp_path)) == len(TALK)


def test_the_vectors_of_turns_that_a_reader_sees_erased_are_gone(tmp_path: Path) -> None:
    reader = semantic(tmp_path)
    reader.rank(TALK, "parcel", session_id=SESSION)
    path = files(tmp_path).of(SESSION).path
    erased = [dataclasses.replace(TALK[0], content=None, erased=True), *TALK[1:]]
    assert reader.rank(erased, "parcel", session_id=SESSION)[0] == 0.0
    assert turn_id(1) not in filed(tmp_path)
    assert said(TALK[0]).digest not in path.read_bytes()  # type: ignore[union-attr]  # it says something
    written = path.stat().st_mtime_ns
    reader.rank(erased, "parcel", session_id=SESSION)
    assert path.stat().st_mtime_ns == written


def test_memory_forgets_what_is_erased_too(tmp_path: Path) -> None:
    reader = semantic(tmp_path, most_new=1)
    reader.rank(TALK[:1], "parcel", session_id=SESSION)
    assert reader.forget(SESSION, {turn_id(1)}) == 1
    assert reader.embed(SESSION, []) == Embedded(0, 0, 0)
    texts = [Said(turn_id(1), 1, "where is my parcel ?"), Said(turn_id(2), 2, "hello"), Said(turn_id(3), 3, "hello")]
    assert reader.embed(SESSION, texts) == Embedded(1, 0, 1)
    assert reader.embed(SESSION, texts) == Embedded(1, 1, 0)
    assert semantic().forget(SESSION, {turn_id(1)}) == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_folder_that_may_not_be_written_costs_time_and_nothing_else(tmp_path: Path) -> None:
    expected = SHARED.rank(TALK, "parcel")
    (tmp_path / "cache").mkdir(mode=0o500)
    assert semantic(tmp_path / "cache").rank(TALK, "parcel", session_id=SESSION) == expected


def test_a_folder_that_is_none_costs_time_and_nothing_else(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.write_text("a file")
    erased = [*TALK, turn(9, None, erased=True)]
    assert semantic(cache).rank(erased, "parcel", session_id=SESSION) == SHARED.rank(erased, "parcel")
    with pytest.raises((FileExistsError, NotADirectoryError)):
        semantic(cache).embed(SESSION, [Said(turn_id(1), 1, "hello")])


def test_the_files_that_were_written_longest_ago_are_trimmed(tmp_path: Path) -> None:
    sessions = [SESSION[:-1] + digit for digit in "123"]
    for age, session in enumerate(sessions):
        semantic(tmp_path).embed(session, [Said(turn_id(1), 1, "hello")])
        os.utime(files(tmp_path).of(session).path, (1000 + age, 1000 + age))
    size = files(tmp_path).of(SESSION[:-1] + "1").path.stat().st_size
    assert VectorFiles(tmp_path, MODEL, most_bytes=2 * size).trim() == 1
    assert set(files(tmp_path).sessions()) == set(sessions[1:])


def test_a_file_is_named_by_a_uuid_alone(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="UUID"):
        files(tmp_path).of("../../etc/passwd")
    assert files(tmp_path).of(SESSION.upper()).path == files(tmp_path).of(SESSION).path
