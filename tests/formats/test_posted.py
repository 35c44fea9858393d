"""Bodies of every format as they are posted: one conversation each, with what any body may say beside it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent.errors import Problem, ValidationError
from agent.formats import READS, reader
from tests.formats.chat_messages import CAPTURED_AT
from tests.formats.sessions import memory
from tests.fuzz.corpus import foreign

POSTED = {name: json.loads(body) for name, body in foreign(1)}
ASKED = {"role": "user", "content": [{"type": "text", "text": "Where is it?"}]}
SAID = {"role": "assistant", "content": [{"type": "text", "text": "In Bern."}]}


def read(form: str, **body: Any) -> Any:
    return reader(form).read(body, captured_at=CAPTURED_AT)


def refused(form: str, **body: Any) -> list[tuple[str, str]]:
    with pytest.raises(ValidationError) as error:
        read(form, **body)
    return [(problem.path, problem.rule) for problem in error.value.problems]


@pytest.mark.parametrize("form", READS)
def test_a_real_document_of_every_format_is_captured_as_it_is_and_once(form: str) -> None:
    with memory() as kept:
        first = kept.capture(POSTED[form], form)
        assert first["turns"]["new"] > 0
        assert kept.capture(POSTED[form], form)["duplicate"]


@pytest.mark.parametrize("form", READS)
def test_the_payload_says_which_format_it_came_in(form: str) -> None:
    assert read(form, **POSTED[form]).payload["native"]["format"] == form


def test_a_wrapper_is_opened() -> None:
    whole = read("openai-chat", session_id="s", traj=[{"role": "user", "content": "Hi"}])
    assert [turn["content"] for turn in whole.payload["turns"]] == ["Hi"]


def test_a_call_is_captured_with_its_answer() -> None:
    answer = {**SAID, "type": "message", "id": "msg_1", "stop_reason": "end_turn"}
    call = {"request": {"messages": [ASKED], "system": "Be kind."}, "response": answer}
    turns = read("anthropic", session_id="s", **call).payload["turns"]
    assert [(turn["role"], turn["content"]) for turn in turns] == [
        ("system", "Be kind."),
        ("user", "Where is it?"),
        ("assistant", "In Bern."),
    ]


@pytest.mark.parametrize("window", [{"start_index": 2}, {"mode": "delta", "request_id": "r"}])
def test_instructions_sent_with_every_window_are_no_turn_of_it(window: dict[str, Any]) -> None:
    payload = read("anthropic", session_id="s", system="Be kind.", messages=[ASKED], **window).payload
    assert [turn["role"] for turn in payload["turns"]] == ["user"]
    assert "parent_turn_id" not in payload["turns"][0]
    assert payload["native"]["instructions"] == ["Be kind."]


def test_a_window_names_its_turns_as_the_whole_list_does() -> None:
    whole = read("anthropic", session_id="s", messages=[ASKED, SAID, ASKED]).payload["turns"]
    window = read("anthropic", session_id="s", messages=[SAID, ASKED], start_index=1).payload["turns"]
    assert [turn["turn_id"] for turn in window] == [turn["turn_id"] for turn in whole[1:]]


def test_a_window_of_nothing_but_instructions_is_refused() -> None:
    assert refused("anthropic", session_id="s", system="Be kind.", messages=[], start_index=1)


def test_several_conversations_are_not_one_capture() -> None:
    calls = [{"request": {"messages": [{"role": "user", "content": text}]}, "response": {}} for text in ("a", "b")]
    assert refused("openai-chat", session_id="s", interactions=calls) == [("$", "several_conversations")]


@pytest.mark.parametrize("form", READS)
@pytest.mark.parametrize("body", [{}, {"x": 1}, {"messages": 5}, {"records": []}, {"records": [5]}])
def test_a_body_without_a_conversation_is_refused_by_path_and_rule(form: str, body: dict[str, Any]) -> None:
    assert refused(form, session_id="s", **body)


def test_a_session_that_nobody_names_is_asked_for() -> None:
    assert refused("anthropic", messages=[ASKED]) == [("$.session_id", "required")]


def test_what_was_left_out_is_warned_about() -> None:
    call = {"request": {"messages": [ASKED]}, "response": {"status": 500, "body": "oops"}}
    warnings = read("anthropic", session_id="s", interactions=[call]).warnings
    assert Problem("$.response", "ignored") in warnings


def test_more_than_a_capture_holds_is_refused() -> None:
    messages = [{"role": "user", "content": "x"}] * 10_001
    assert refused("openai-chat", session_id="s", messages=messages) == [("$.messages", "too_many_turns")]
