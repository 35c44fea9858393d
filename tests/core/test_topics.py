"""The topics of a session: what sets it apart from the others, by counts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.core.topics import MOST, Candidate, candidates, spoken, topics
from tests.core.said_turns import said, talk


def names(*contents: str) -> list[str]:
    return [candidate.term for candidate in candidates(talk(*contents))]


def test_a_term_that_more_messages_have_weighs_more() -> None:
    assert names("voltage voltage voltage", "current", "current", "nothing")[:2] == ["current", "voltage"]


def test_a_term_that_a_user_said_weighs_more_than_one_of_an_assistant() -> None:
    assert names("voltage", "current") == ["voltage", "current"]
    assert names("voltage", "current", "current") == ["current", "voltage"]


def test_a_short_word_weighs_less_than_a_long_one() -> None:
    assert names("ohm voltage") == ["voltage", "ohm"]


def test_what_was_not_stored_is_no_word() -> None:
    digest = "0123456789abcdef" * 4
    assert names("[omitted:24]", f"[omitted:5:{digest}]", "voltage [redacted:email]") == ["voltage"]
    # One that goes over the end of what is looked at, too.
    assert names("zinc " * 399 + f"[omitted:5:{digest}]") == ["zinc"]
    assert names("[omitted:by me]") == ["omitted"]


def test_equal_weights_stay_in_the_order_in_which_they_were_said() -> None:
    assert names("zinc iron gold") == ["zinc", "iron", "gold"]


def test_there_are_never_more_candidates_than_the_store_is_to_be_asked_for() -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    assert len(names(" ".join(letter * 6 for letter in letters))) == 16


def test_only_what_users_and_assistants_said_is_looked_at() -> None:
    turns = [said(1, "system", "a"), said(2), said(3, "tool", "b"), said(4, "assistant"), said(5, erased=True)]
    assert list(spoken(turns)) == [turns[1], turns[3]]


def test_an_erased_or_empty_message_has_no_terms() -> None:
    assert candidates([said(1, erased=True), said(2, content="")]) == ()


def test_a_long_session_is_known_by_its_later_part() -> None:
    turns = [said(number, content="x") for number in range(1, 1002)]
    assert len(spoken(turns)) == 1000
    assert spoken(turns)[-1] is turns[-1]
    early = [said(1, content="voltage"), *(said(number, content="current " * 250) for number in range(2, 60))]
    assert [candidate.term for candidate in candidates(early)] == ["current"]


def test_a_long_message_is_known_by_its_beginning() -> None:
    assert names("voltage " + "x " * 2000 + "current") == ["voltage"]
    # Not a piece of the word that stands there.
    assert names("x " * 995 + "resistance capacity") == []
    assert names("voltage " + "x" * 1985 + " resistance") == ["voltage"]
    assert names("电压" + "的" * 2000 + "电流") == ["电压"]


def test_what_every_session_has_sets_none_apart() -> None:
    found = [Candidate("flight", 9.0), Candidate("insurance", 3.0)]
    assert topics(found, 100, {"flight": 100, "insurance": 2}) == ("insurance", "flight")
    assert topics(found, 100, {"flight": 2, "insurance": 2}) == ("flight", "insurance")


def test_a_session_alone_is_known_by_its_own_words() -> None:
    found = [Candidate("flight", 9.0), Candidate("insurance", 3.0)]
    assert topics(found, 1, {"flight": 1, "insurance": 1}) == ("flight", "insurance")
    assert topics(found, 0, {}) == ("flight", "insurance")


def test_there_are_at_most_five_topics() -> None:
    found = [Candidate(letter * 5, 1.0) for letter in "abcdefg"]
    assert topics(found, 1, {}) == ("aaaaa", "bbbbb", "ccccc", "ddddd", "eeeee")


@pytest.mark.parametrize(
    ("better", "worse", "is_same"),
    [
        ("booking", "book", True),
        ("book", "bookings", True),
        ("inequality", "inequalities", True),
        ("reservation", "reserve", True),
        ("الفندق", "فندق", True),
        ("红烧肉", "烧肉", True),
        ("数据", "数据库", True),
        ("passenger", "passport", False),
        ("air", "airport", False),
        ("machine", "learning", False),
        ("机器", "学习", False),
    ],
)
def test_of_two_forms_of_a_word_the_better_one_is_a_topic(better: str, worse: str, is_same: bool) -> None:
    found = topics([Candidate(better, 2.0), Candidate(worse, 1.0)], 1, {})
    assert found == ((better,) if is_same else (better, worse))


@given(
    st.lists(
        st.builds(Candidate, st.text(min_size=1, max_size=8), st.floats(0.1, 9)),
        max_size=16,
        unique_by=lambda candidate: candidate.term,
    ),
    st.integers(-1, 10**6),
    st.dictionaries(st.text(min_size=1, max_size=8), st.integers(-1, 10**7)),
)
def test_topics_are_of_the_candidates_whatever_a_store_says(
    found: list[Candidate], sessions: int, having: dict[str, int]
) -> None:
    chosen = topics(found, sessions, having)
    assert len(chosen) == len(set(chosen)) <= MOST
    assert set(chosen) <= {candidate.term for candidate in found}
    assert bool(chosen) == bool(found)
