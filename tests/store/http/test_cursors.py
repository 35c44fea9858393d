"""Cursors: opaque, bound to their list, and harmless when they are changed."""

from __future__ import annotations

import base64
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.errors import BadRequest
from store.http.cursor import binding, read_cursor, read_sessions_cursor, write_cursor, write_sessions_cursor
from store.port import SessionsCursor

POSITIONS = st.integers(0, 2**63 - 1)
SIGNED = st.integers(-(2**63), 2**63 - 1)
PLACES = st.builds(SessionsCursor, POSITIONS, SIGNED, SIGNED)
FILTERS = st.lists(st.one_of(st.none(), st.booleans(), st.text(), SIGNED))


@given(POSITIONS, st.text())
def test_a_position_comes_back_for_its_own_list_alone(position: int, bound: str) -> None:
    text = write_cursor(position, bound)
    assert re.fullmatch(r"[A-Za-z0-9_-]{20}", text)
    assert read_cursor(text, bound) == position
    with pytest.raises(BadRequest):
        read_cursor(text, bound + "x")
    with pytest.raises(BadRequest):
        read_sessions_cursor(text, bound)


@given(PLACES, st.text())
def test_a_place_among_sessions_comes_back_for_its_own_list_alone(place: SessionsCursor, bound: str) -> None:
    text = write_sessions_cursor(place, bound)
    assert re.fullmatch(r"[A-Za-z0-9_-]{44}", text)
    assert read_sessions_cursor(text, bound) == place
    with pytest.raises(BadRequest):
        read_sessions_cursor(text, bound + "x")
    with pytest.raises(BadRequest):
        read_cursor(text, bound)


@settings(max_examples=300)
@given(PLACES, st.data())
def test_a_cursor_that_was_changed_is_refused(place: SessionsCursor, data: st.DataObject) -> None:
    text = write_sessions_cursor(place, "list")
    at = data.draw(st.integers(0, len(text) - 1))
    other = data.draw(st.characters().filter(lambda letter: letter != text[at]))
    with pytest.raises(BadRequest):
        read_sessions_cursor(text[:at] + other + text[at + 1 :], "list")


@given(st.one_of(st.text(), st.binary(max_size=40).map(lambda raw: base64.urlsafe_b64encode(raw).decode())))
def test_what_nobody_wrote_is_refused(text: str) -> None:
    for read in (read_cursor, read_sessions_cursor):
        with pytest.raises(BadRequest):
            read(text, "list")


def test_a_forged_place_beyond_every_position_is_refused() -> None:
    with pytest.raises(BadRequest):
        read_sessions_cursor(write_sessions_cursor(SessionsCursor(2**63, 0, 0), "list"), "list")


@settings(max_examples=300)
@given(FILTERS, FILTERS)
def test_two_lists_never_have_the_same_binding(one: list[str], other: list[str]) -> None:
    # To Python True is 1.
    same = [(type(value), value) for value in one] == [(type(value), value) for value in other]
    assert (binding(*one) == binding(*other)) == same
