"""What ``apply_context_window`` gives back says what is not in it, and is a plain list or dictionary all the same."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from typing import Any

import orjson
import pytest

from agent.sdk import ContextDocument, ContextMessages, Message, apply_context_window

CHAT = [{"role": "user" if number % 2 == 0 else "assistant", "content": f"Line {number}."} for number in range(101)]
Given = ContextMessages | ContextDocument


def as_list() -> ContextMessages:
    return apply_context_window(CHAT, 200, 0)


def as_document() -> ContextDocument:
    return apply_context_window(CHAT, 200, 0, format="anthropic")


def test_a_list_says_what_is_not_in_it_and_why():
    back = as_list()
    manifest = back.manifest
    assert manifest.kept + manifest.dropped == len(CHAT)
    assert manifest.kept + manifest.markers == len(back)
    assert manifest.tokens <= manifest.budget == 200
    dropped = [message for message, choice in zip(CHAT, manifest.choices, strict=True) if not choice.kept]
    assert [message for message in CHAT if message not in back] == dropped
    assert {choice.reason for choice in manifest.choices if not choice.kept} == {"budget"}
    assert back.warnings == manifest.warnings == ("usage_above_80_percent", "usage_above_90_percent")


def test_a_list_that_fits_has_its_account_too():
    back = apply_context_window(CHAT, 10_000)
    assert back == CHAT
    assert (back.manifest.dropped, back.warnings) == (0, ())
    assert apply_context_window([], 10_000).manifest.choices == ()


def test_a_document_says_so_too_and_what_its_format_does_not_say():
    back = as_document()
    assert back.manifest.dropped > 0
    assert back.warnings == back.manifest.warnings
    assert back.left_out == {}
    lost = apply_context_window([Message("user", "hi"), Message("assistant", " ")], 10_000, format="anthropic")
    assert lost.left_out == {"no_place": 1}


@pytest.mark.parametrize("made", [as_list, as_document])
def test_it_is_the_plain_one_that_it_looks_like(made: Callable[[], Given]):
    back = made()
    plain: Any = list(back) if isinstance(back, ContextMessages) else dict(back)
    assert back == plain
    assert plain == back
    assert repr(back) == repr(plain)
    assert json.dumps(back) == json.dumps(plain)
    assert orjson.dumps(back) == orjson.dumps(plain)
    assert type(back.copy()) is type(plain)


@pytest.mark.parametrize("made", [as_list, as_document])
@pytest.mark.parametrize("copied", [lambda it: pickle.loads(pickle.dumps(it)), copy.deepcopy, copy.copy])
def test_a_copy_of_it_keeps_its_account(made: Callable[[], Given], copied: Callable[[Given], Given]):
    back = made()
    other = copied(back)
    assert type(other) is type(back)
    assert other == back
    assert other.manifest.document() == back.manifest.document()
    assert other.warnings == back.warnings


def test_pickled_it_holds_nothing_of_what_is_left_out():
    chat = [{"role": "user", "content": f"secret {number}"} for number in range(100)]
    back = apply_context_window(chat, 200, 0, strategy="rolling_window")
    assert b"secret 99" in pickle.dumps(back)
    assert b"secret 0" not in pickle.dumps(back)


def test_a_window_may_be_cut_again():
    smaller = apply_context_window(as_list(), 100, 0)
    assert smaller.manifest.total_tokens == as_list().manifest.tokens
    assert len(smaller) < len(as_list())
