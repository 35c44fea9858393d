"""What a text reads as without its escapes, and where each character of that stood."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.content.unescaped import levels, origins

texts = st.text(st.characters(codec="utf-8"), max_size=30)


@given(text=texts, ascii_only=st.booleans())
def test_a_literal_reads_as_what_it_says(text, ascii_only):
    plain = text.replace("\\", "")
    literal = json.dumps(plain, ensure_ascii=ascii_only)
    # Controls that have no letter are escapes by number, and all of them are undone.
    assert levels(literal)[-1] == f'"{plain}"'


@given(said=texts)
def test_each_character_came_from_where_its_escape_began(said):
    text = json.dumps(said)
    first, *more = levels(text)
    if more:
        undone = more[0]
        places = origins(first, range(len(undone) + 1))
        assert places[0] == 0
        assert places[-1] == len(first)
        pieces = [first[start:end] for start, end in pairwise(places)]
        assert [levels(piece)[:2][-1] for piece in pieces] == list(undone)


def test_half_a_pair_is_no_character_of_a_text():
    assert levels("a\\ud83d!") == ("a\\ud83d!", "a\ufffd!")


@pytest.mark.parametrize("text", ["", "plain", "a \\d word", "C:\\Users", "\\x41"])
def test_what_has_no_escapes_of_json_has_one_level(text):
    assert levels(text) == (text,)


def test_of_levels_there_are_few():
    assert len(levels("\\" * 4096)) == 5
