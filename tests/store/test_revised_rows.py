"""What a session's row says of its turns after captures that revise many of them and bring others, on every engine."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.store import model_lists
from tests.store.engines import EMPTY, opened_empty
from tests.store.model import ModelStore
from tests.store.surface import envelope, payload, turn

# The order of none of these is that of their instants' texts.
TIMES = ["2026-03-02T08:00:03Z", "2026-03-02T09:00:01+01:00", "2026-03-02T08:00:02Z", "2026-03-02T07:59:59-00:30"]


@st.composite
def said(draw: st.DrawFn, number: int) -> dict[str, Any]:
    sent = turn(number, draw(st.sampled_from(["a", "b"])), role=draw(st.sampled_from(["user", "assistant"])))
    sent["timestamp"] = draw(st.sampled_from(TIMES))
    more: dict[str, Any] = draw(
        st.sampled_from(
            [
                {},
                {"token_usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}},
                {"token_usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}},
                {"metadata": {"derived": ["timestamp", "role"]}},
            ]
        )
    )
    return {**sent, **more}


@st.composite
def captures(draw: st.DrawFn) -> dict[str, Any]:
    numbers = draw(st.lists(st.integers(1, 6), min_size=1, max_size=6, unique=True))
    return payload(*[draw(said(number)) for number in numbers])


@given(sent=st.lists(captures(), min_size=2, max_size=5))
@settings(max_examples=150, deadline=None)
def test_a_row_says_the_first_and_last_instants_the_tokens_and_the_first_user_turn_that_there_are_now(
    sent: list[dict[str, Any]],
) -> None:
    for engine in EMPTY:
        model = ModelStore()
        with opened_empty(engine) as surface:
            for capture in sent:
                body = envelope(capture)
                model.append(body, None)
                assert surface.post(body).status_code in (200, 201)
                assert surface.sessions() == model_lists.sessions(model)
