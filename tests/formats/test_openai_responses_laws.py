"""Laws of ``openai-responses``: items come back as they came, bare turns say the same, and a list only grows."""

from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.formats.writing import Session
from tests.formats.response_items import ITEMS, LARGE_IMAGE, check_is_read_or_refused, mutations
from tests.formats.round_trips import again, bare, captures, lines, spoken, stored, written
from tests.formats.sessions import CONVERSATION, memory, session_of, turn
from tests.strategies import json_values

FORM = "openai-responses"
LAW = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
BODY = {"instructions": "Be brief.", "input": ITEMS, "model": "gpt-5"}


def without_success(told: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**each, "results": [result[:2] for result in each["results"]]} for each in told]


def as_list(sent: Any) -> list[Any]:
    return [{"role": "user", "content": sent}] if isinstance(sent, str) else list(sent)


def check_bare(session: Session) -> None:
    """Without what was kept, the same is said; errors and missing arguments are what an output item cannot say."""
    document, result = written(FORM, bare(session))
    read, said = again(FORM, document), spoken(session)
    assert without_success(read) == without_success(said) or result.lost["calls_without_arguments"]
    wrong = [told for told in said if any(success is not None for _, _, success in told["results"])]
    assert result.lost.get("success", 0) == len(wrong)


def test_a_request_comes_back_as_it_was_sent_and_says_the_same_without_what_was_kept() -> None:
    with stored(FORM, BODY) as session:
        document, result = written(FORM, session)
        assert document == {
            "session_id": "a session",
            "conversation_id": document["conversation_id"],
            "instructions": "Be brief.",
            "input": ITEMS,
        }
        # Searches, and files that nobody asked for, have no result; their calls are done all the same.
        assert result.lost == {"calls_without_result": 2}
        assert again(FORM, document) == spoken(session)
        document, result = written(FORM, bare(session))
        assert "instructions" not in document
        assert result.lost == {"calls_without_result": 2, "success": 3, "calls_without_arguments": 1}
        without = [each for each in spoken(session) if each["calls"][:1] and each["calls"][0][2] is ...]
        assert [each["calls"][0][1] for each in without] == ["image_generation"]
        check_bare(session)


def test_every_answer_in_the_shared_data_comes_back_as_it_came(shared) -> None:
    count = 0
    for line in lines(shared / "data" / "api-response__vercel-ai__64.jsonl"):
        body = line["body"]
        if not isinstance(body, dict) or body.get("object") != "response":
            continue
        count += 1
        with stored(FORM, body) as session:
            document, result = written(FORM, session)
            assert document["input"] == body["output"]
            assert again(FORM, document) == spoken(session)
            assert "success" not in result.lost
            check_bare(session)
    assert count == 24


def test_every_recording_in_the_shared_data_comes_back_on_its_last_path(shared) -> None:
    for recording in lines(shared / "data" / "api-recording__pydantic-ai__openai-responses__22.jsonl"):
        requests = [each["request"]["body"] or {} for each in recording["interactions"]]
        told = [each.get("instructions") for each in requests if isinstance(each, dict)]
        came: list[Any] = [{"role": "system", "content": each} for each in told]
        last: list[Any] = []
        for each in recording["interactions"]:
            sent, answer = each["request"]["body"], each["response"]["body"]
            items = as_list(sent["input"]) if isinstance(sent, dict) and "input" in sent else []
            output = answer.get("output") or [] if isinstance(answer, dict) else []
            came += [*items, *output]
            goes_on = isinstance(sent, dict) and "conversation" in sent
            last = [*(last if goes_on or not items else ()), *items, *output]
        with stored(FORM, recording) as session:
            document, _ = written(FORM, session)
            streamed = any(isinstance(each["response"]["body"], str) for each in recording["interactions"])
            assert streamed or all(item in came for item in document["input"])
            assert again(FORM, document) == spoken(session)
            check_bare(session)
            if streamed or len({t.conversation_id for t in session.shown}) > 1:
                continue
            with stored(FORM, {"input": last}) as expected:
                assert spoken(expected) == spoken(session)[len(session.shown) - len(expected.shown) :]


@given(st.lists(st.sampled_from(ITEMS), min_size=1, max_size=12))
@LAW
def test_any_items_come_back_as_they_came_and_say_the_same_without_what_was_kept(items: list[Any]) -> None:
    with stored(FORM, {"input": items}) as session:
        document, result = written(FORM, session)
        assert document["input"] == items
        assert result.lost.keys() <= {"calls_without_result", "repeated_call_ids", "results_without_call"}
        assert again(FORM, document) == spoken(session)
        check_bare(session)


@pytest.mark.parametrize("cut", range(1, len(ITEMS)))
def test_a_list_that_grew_keeps_its_old_turns(cut: int) -> None:
    (before,) = captures(FORM, {"input": ITEMS[:cut]})
    (after,) = captures(FORM, {"input": ITEMS})
    assert after["turns"][: len(before["turns"])] == before["turns"]


def test_a_grown_list_adds_what_is_new_to_the_store() -> None:
    with memory() as store:
        body = {"session_id": "s", "instructions": "Be brief."}
        for cut in (3, 11, 25, len(ITEMS)):
            receipt = store.capture({**body, "input": ITEMS[:cut]}, FORM)
            assert (receipt["turns"]["revised"], receipt["turns"]["new"] > 0) == (0, True)


def with_native(session: Session, natives: list[Any]) -> Session:
    turns = (
        tuple(
            replace(each, fields={**each.fields, "metadata": {**each.fields.get("metadata", {}), "native": native}})
            for each, native in zip(session.shown, natives, strict=False)
        )
        + session.shown[len(natives) :]
    )
    return replace(session, shown=turns, all=turns)


@cache
def session_of_body() -> Session:
    with stored(FORM, BODY) as session:
        return session


@given(st.data())
@settings(LAW, max_examples=40)
def test_lying_native_never_changes_what_is_said(data: st.DataObject) -> None:
    session = session_of_body()
    natives = [each.fields.get("metadata", {}).get("native", {}) for each in session.shown]
    lies = data.draw(mutations({"natives": natives}))
    lies = lies["natives"] if isinstance(lies, dict) and isinstance(lies.get("natives"), list) else [lies] * 9
    said = without_success(spoken(session))
    document, _ = written(FORM, with_native(session, lies[: len(said)]))
    for one, other in zip(without_success(again(FORM, document)), said, strict=True):
        assert one == other or any(call[2] is ... for call in other["calls"])


def test_a_name_that_was_kept_and_is_not_that_of_the_call_never_names_a_result() -> None:
    session = session_of_body()
    said = without_success(spoken(session))
    lies = [{"item": {"name": "another"}} if each["results"] else {} for each in said]
    document, _ = written(FORM, with_native(session, lies))
    assert [each["results"] for each in without_success(again(FORM, document))] == [each["results"] for each in said]


def test_an_edited_turn_says_what_it_says_now() -> None:
    with stored(FORM, {"input": ITEMS}) as session:
        edited = tuple(
            replace(each, content="edited", fields={**each.fields, "content": "edited"}) for each in session.shown
        )
        document, _ = written(FORM, replace(session, shown=edited, all=edited))
        assert {told["content"] for told in again(FORM, document) if not told["calls"]} == {"edited"}


def test_erasing_the_result_of_a_hosted_call_leaves_the_call() -> None:
    item = {"type": "mcp_call", "id": "m", "server_label": "s", "name": "n", "arguments": "{}", "output": "secret"}
    with stored(FORM, {"input": [{"role": "user", "content": "Hi"}, item]}) as session:
        left = tuple(replace(each, erased=each.role == "tool") for each in session.shown)
        document, result = written(FORM, replace(session, shown=left, all=left))
    del item["output"]
    assert document["input"][1] == item
    assert result.erased == 1


def test_digests_stand_for_large_binaries_and_are_counted() -> None:
    image = {"type": "input_image", "image_url": f"data:image/png;base64,{LARGE_IMAGE}"}
    made = {"type": "image_generation_call", "id": "i", "status": "completed", "result": LARGE_IMAGE}
    with stored(FORM, {"input": [{"role": "user", "content": [image]}, made]}) as session:
        document, result = written(FORM, session)
        assert result.lost == {"binaries": 2}
        assert document["input"][0]["content"][0]["image_url"]["bytes"] == 5000
        assert document["input"][1]["result"]["bytes"] == 5000


def test_turns_of_other_formats_become_the_items_that_say_them() -> None:
    call = {"tool_name": "look", "invocation_id": "00000000-0000-4000-9000-000000000001", "arguments": {"a": 1}}
    other = {"tool_name": "a b", "invocation_id": "00000000-0000-4000-9000-000000000002", "arguments": "text"}
    session = session_of(
        turn(1, "Hi"),
        turn(2, "Wait.", "assistant", tool_invocations=[call, other], model="m"),
        turn(3, "both", "tool", tool_invocations=[{**call, "success": True}, other]),
    )
    document, result = written(FORM, session)
    assert document == {
        "session_id": session.session_id,
        "conversation_id": CONVERSATION,
        "input": [
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": "Wait."},
            {"type": "function_call", "call_id": call["invocation_id"], "name": "look", "arguments": '{"a":1}'},
            {"type": "custom_tool_call", "call_id": other["invocation_id"], "name": "a b", "input": "text"},
            {"type": "function_call_output", "call_id": call["invocation_id"], "output": "both"},
            {"type": "custom_tool_call_output", "call_id": other["invocation_id"], "output": "both"},
        ],
    }
    assert result.lost == {
        "models": 1,
        "odd_tool_names": 1,
        "several_results": 1,
        "split_turns": 1,
        "success": 1,
        "times": 3,
    }


@given(mutations(BODY) | mutations(ITEMS) | json_values)
@LAW
def test_whatever_comes_is_read_or_refused(document: Any) -> None:
    check_is_read_or_refused(FORM, document)


ANSWERED = {"id": "r", "object": "response", "created_at": 1, "model": "m", "output": ITEMS[3:8], "usage": {}}
CALLS = {
    "interactions": [
        {"request": {"body": {**BODY, "conversation": "c"}}, "response": {"status": 200, "body": ANSWERED}},
        {"request": {"input": "Hi", "previous_response_id": "r"}, "response": ANSWERED},
    ]
}


@given(mutations(CALLS) | mutations(ANSWERED))
@LAW
def test_whatever_was_recorded_is_read_or_refused(document: Any) -> None:
    check_is_read_or_refused(FORM, document)
