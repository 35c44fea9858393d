"""Options at two places are one: what either asks for is heard, and what gives way is told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.content.policy import MODES
from agent.core.capture_options import CONTENT_MODES, is_same, joined, passed_over, unknown_of
from agent.errors import Problem

modes = st.sampled_from(CONTENT_MODES)
options = st.fixed_dictionaries({}, optional={"content": modes, "create_lineage": st.booleans(), "more": st.integers()})


@given(options, options)
def test_the_narrower_content_holds_and_every_other_member_of_ones_own(own: dict, other: dict) -> None:
    both = joined(own, other)
    asked = [each["content"] for each in (own, other) if "content" in each]
    assert both.get("content") == max(asked, key=CONTENT_MODES.index, default=None)
    assert {name: value for name, value in both.items() if name != "content"} == {
        name: value for name, value in {**other, **own}.items() if name != "content"
    }
    assert joined(own, both) == both
    lost = [name for name in other if name != "content" and both[name] != other[name]]
    assert passed_over(own, other, "$.o") == [Problem(f"$.o.{name}", "ignored") for name in lost]


@given(options)
def test_none_is_no_options(own: dict) -> None:
    assert joined(own, None) == joined(None, own) == own
    assert joined(None, None) is None
    assert passed_over(own, None, "$") == passed_over(None, own, "$") == []


@pytest.mark.parametrize("wrong", ["none", ["none"], 0, False, "", {"content": "NONE"}, {"content": None}])
def test_what_is_wrong_at_either_place_stays_to_be_refused(wrong: object) -> None:
    own = {"content": "none"}
    assert joined(own, wrong) == joined(wrong, own) == wrong


@given(options)
def test_to_ask_for_the_default_is_to_ask_for_nothing(own: dict) -> None:
    defaults = {"content": "full", "create_lineage": True}
    assert is_same(own, {**defaults, **own})
    assert is_same(None, {})
    assert is_same({}, defaults)
    assert not is_same(own, {**own, "extract_entities": True})


@pytest.mark.parametrize("wrong", ["none", 0, False, "", [], {"create_lineage": 1}, {"content": None}])
def test_what_is_wrong_is_the_same_as_nothing_that_is_right(wrong: object) -> None:
    assert is_same(wrong, wrong)
    assert not is_same(wrong, None)
    assert not is_same({}, wrong)


def test_what_is_no_option_and_not_ones_own_is_told() -> None:
    assert unknown_of({"more": 1}, {"more": 2, "other": 3, "content": "full"}, "$.o") == [
        Problem("$.o.other", "ignored")
    ]
    assert unknown_of(None, {"other": 3}, "$.o") == [Problem("$.o.other", "ignored")]
    assert unknown_of(5, {"other": 3}, "$.o") == unknown_of({}, None, "$.o") == []


def test_the_modes_that_a_caller_may_name_are_those_of_the_operator():
    # Two tables: a start loads the operator's, and nothing of what only a request needs.
    assert CONTENT_MODES == MODES
