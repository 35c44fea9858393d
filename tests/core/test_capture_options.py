"""Options at two places are one: what either asks for is heard, and what gives way is told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.core.capture_options import CONTENT_MODES, joined, passed_over
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
