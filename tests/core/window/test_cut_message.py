"""A message that is too long alone is cut in its middle, as little as may be."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.core.window.cut_message import Cut, is_plain, longest, shortest
from tests.core.window.turns import Quarters, said

COUNT = Quarters()
texts = st.text(st.sampled_from("ab e\u0301\u200d\U0001f469\u2764\ufe0f\n"), min_size=2, max_size=400)


def cut(text: str, most: int) -> Cut | None:
    turn = said(1, "user", text)
    return longest(turn, COUNT, whole=COUNT(turn), most=most)


def parts(found: Cut) -> tuple[str, str]:
    assert found.turn.content is not None
    head, tail = found.turn.content.split(f"... [{found.removed} characters removed] ...")
    return head, tail


@given(texts, st.integers(5, 120))
def test_head_and_tail_are_kept_and_the_marker_says_what_is_missing(text: str, most: int) -> None:
    found = cut(text, most)
    if found is None:
        least = shortest(said(1, "user", text), COUNT)
        assert least is None or least.tokens > most
        return
    head, tail = parts(found)
    assert head
    assert text.startswith(head)
    assert text.endswith(tail)
    assert len(head) + found.removed + len(tail) == len(text)
    assert COUNT(found.turn) == found.tokens <= most


@given(st.integers(200, 5000), st.integers(20, 1000))
def test_it_is_as_large_as_fits(length: int, most: int) -> None:
    found = cut("a" * length, most)
    assert found is not None
    head, tail = parts(found)
    assert found.tokens == most or found.removed <= 4 or len(head) + len(tail) == length - 1
    assert 0 <= len(head) - len(tail) <= 1


CHARACTERS = {
    "accent": "e\u0301",
    "skin tone": "\U0001f44d\U0001f3fd",
    "family": "\U0001f469\u200d\U0001f469\U0001f3fb\u200d\U0001f467",
    "heart": "\u2764\ufe0f",
    "keycap": "1\ufe0f\u20e3",
    "flag": "\U0001f1e9\U0001f1ea",
    "flag of tags": "\U0001f3f4\U000e0067\U000e0062\U000e007f",
    "Devanagari": "\u0915\u093f",
    "Tamil": "\u0b95\u0bcb",
    "Thai": "\u0e01\u0e33\u0e49",
    "Hangul letters": "\u1100\u1161\u11a8",
}


@pytest.mark.parametrize("name", CHARACTERS)
@pytest.mark.parametrize("before", ["", "a", "ab"])
def test_no_character_is_parted(name: str, before: str) -> None:
    whole = CHARACTERS[name]
    text = before + whole * 200
    for most in range(14, 80):
        found = cut(text, most)
        assert found is not None
        head, tail = parts(found)
        assert len(head) in range(len(before)) or (len(head) - len(before)) % len(whole) == 0
        assert head
        assert len(tail) % len(whole) == 0


def test_a_text_of_one_character_with_its_marks_is_not_cut() -> None:
    for whole in CHARACTERS.values():
        assert shortest(said(1, "user", whole), COUNT) is None


def test_what_has_more_marks_than_any_writing_is_cut_all_the_same() -> None:
    assert cut("e" + "\u0301" * 5000, 40) is not None


@pytest.mark.parametrize(
    "members",
    [
        {},
        {"metadata": {"agent": "sales"}},
        {"metadata": {"native": {"name": "bob"}}},
        {"metadata": {"native": {"content": "list", "parts": [0, {"type": "text", "text": "said"}]}}},
        {"metadata": {"blocks": [{"type": "text", "text": "said"}]}},
    ],
)
def test_text_alone_is_cut(members: dict[str, Any]) -> None:
    turn = said(1, "user", "said " * 100, **members)
    assert is_plain(turn)
    found = longest(turn, COUNT, whole=COUNT(turn), most=30)
    assert found is not None
    metadata = found.turn.fields.get("metadata", {})
    assert "blocks" not in metadata
    assert "parts" not in metadata.get("native", {})
    assert found.turn.fields["content"] == found.turn.content


@pytest.mark.parametrize(
    "members",
    [
        {"metadata": {"blocks": [{"type": "thinking", "signature": "EqQB+/a=="}]}},
        {"metadata": {"blocks": {"type": "text"}}},
        {"metadata": {"native": {"parts": [{"type": "text", "text": "said", "cache_control": {}}]}}},
        {"metadata": {"native": {"content": [{"type": "image_url", "image_url": {}}]}}},
        {"metadata": {"native": {"reasoning_details": [{"type": "reasoning.encrypted"}]}}},
        {"metadata": "odd"},
        {"tool_invocations": [{"tool_name": "look"}]},
    ],
)
def test_what_has_more_than_text_is_never_cut(members: dict[str, Any]) -> None:
    turn = said(1, "assistant", "said " * 100, **members)
    assert not is_plain(turn)
    assert shortest(turn, COUNT) is None
    assert longest(turn, COUNT, whole=COUNT(turn), most=30) is None


def test_results_and_what_is_empty_are_never_cut() -> None:
    assert not is_plain(said(1, "tool", "said " * 100))
    assert not is_plain(said(1, "user", None))
    assert shortest(said(1, "user", "a"), COUNT) is None
