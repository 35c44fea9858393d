"""``POST /api/context``: a list that no store has, cut and given back, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from agent.core.window.policy import STRATEGIES
from agent.recall.windows import SessionWindows
from tests.recall.http.site import Site, error_of, site
from tests.recall.seen_sessions import Characters, limits

ROLES = ("assistant", "user")
CHAT = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "x" * 300},
    {"role": "assistant", "content": "y" * 300},
    {"role": "user", "content": "Thanks"},
]


@pytest.fixture
def made() -> Iterator[Site]:
    with site(windows=SessionWindows(counters=lambda _: Characters(), limits=limits)) as made:
        yield made


def posted(made: Site, **body: Any) -> dict[str, Any]:
    response = made.post("/api/context", body)
    assert response.status_code == 200, response.get_data(as_text=True)
    return dict(response.get_json())


def refused(response: Any) -> list[dict[str, str]]:
    assert response.status_code == 400, response.get_data(as_text=True)
    return list(error_of(response)["details"]["errors"])


def test_a_list_that_nobody_captured_is_cut_and_comes_back_in_its_own_words(made: Site) -> None:
    answer = posted(made, messages=CHAT, max_tokens=200, reserved_tokens=50)
    assert answer["messages"] == [CHAT[0], {"role": "system", "content": "... [2 messages removed] ..."}, CHAT[3]]
    assert (answer["format"], answer["manifest"]["budget"], answer["manifest"]["dropped"]) == ("openai-chat", 150, 2)
    assert not {"session_id", "conversation_id", "version"} & answer.keys()
    assert made.get("/api/stats")["sessions"] == 0


def test_what_is_reserved_is_the_setting_where_nothing_is_said(made: Site) -> None:
    assert posted(made, messages=CHAT, max_tokens=5500)["manifest"]["budget"] == 1000
    assert posted(made, messages=CHAT)["manifest"]["budget"] == 6000
    details = error_of(made.post("/api/context", {"messages": CHAT, "max_tokens": 4500}))["details"]
    assert (details["budget"], details["errors"]) == (0, [{"path": "$.max_tokens", "rule": "minimum"}])


def test_another_format_than_its_own_may_be_asked_for_and_ours_too(made: Site) -> None:
    answer = posted(made, messages=CHAT, format="anthropic")
    assert (answer["system"], answer["format"]) == ("Be brief.", "anthropic")
    native = posted(made, messages=CHAT, format="native", max_tokens=200, reserved_tokens=0, explain=True)
    assert [each["role"] for each in native["messages"]] == ["system", "system", "user"]
    assert [choice["kept"] for choice in native["manifest"]["choices"]] == [True, False, False, True]


def test_a_document_of_another_format_is_taken_as_it_is(made: Site) -> None:
    document = {"system": "Be brief.", "messages": CHAT[1:]}
    answer = posted(made, messages=document, max_tokens=10_000)
    assert (answer["format"], answer["system"], answer["messages"]) == ("anthropic", "Be brief.", CHAT[1:])


def test_every_member_changes_the_window(made: Site) -> None:
    many = [{"role": ROLES[number % 2], "content": f"{number:03}{'x' * 97}"} for number in range(1, 11)]

    def kept(**more: Any) -> Any:
        return posted(made, messages=many, **more)["manifest"]["kept"]

    assert (kept(), kept(max_messages=4), kept(model="limit-1200")) == (10, 4, 9)
    assert kept(max_tokens=460, reserved_tokens=0.0) > kept(max_tokens=460.0, reserved_tokens=200)
    marked = posted(made, messages=many, max_tokens=450, reserved_tokens=0, marker="[{count} gone]", min_recent=1)
    assert "[6 gone]" in str(marked["messages"])
    strategies = {posted(made, messages=many, strategy=each)["manifest"]["requested"] for each in STRATEGIES}
    assert strategies == set(STRATEGIES)


@pytest.mark.parametrize(
    ("body", "errors"),
    [
        ({}, [("$.messages", "required")]),
        ({"messages": "x"}, [("$.messages", "type")]),
        ({"messages": [7]}, [("$.messages", "format")]),
        ({"messages": [{"role": "user", "content": 7}]}, [("$.messages[0].content", "type")]),
        ({"messages": CHAT, "max_token": 5}, [("$.max_token", "additionalProperties")]),
        ({"messages": CHAT, "scope": "session"}, [("$.scope", "additionalProperties")]),
        ({"messages": CHAT, "max_tokens": "4000"}, [("$.max_tokens", "type")]),
        ({"messages": CHAT, "max_tokens": True}, [("$.max_tokens", "type")]),
        ({"messages": CHAT, "max_tokens": 4.5, "explain": 1}, [("$.max_tokens", "type"), ("$.explain", "type")]),
        ({"messages": CHAT, "reserved_tokens": -1}, [("$.reserved_tokens", "minimum")]),
        ({"messages": CHAT, "max_tokens": 10**12}, [("$.max_tokens", "maximum")]),
        ({"messages": CHAT, "max_tokens": None}, [("$.max_tokens", "type")]),
        ({"messages": CHAT, "query": ""}, [("$.query", "minLength")]),
        ({"messages": CHAT, "query": 5}, [("$.query", "type")]),
        ({"messages": CHAT, "format": "yaml"}, [("$.format", "enum")]),
        ({"messages": CHAT, "marker": "x" * 501}, [("$.marker", "maxLength")]),
        ({"messages": CHAT, "strategy": "summarize"}, [("$.strategy", "unsupported")]),
    ],
)
def test_a_body_that_says_something_else_is_refused_with_every_place(
    made: Site, body: Any, errors: list[tuple[str, str]]
) -> None:
    assert refused(made.post("/api/context", body)) == [{"path": path, "rule": rule} for path, rule in errors]


def test_what_is_no_json_object_is_refused_and_no_query_is_taken(made: Site) -> None:
    assert refused(made.post("/api/context", b"[]")) == [{"path": "$", "rule": "object"}]
    assert refused(made.post("/api/context?max_tokens=5", {"messages": CHAT}))[0]["rule"] == "additionalProperties"


def test_a_list_that_loses_turns_is_told_without_a_session(made: Site) -> None:
    posted(made, messages=CHAT)
    assert made.telemetry.of("context_pruned") == []
    posted(made, messages=CHAT, max_tokens=200, reserved_tokens=0)
    (told,) = made.telemetry.of("context_pruned")
    assert (told["session_id"], told["dropped"]) == (None, 2)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"format": "openai"}, "format must be one of native, openai-chat, "),
        ({"max_tokens": "5000"}, "max_tokens must be a whole number from 0 to 100000000"),
        ({"max_messages": 0, "explain": 1}, "max_messages must be a whole number from 1 to 1000; explain must be true"),
        ({"query": ""}, "query must be a text of 1 to 10000 characters"),
        (
            {"max_token": 1, "min_recent": -1},
            "messages alone has to be there; min_recent must be a whole number from 0",
        ),
    ],
)
def test_what_a_member_may_be_is_said(made: Site, wrong: dict[str, Any], says: str) -> None:
    assert says in error_of(made.post("/api/context", {"messages": CHAT, **wrong}))["message"]


def test_a_list_that_too_little_is_left_for_is_told_both_numbers(made: Site) -> None:
    error = error_of(made.post("/api/context", {"messages": CHAT, "max_tokens": 120, "reserved_tokens": 110}))
    needed = error["details"]["needed"]
    assert error["message"].endswith(f"a window needs {needed}: max_tokens of at least {needed + 110}")
    posted(made, messages=CHAT, max_tokens=needed + 110, reserved_tokens=110)
