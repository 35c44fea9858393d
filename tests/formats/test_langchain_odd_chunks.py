"""Chunks of LangChain messages that change their form on the way, and the one message that they are."""

from __future__ import annotations

from typing import Any

import pytest

from tests.formats.round_trips import again, conversations, spoken, stored, written
from tests.formats.test_langchain import FORM

BLOCK = {"type": "text", "text": "lo", "index": 0}


def chunk(content: Any = "", **fields: Any) -> list[Any]:
    data = {"content": content, "id": "run-1", **fields}
    return ["messages", [{"type": "AIMessageChunk", "data": data}, {"ls_model_name": "m"}]]


def answer(*chunks: list[Any]) -> Any:
    (conversation,) = conversations(FORM, list(chunks))
    (message,) = conversation.messages
    with stored(FORM, list(chunks)) as session:
        out, _ = written(FORM, session)
        assert again(FORM, out) == spoken(session)
    return message


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ("Hel", [BLOCK], "Hel\nlo"),
        ([BLOCK], "!", "lo\n!"),
        ("", [BLOCK], "lo"),
        ([BLOCK], "", "lo"),
    ],
    ids=["blocks after text", "text after blocks", "blocks after nothing", "nothing after blocks"],
)
def test_text_beside_blocks_is_a_block_of_its_own_and_nothing_is_none(first, second, said):
    assert answer(chunk(first), chunk(second)).content == said


@pytest.mark.parametrize(
    ("first", "second", "sums"),
    [
        ({"input_tokens": 3, "output_tokens": 1, "total_tokens": 4}, None, (3, 1, 4)),
        (None, {"input_tokens": 3, "output_tokens": 1, "total_tokens": 4}, (3, 1, 4)),
        (
            {"input_tokens": 3, "output_tokens": 1, "total_tokens": 4, "cached": False},
            {"input_tokens": 0, "output_tokens": 2, "total_tokens": 2, "cached": True},
            (3, 3, 6),
        ),
    ],
    ids=["said first", "said last", "with a flag"],
)
def test_what_was_used_is_added_up_and_what_is_no_number_is_not(first, second, sums):
    usage = answer(chunk("Hel", usage_metadata=first), chunk("lo", usage_metadata=second)).usage
    assert (usage["prompt_tokens"], usage["completion_tokens"], usage["total_tokens"]) == sums


def test_a_piece_of_a_call_that_is_no_object_makes_no_call():
    piece = {"name": "look", "args": '{"at"', "id": "c1", "index": 0}
    rest = {"name": None, "args": ": 1}", "id": None, "index": 0}
    message = answer(chunk(tool_call_chunks=[piece, "look"]), chunk(tool_call_chunks=[rest]))
    assert [(call.name, call.native_id, call.arguments) for call in message.calls] == [("look", "c1", {"at": 1})]
