"""Markers say how many turns are missing, and are never taken for a message of the conversation."""

from __future__ import annotations

from agent.core.ids import is_uuid
from agent.core.window.marker import BEGINS, is_marker, marker_turn, missing_at
from agent.core.window.policy import MARKER
from tests.core.window.turns import said


def test_a_marker_says_how_many_turns_are_missing() -> None:
    made = marker_turn(15, MARKER, said(3, "user"))
    assert (made.role, made.content) == ("system", "... [15 messages removed] ...")
    assert made.fields["metadata"]["marker"] == missing_at(made) == 15
    assert made.fields["content"] == made.content
    assert is_uuid(made.turn_id)


def test_a_text_without_a_place_for_the_number_and_braces_are_given_as_they_are() -> None:
    assert marker_turn(2, "[Earlier messages truncated]", said(1, "user")).content == "[Earlier messages truncated]"
    assert marker_turn(2, "{0} {count} {}", said(1, "user")).content == "{0} 2 {}"


def test_where_nothing_is_missing_it_says_that_the_conversation_begins() -> None:
    assert marker_turn(0, MARKER, said(1, "assistant")).content == BEGINS


def test_markers_beside_the_same_turn_are_the_same_and_beside_others_have_other_ids() -> None:
    one, other = said(1, "user"), said(2, "user")
    assert marker_turn(3, MARKER, one) == marker_turn(3, MARKER, one)
    assert len({marker_turn(3, MARKER, each).turn_id for each in (one, other)} | {one.turn_id, other.turn_id}) == 4


def test_a_turn_that_calls_itself_a_marker_is_none() -> None:
    assert is_marker(marker_turn(1, MARKER, said(1, "user")))
    assert not is_marker(said(1, "system", "... [3 messages removed] ...", metadata={"marker": 3}))
    assert not is_marker(said(1, "system"))
