"""``openai-agents``: the items of a session and the states of runs, read, written and read again."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from agent.errors import ValidationError
from agent.formats import openai_agents
from agent.formats.conversation.message import Call, Conversation, Result
from tests.formats.response_items import ITEMS, check_is_read_or_refused, mutations, unrelated_documents
from tests.formats.round_trips import again, bare, captures, conversations, lines, spoken, stored, written
from tests.strategies import json_values

FORM = "openai-agents"
LAW = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
AGENT = {"name": "Triage"}


def call(call_id: str, name: str = "look") -> dict[str, Any]:
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": "{}", "id": call_id}


def wrapped(kind: str, raw: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": kind, "raw_item": raw, "agent": AGENT, **more}


def state(*items: Any, original: Any = "Hi", waiting: Any = (), **more: Any) -> dict[str, Any]:
    step = {"type": "next_step_interruption", "data": {"interruptions": list(waiting)}} if waiting else None
    return {
        "$schemaVersion": "1.9",
        "original_input": original,
        "generated_items": list(items),
        "current_step": step,
        "current_agent": AGENT,
        "context": {"usage": {"requests": 1}},
        **more,
    }


RUN = state(
    wrapped("reasoning_item", {"type": "reasoning", "id": "rs_1", "summary": []}),
    wrapped("tool_call_item", call("1"), title="Looks it up"),
    wrapped(
        "tool_call_output_item", {"type": "function_call_output", "call_id": "1", "output": "found"}, output="found"
    ),
    wrapped("tool_call_item", call("2", "pay")),
    waiting=[wrapped("tool_approval_item", call("2", "pay"), tool_name="pay")],
    model_responses=[{"output": [call("1")], "usage": {}, "response_id": None}],
)


def read(document: Any) -> Conversation:
    (conversation,) = conversations(FORM, document)
    return conversation


def problems(document: Any) -> list[tuple[str, str]]:
    (error,) = openai_agents.read(document)
    assert isinstance(error, ValidationError)
    return [(problem.path, problem.rule) for problem in error.problems]


def test_a_run_s_items_are_its_turns_after_what_it_was_given() -> None:
    found = read(RUN)
    assert [(m.place, m.role, m.content, m.calls, m.results) for m in found.messages] == [
        ("0", "user", "Hi", (), ()),
        ("1", "assistant", "", (), ()),
        ("2", "assistant", "", (Call("look", "1", {}),), ()),
        ("3", "tool", "found", (), (Result("1"),)),
        ("4", "assistant", "", (Call("pay", "2", {}),), ()),
    ]
    assert [m.metadata for m in found.messages] == [
        None,
        {"agent": "Triage"},
        {"agent": "Triage"},
        None,
        {"agent": "Triage"},
    ]


def test_what_an_approval_waits_for_is_one_call_without_a_result_wherever_it_stands() -> None:
    waiting = wrapped("tool_approval_item", call("2", "pay"))
    for run in (RUN, state(waiting), state(waiting=[waiting]), state(waiting, waiting=[waiting])):
        pending = [each for message in read(run).messages for each in message.calls if each.native_id == "2"]
        assert pending == [Call("pay", "2", {})]
    assert read(RUN).ignored.counts == {
        "approvals of calls that stand there": 1,
        "what a run's state says again": 2,
    }


def test_the_longer_of_a_run_s_lists_counts() -> None:
    short = wrapped("message_output_item", {"type": "message", "role": "assistant", "content": "Bye"})
    run = state(short, session_items=[wrapped("tool_call_item", call("1")), short])
    assert [m.content for m in read(run).messages] == ["Hi", "", "Bye"]


def test_what_a_run_s_state_says_beside_its_items_is_kept_but_no_text_of_them() -> None:
    native = read(RUN).native
    assert native == {"$schemaVersion": "1.9", "current_agent": AGENT, "context": {"usage": {"requests": 1}}}


def test_everything_that_is_wrong_is_named_by_its_path() -> None:
    assert problems({"items": ["x", {"role": "narrator", "content": ""}]}) == [
        ("$.items[0]", "type"),
        ("$.items[1].role", "enum"),
    ]
    assert problems({}) == [("$.items", "required")]
    assert problems([]) == [("$", "minItems")]
    assert problems(3) == [("$", "type")]
    wrong = state(1, {"type": "x"}, {"raw_item": 1}, wrapped("x", {"type": 1}), original=5)
    assert problems(wrong) == [
        ("$.original_input", "type"),
        ("$.generated_items[0]", "type"),
        ("$.generated_items[1].raw_item", "required"),
        ("$.generated_items[2].raw_item", "type"),
        ("$.generated_items[3].raw_item.type", "type"),
    ]
    assert problems({**state(), "session_items": 1}) == [("$.session_items", "type")]


def test_the_items_of_a_session_come_back_as_they_were_and_say_the_same_without_what_was_kept() -> None:
    for document in (ITEMS, {"items": ITEMS, "session_id": "a session"}):
        with stored(FORM, document) as session:
            out, result = written(FORM, session)
            assert out["items"] == ITEMS
            assert result.lost == {"calls_without_result": 2}
            assert openai_agents.detect(out)
            assert again(FORM, out) == spoken(session)
            out, result = written(FORM, bare(session))
            assert result.lost == {"calls_without_result": 2, "success": 3, "calls_without_arguments": 1}
            for read_again, said in zip(again(FORM, out), spoken(session), strict=True):
                errors = {told[2] for told in said["results"]} - {None}
                assert read_again == said or errors or said["calls"][0][2] is ...


def test_a_run_comes_back_as_the_items_of_a_session() -> None:
    with stored(FORM, RUN) as session:
        document, result = written(FORM, session)
        raw = [each["raw_item"] for each in RUN["generated_items"]]
        assert document["items"] == [{"role": "user", "content": "Hi"}, *raw]
        assert result.lost == {"agents": 3, "calls_without_result": 1, "run_items": 1}
        assert again(FORM, document) == spoken(session)


def test_every_state_in_the_shared_data_comes_back_and_says_the_same_without_what_was_kept(shared) -> None:
    found = list(lines(shared / "data" / "openai-agents__run-state__9.jsonl"))
    assert len(found) == 9
    items = 0
    for line in found:
        run = line["state"]
        assert openai_agents.detect(run)
        raw = [each["raw_item"] for each in run["generated_items"]]
        items += len(raw)
        with stored(FORM, run) as session:
            document, _ = written(FORM, session)
            assert document["items"] == [{"role": "user", "content": run["original_input"]}, *raw]
            assert again(FORM, document) == spoken(session)
            assert again(FORM, written(FORM, bare(session))[0]) == spoken(session)
    assert items == 8


@pytest.mark.parametrize("cut", range(len(RUN["generated_items"])))
def test_a_run_that_went_on_keeps_its_old_turns(cut: int) -> None:
    (before,) = captures(FORM, {**RUN, "generated_items": RUN["generated_items"][:cut], "current_step": None})
    (after,) = captures(FORM, RUN)
    assert after["turns"][: len(before["turns"])] == before["turns"]


@given(mutations(RUN) | mutations({"items": ITEMS}) | json_values)
@LAW
def test_whatever_comes_is_read_or_refused(document: Any) -> None:
    check_is_read_or_refused(FORM, document)


def test_nothing_else_in_the_shared_data_is_taken_for_this_format(shared) -> None:
    for name, document in unrelated_documents(shared, "openai-agents__"):
        assert not openai_agents.detect(document), name


@pytest.mark.parametrize(
    "document",
    [
        [{"role": "user", "content": "Hi"}],
        {"items": [{"from": "human", "value": "Hi"}]},
        {"object": "trace", "id": "trace_1"},
        {"$schemaVersion": "1.0"},
    ],
)
def test_documents_of_others_are_not_taken_for_this_format(document: Any) -> None:
    assert not openai_agents.detect(document)
