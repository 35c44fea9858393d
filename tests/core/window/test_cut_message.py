"""A message that is too long alone is cut in its middle, as little as may be."""

from __future__ import annotations

import unicodedata
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
        assert least is not None
        assert least.tokens > most
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


def test_no_character_is_parted_from_its_marks() -> None:
    accented = "e\u0301" * 300
    for most in range(20, 80):
        found = cut(accented, most)
        assert found is not None
        head, tail = parts(found)
        assert len(head) == 1 or head.endswith("\u0301")
        assert not tail or not unicodedata.combining(tail[0])


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
