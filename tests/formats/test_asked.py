"""Options are looked for in bodies within bodies, as far as the contract's bounds reach, and are never lost."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest

from agent.core.json_bounds import MAX_DEPTH, MAX_VALUES
from agent.errors import PayloadTooLarge, Problem, ValidationError
from agent.formats import asked, reader
from agent.formats.asked import Place, places

OPTIONS = {"content": "none"}
ASKS = {"capture_options": OPTIONS}
CHAT = {"session_id": "s", "messages": [{"role": "user", "content": "hi"}]}
MIB = 1024 * 1024


def nested(levels: int, texts: int) -> dict[str, Any]:
    """Options within ``texts`` JSON texts, each of ``levels`` levels."""
    inner: dict[str, Any] = ASKS
    for _ in range(texts):
        for _ in range(levels - 1):
            inner = {"data": inner}
        inner = {"data": json.dumps(inner, separators=(",", ":"))}
    return inner


def refused(document: Any) -> ValidationError:
    with pytest.raises(ValidationError) as raised:
        list(places(document))
    return raised.value


def read(body: dict[str, Any]) -> Any:
    return reader("openai-chat").read(body, captured_at="2026-03-02T08:15:00.000Z").payload


@pytest.mark.parametrize(("levels", "texts"), [(MAX_DEPTH - 1, 1), (63, 2), (1, 8)])
def test_options_are_found_in_texts_within_texts(levels: int, texts: int) -> None:
    assert [place.options for place in places(nested(levels, texts))] == [OPTIONS]


@pytest.mark.parametrize(("levels", "texts"), [(MAX_DEPTH, 1), (64, 2), (100, 3), (180, 6), (300, 1)])
def test_options_that_stand_too_deep_are_refused(levels: int, texts: int) -> None:
    error = refused(nested(levels, texts))
    assert (error.status, error.problems) == (400, (Problem("$", "depth"),))


def test_a_body_whose_texts_are_nested_too_deep_is_refused_with_the_rule_of_any_body() -> None:
    with pytest.raises(ValidationError) as raised:
        read({**CHAT, "data": nested(180, 6)})
    assert raised.value.problems == (Problem("$", "depth"),)


def test_levels_beside_those_that_lead_to_options_do_not_count() -> None:
    text = '{"capture_options":{"content":"none"},"deep":' + "[" * 150 + "]" * 150 + "}"
    assert list(places({"data": text})) == [Place("$.data.capture_options", OPTIONS)]


@pytest.mark.parametrize("text", ['{"capture_options"', '{"a":1}]{"capture_options":{}}', '{"capture_options": {}, "}'])
def test_a_text_that_is_no_json_is_content(text: str) -> None:
    assert list(places({"data": text})) == []


def test_the_options_of_texts_come_after_those_of_the_body_that_they_stand_in() -> None:
    document = {"state": json.dumps(ASKS), "response": {"capture_options": {"content": "full"}}}
    assert [place.path for place in places(document)] == ["$.response.capture_options", "$.state.capture_options"]


# What a text may hold.


def text_of(values: int) -> str:
    """An object of ``values`` values in all."""
    return '{"capture_options":{"content":"none"},"a":[' + ",".join(["[]"] * (values - 4)) + "]}"


def test_a_text_has_as_many_values_as_a_body() -> None:
    assert len(list(places({"data": text_of(MAX_VALUES)}))) == 1
    error = refused({"data": {"body": text_of(MAX_VALUES + 1)}})
    assert isinstance(error, PayloadTooLarge)
    assert error.problems == (Problem("$.data.body", "values"),)


def test_in_a_file_of_ones_own_a_text_may_have_more() -> None:
    assert len(list(places({"data": text_of(MAX_VALUES + 1)}, is_bounded=False))) == 1


@pytest.mark.parametrize("filler", ["[],", "{},"])
@pytest.mark.parametrize("start", ["[", ' \n{"capture_options":{},"a":['])
def test_of_a_text_that_holds_too_much_nothing_is_built(start: str, filler: str) -> None:
    document = {"data": start + filler * (9_900_000 // 3) + '"capture_options"'}
    tracemalloc.start()
    try:
        if start == "[":
            assert list(places(document)) == [], "a list is no body"
        else:
            refused(document)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 32 * MIB


def test_of_texts_within_texts_one_is_held_at_a_time() -> None:
    document: dict[str, Any] = ASKS | {"more": "x" * MIB}
    for _ in range(10):
        document = {"data": json.dumps(document)}
    tracemalloc.start()
    try:
        assert len(list(places(document))) == 1
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 6 * MIB


def test_a_text_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []
    parse = asked.body_of

    def counting(text: str) -> Any:
        parsed.append(text)
        return parse(text)

    monkeypatch.setattr(asked, "body_of", counting)
    text = json.dumps(ASKS)
    assert read({**CHAT, "data": text})["capture_options"] == OPTIONS
    assert parsed == [text]


# What counts as options.


@pytest.mark.parametrize("content", ["yes", ["a"], 5, True, 0, "", None])
@pytest.mark.parametrize("name", ["state", "response", "data", "request"])
def test_below_the_top_only_an_object_is_options(name: str, content: Any) -> None:
    said = {"capture_options": content}
    for inner in (said, json.dumps(said), {"body": said}):
        assert "capture_options" not in read({**CHAT, name: inner})


@pytest.mark.parametrize("content", ["yes", ["a"], 5, True, 0, ""])
def test_at_the_top_and_at_that_of_a_payload_whatever_is_called_so_is_options(content: Any) -> None:
    said = {"capture_options": content}
    for document, path in ((said, "$"), ({"payload": said}, "$.payload")):
        assert asked.wrong_options(places(document)) == [Problem(f"{path}.capture_options", "type")]


def test_an_object_below_the_top_that_asks_for_what_there_is_not_is_refused() -> None:
    with pytest.raises(ValidationError) as raised:
        read({**CHAT, "state": {"capture_options": {"content": "some"}}})
    assert raised.value.problems == (Problem("$.state.capture_options.content", "enum"),)
