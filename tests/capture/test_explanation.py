"""All problems of a payload in one answer, without its values (CONTRACT 2; field case H35)."""

import orjson
import pytest

from agent.core.ids import name_uuid
from tests.capture.cases import ABSENT, BASE, CALL, FIRST, changed, problems, refusal


def test_every_problem_is_named_in_the_order_of_the_text():
    payload = changed("turns", 1, "role", "bot")
    payload["turns"][1]["turn_id"] = FIRST
    payload["turns"][0]["content"] = 4
    del payload["turns"][0]["timestamp"]
    payload["context"] = {"tags": "x"}
    payload["capture_options"] = {"content": "some", "create_lineage": None}
    del payload["session_id"]
    error = refusal(payload)
    assert [(problem.path, problem.rule) for problem in error.problems] == [
        ("$.turns[0].content", "type"),
        ("$.turns[0].timestamp", "required"),
        ("$.turns[1].turn_id", "turn_id_unique"),
        ("$.turns[1].role", "enum"),
        ("$.context.tags", "type"),
        ("$.capture_options.content", "enum"),
        ("$.capture_options.create_lineage", "type"),
        ("$.session_id", "required"),
    ]
    assert error.message == "8 problems; first: $.turns[0].content: must be string"
    assert error.details == {"errors": [problem.as_dict() for problem in error.problems]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("turns", 0, "content", []), "1 problem; first: $.turns[0].content: must be string"),
        (("turns", 0, "parent_turn_id", 1), "1 problem; first: $.turns[0].parent_turn_id: must be string or null"),
        (("turns", 0, "role", 1), "1 problem; first: $.turns[0].role: must be one of user, assistant, system, tool"),
        (
            ("session_id", "x"),
            "1 problem; first: $.session_id: must be a UUID, unless capture_options.derive_ids is true",
        ),
        (("turns", []), "1 problem; first: $.turns: must not have fewer items than 1"),
        (("turns", 0, "role", ABSENT), "1 problem; first: $.turns[0].role: is required"),
        (("turns", 1, "turn_id", FIRST), "1 problem; first: $.turns[1].turn_id: must be unique in the payload"),
        (("context", "tags", [1]), "1 problem; first: $.context.tags[0]: must be string"),
        (
            ("capture_options", "content", "some"),
            "1 problem; first: $.capture_options.content: must be one of full, redacted, none",
        ),
    ],
)
def test_a_message_says_how_many_problems_and_the_first_one(change, message):
    assert refusal(changed(*change)).message == message


@pytest.mark.parametrize("turn_count", [51, 9_000])
def test_at_most_fifty_problems_are_named(turn_count):
    turns = [{**BASE["turns"][0], "turn_id": name_uuid(str(place)), "role": "bot"} for place in range(turn_count)]
    error = refusal(changed("turns", turns))
    assert [problem.path for problem in error.problems] == [f"$.turns[{place}].role" for place in range(50)]
    assert error.message.startswith("more than 50 problems; first: $.turns[0].role")


def test_fifty_problems_are_all_there_are():
    turns = [{**BASE["turns"][0], "turn_id": name_uuid(str(place)), "role": "bot"} for place in range(50)]
    error = refusal(changed("turns", turns))
    assert len(error.problems) == 50
    assert error.message.startswith("50 problems")


def test_problems_far_down_a_long_payload_keep_their_places():
    turns = [{**BASE["turns"][0], "turn_id": name_uuid(str(place))} for place in range(4_000)]
    turns[3_000]["timestamp"] = "0000-01-01T00:00:00Z"
    turns[3_999]["tool_invocations"] = [{"tool_name": "t", "invocation_id": CALL} for _ in range(3_000)] + [
        {"tool_name": "t"}
    ]
    payload = changed("turns", turns)
    payload["context"] = {"tags": ["a"] * 5_000 + [1, "b", {}]}
    assert problems(payload) == [
        ("$.turns[3000].timestamp", "format"),
        ("$.turns[3999].tool_invocations[3000].invocation_id", "required"),
        ("$.context.tags[5000]", "type"),
        ("$.context.tags[5002]", "type"),
    ]


def test_a_refusal_never_repeats_a_value_and_stays_small():
    content = [{"type": "text", "text": "SECRET-71b " + "A" * 200_000}]
    for change in (
        ("turns", 0, "content", content),
        ("turns", 0, "role", content),
        ("turns", 0, "timestamp", "SECRET-71b" + "A" * 200_000),
        ("session_id", "SECRET-71b"),
        ("turns", content * 60),
    ):
        error = refusal(changed(*change))
        body = orjson.dumps({"message": error.message, "details": error.details})
        assert b"SECRET-71b" not in body
        assert len(body) < 4096
        assert error.__cause__ is None


@pytest.mark.parametrize("turn_count", [1, 5_000, 9_999])
def test_10_000_turns_and_invocations_are_accepted_and_one_more_is_the_only_problem(turn_count):
    turns = [{**BASE["turns"][0], "turn_id": name_uuid(str(place))} for place in range(turn_count)]
    calls = [{"tool_name": "t", "invocation_id": CALL}] * (10_000 - turn_count)
    payload = changed("turns", [*turns[:-1], {**turns[-1], "tool_invocations": calls}])
    assert problems(payload) == []
    payload["turns"][-1]["tool_invocations"] = [*calls, calls[0]]
    assert problems(payload) == [("$.turns", "too_many_turns")]
    payload["turns"][0]["role"] = "bot"
    payload["session_id"] = 1
    assert problems(payload) == [("$.turns", "too_many_turns")]


def test_ten_thousand_and_one_things_that_are_no_turns_are_too_many_all_the_same():
    assert problems({"turns": [None] * 10_001}) == [("$.turns", "too_many_turns")]


def test_a_chat_list_sent_as_native_is_told_its_format():
    assert refusal({"session_id": "s", "messages": []}).message.endswith(
        "; a list of chat messages is taken with ?format=, as openai-chat or anthropic"
    )


def test_a_time_without_an_offset_is_told_what_is_missing():
    assert "with an offset" in refusal(changed("turns", 0, "timestamp", "2026-03-02T08:15:03")).message
