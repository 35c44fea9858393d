"""Laws of windows in formats: any calls and results, whatever ids they reuse, and nothing said that was not counted."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, example, given, reject, settings
from hypothesis import strategies as st

from agent.core.pairs import paired_calls
from agent.core.turn import SessionTurn
from agent.core.window.counted_text import PER_MESSAGE
from agent.core.window.estimate import Estimator
from agent.core.window.policy import STRATEGIES, Policy
from agent.core.window.window import Window, build_window
from agent.errors import BudgetTooSmall
from agent.formats import WRITES
from agent.formats.prompt import extra, needs_user_first, prompt, shaped
from agent.formats.writers import writer
from agent.formats.writing import Session
from tests.formats.prompted import conversation, listed, wrong_with
from tests.formats.providers.rules import problems
from tests.formats.small_sessions import assistant, result, user

LAW = settings(
    deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
MUCH = 100_000
USER_FIRST = [form for form in WRITES if needs_user_first(form)]
# Role, text, and which ids the turn names: calls of an assistant, results of a tool.
Spoken = tuple[str, str, list[int]]


def turns_of(spoken: Sequence[Spoken], *, has_native_ids: bool = False) -> list[SessionTurn]:
    """Turns of one line; the arguments of a call say where it is made."""
    found: list[SessionTurn] = []
    for number, (role, content, ids) in enumerate(spoken):
        entries = [_entry(role, f"{number}.{place}", each, is_native=has_native_ids) for place, each in enumerate(ids)]
        fields = {"role": role, "content": content, **({"tool_invocations": entries} if entries else {})}
        before = found[-1].turn_id if found else None
        found.append(SessionTurn(str(UUID(int=number + 1)), number + 1, "c", before, role, content, False, fields))
    return found


def _entry(role: str, place: str, number: int, *, is_native: bool) -> dict[str, Any]:
    entry: dict[str, Any] = {"invocation_id": str(UUID(int=10**6 + number)), "tool_name": "go"}
    native = {"native_id": f"call_{number}"} if is_native else {}
    return {**entry, **native, **({} if role == "tool" else {"arguments": {"made_at": place}})}


def written(messages: Sequence[SessionTurn], form: str) -> dict[str, Any]:
    """The document of a window of turns that no store has, in the format ``form``."""
    line: list[SessionTurn] = []
    for turn in prompt(messages, form):
        line.append(replace(turn, parent_turn_id=line[-1].turn_id if line else None, seq=len(line) + 1))
    (text,) = writer(form)(Session("s", None, tuple(line), tuple(line), {}, {}, frozenset())).documents
    document: dict[str, Any] = json.loads(text)
    return document


def window_of(turns: Sequence[SessionTurn], budget: int, form: str, strategy: str = "truncate") -> Window:
    policy = Policy(strategy=strategy, max_tokens=budget, min_recent=1, user_first=needs_user_first(form))
    return build_window(turns, policy, Estimator())


texts = st.sampled_from(["", " ", "Hi", "Two\nlines", "ends in a blank ", "of twelve ch"])
spoken = st.one_of(
    st.tuples(st.sampled_from(["user", "assistant", "system"]), texts, st.just([])),
    st.tuples(st.just("assistant"), texts, st.lists(st.integers(0, 5), min_size=1, max_size=3)),
    st.tuples(st.just("tool"), texts, st.lists(st.integers(0, 5), min_size=1, max_size=3)),
)
ANSWERS_TWO_GROUPS: list[Spoken] = [
    ("assistant", "n", [5]),
    ("tool", "a", [5]),
    ("assistant", "bb", [4]),
    ("assistant", "z", []),
    ("assistant", "thanks", [5]),
    ("tool", "both", [4, 5]),
]


@LAW
@given(st.lists(spoken, min_size=1, max_size=12), st.booleans(), st.sampled_from([MUCH, 60, 120]))
@example(ANSWERS_TWO_GROUPS, False, MUCH)
@example(ANSWERS_TWO_GROUPS, True, MUCH)
def test_any_calls_and_results_are_taken_in_every_format_whatever_ids_they_reuse(said, has_native_ids, budget):
    turns = turns_of(said, has_native_ids=has_native_ids)
    for form in WRITES:
        try:
            window = window_of(turns, budget, form)
        except BudgetTooSmall:
            continue
        if window.messages:
            assert problems(form, written(window.messages, form)) == [], form


@LAW
@given(st.lists(spoken, min_size=1, max_size=12), st.booleans())
@example(ANSWERS_TWO_GROUPS, False)
def test_each_result_stands_under_the_id_of_the_call_that_it_answers(said, has_native_ids):
    told = [(role, f"text {number}" if role == "tool" else text, ids) for number, (role, text, ids) in enumerate(said)]
    turns = turns_of(told, has_native_ids=has_native_ids)
    window = window_of(turns, MUCH, "openai-chat").messages
    numbers = {turn.turn_id: number for number, turn in enumerate(turns)}
    answered: dict[str, set[str]] = {}
    for place, call in paired_calls(window).items():
        made_at = f"{numbers[call.place.turn_id]}.{call.place.number}"
        answered.setdefault(f"text {numbers[place.turn_id]}", set()).add(made_at)
    calls: dict[str, str] = {}
    for message in written(window, "openai-chat")["messages"]:
        for made in message.get("tool_calls") or ():
            calls[made["id"]] = json.loads(made["function"]["arguments"])["made_at"]
        if message["role"] == "tool":
            for text in filter(None, message["content"].split("\n")):
                assert calls[message["tool_call_id"]] in answered[text]


@pytest.mark.parametrize("form", WRITES)
def test_a_text_that_answers_several_calls_is_said_once(form):
    for said in (ANSWERS_TWO_GROUPS, [("user", "a", []), ("assistant", "", [1, 2, 3]), ("tool", "both", [1, 2, 3])]):
        document = written(window_of(turns_of(said), MUCH, form).messages, form)
        assert json.dumps(document).count("both") == 1
        assert problems(form, document) == []


@pytest.mark.parametrize("form", ["anthropic", "bedrock-converse"])
@pytest.mark.parametrize("end", [[], [("system", "note", [])], [("system", "note", []), ("user", " ", [])]])
def test_an_answer_that_comes_to_stand_at_the_end_does_not_end_in_white_space(form, end):
    turns = turns_of([("user", "hi", []), ("assistant", "Sure: ", []), *end])
    document = written(turns, form)
    assert problems(form, document) == []
    assert document["messages"][-1]["content"][-1]["text"] == "Sure:"


def test_an_answer_within_the_list_stays_to_the_letter():
    turns = turns_of([("user", "hi", []), ("assistant", "Sure: ", []), ("user", "go on", [])])
    assert written(turns, "anthropic")["messages"][1]["content"][0]["text"] == "Sure: "


@pytest.mark.parametrize("form", USER_FIRST)
def test_a_blank_message_of_a_user_that_has_to_be_there_is_as_short_as_a_text_can_be(form):
    for blank in ("", " "):
        for more in ([], [("assistant", "Hello", [])]):
            turns = turns_of([("user", blank, []), *more])
            document = written(turns, form)
            assert problems(form, document) == []
            assert "Conversation begins" not in str(document)
            assert extra(turns, form) == ["."]
            assert shaped(turns, form).left_out == ()


@pytest.mark.parametrize("form", USER_FIRST)
def test_what_opens_a_window_that_was_not_cut_for_the_format_is_told(form):
    assert extra(turns_of([("assistant", "Hello", [])]), form) == ["[Conversation begins]"]
    assert extra(turns_of([("user", "Hi", []), ("assistant", "Hello", [])]), form) == []
    assert extra([], form) == []


def test_calls_that_a_blank_message_follows_still_wait_for_their_answers():
    session = conversation([user("a"), assistant("", ("call_1", "go", {})), user(" ")])
    assert wrong_with(session, "anthropic") == []
    assert listed(session, "anthropic")[1].left_out == (session.shown[2].turn_id,)
    answered = conversation([user("a"), assistant("", ("call_1", "go", {})), user(" "), result("call_1", "go", "x")])
    assert wrong_with(answered, "gemini") == []


def contents(turns: Sequence[SessionTurn]) -> Iterator[str]:
    return (turn.content or "" for turn in turns)


@LAW
@given(
    st.lists(spoken, min_size=1, max_size=10), st.integers(1, 160), st.sampled_from(STRATEGIES), st.sampled_from(WRITES)
)
@example([("user", "", [])], 20, "truncate", "gemini")
@example([("user", " ", [])], 22, "truncate", "anthropic")
@example([("assistant", "Yes.", []), ("user", "", [])], 20, "truncate", "anthropic")
def test_a_list_says_no_more_than_its_window_counted(said, budget, strategy, form):
    try:
        window = window_of(turns_of(said), budget, form, strategy)
    except BudgetTooSmall:
        reject()
    found = prompt(window.messages, form)
    count = Estimator()
    added = extra(window.messages, form)
    assert len("".join(added)) <= 1
    assert math.ceil(sum(map(len, contents(found))) / 4) <= budget
    # By the counter of the window itself, each part of a result but the first as what is written of its turn there.
    firsts = {turn.turn_id: turn for turn in reversed(found)}
    tokens = count.overhead + sum(
        count(replace(turn, fields={**turn.fields, "tool_invocations": []})) for turn in firsts.values()
    )
    # Where nobody but the system speaks, what is added is a message.
    assert tokens <= window.manifest.tokens + sum(PER_MESSAGE + count.text(text) for text in added)
