"""``/context`` of a session: windows with their account, its figures, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from agent.core.ids import conversation_uuid, session_uuid
from agent.core.window.policy import STRATEGIES
from agent.formats import WRITES
from agent.recall.windows import SessionWindows
from agent.window_settings import ContextSettings
from tests.recall.http.site import CONVERSATION, SESSION, Site, error_of, payload, said, site, turn_id
from tests.recall.seen_sessions import Characters, limits

PATH = f"/api/conversation/{SESSION}"
ROLES = ("assistant", "user")


def windows() -> SessionWindows:
    return SessionWindows(counters=lambda _: Characters(), limits=limits)


@pytest.fixture
def made() -> Iterator[Site]:
    with site(windows=windows()) as made:
        yield made


@pytest.fixture
def ten(made: Site) -> Site:
    made.capture(payload(*[said(number, f"{number:03}{'x' * 97}", ROLES[number % 2]) for number in range(1, 11)]))
    return made


def context(made: Site, query: str = "", path: str = PATH) -> dict[str, Any]:
    return dict(made.get(f"{path}/context{query}"))


def contents(answer: dict[str, Any]) -> list[str]:
    return [message["content"][:20] for message in answer["messages"]]


def refused(response: Any) -> list[dict[str, str]]:
    assert response.status_code == 400, response.get_data(as_text=True)
    return list(error_of(response)["details"]["errors"])


# Of a session.


def test_what_fits_is_there_as_the_history_shows_it_with_the_version(ten: Site) -> None:
    answer = context(ten)
    history = ten.get(PATH)
    assert (answer["messages"], answer["session_id"], answer["version"]) == (history["messages"], SESSION, 1)
    assert (answer["manifest"]["kept"], answer["manifest"]["dropped"]) == (10, 0)
    assert "choices" not in answer["manifest"]


def test_a_marker_stands_where_messages_are_missing_and_adds_up(ten: Site) -> None:
    for budget in range(150, 1000, 50):
        answer = context(ten, f"?max_tokens={budget}")
        markers = [each["metadata"]["marker"] for each in answer["messages"] if "turn_id" not in each]
        kept = sum("turn_id" in each for each in answer["messages"])
        manifest = answer["manifest"]
        assert kept + sum(markers) == 10 == manifest["kept"] + manifest["dropped"]
        assert sum(len(each["content"]) for each in answer["messages"]) == manifest["tokens"] <= budget
    assert {"role": "system", "content": "... [8 messages removed] ...", "metadata": {"marker": 8}} in (
        context(ten, "?max_tokens=240")["messages"]
    )


def test_with_explain_every_turn_is_told_with_the_reason(ten: Site) -> None:
    choices = context(ten, "?max_tokens=450&explain=true")["manifest"]["choices"]
    assert [choice["seq"] for choice in choices] == list(range(1, 11))
    assert {choice["reason"] for choice in choices if not choice["kept"]} == {"too_large"}
    assert context(ten, "?explain=false")["manifest"].keys() == context(ten)["manifest"].keys()


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_may_be_asked_for(ten: Site, strategy: str) -> None:
    answer = context(ten, f"?max_tokens=450&strategy={strategy}")
    assert answer["manifest"]["requested"] == strategy
    assert contents(answer)[-1].startswith("010")


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("max_messages=4", 4),
        ("max_tokens=330&min_recent=0&strategy=rolling_window&marker=%5B%7Bcount%7D%5D", 2),
        ("model=limit-1200", 9),
        ("model=limit-100000", 10),
        ("max_tokens=100000&max_messages=1", 10),
    ],
)
def test_each_parameter_changes_the_window(ten: Site, query: str, kept: int) -> None:
    assert context(ten, f"?{query}")["manifest"]["kept"] == kept


def test_the_settings_hold_where_the_request_says_nothing(made: Site) -> None:
    settings = ContextSettings(max_history_messages=4, strategy="rolling_window", marker="[gone]")
    with site(windows=windows(), settings=settings) as made:
        made.capture(payload(*[said(number, f"{number}", ROLES[number % 2]) for number in range(1, 11)]))
        answer = context(made)
        assert contents(answer) == ["[gone]", "7", "8", "9", "10"]
        assert answer["manifest"]["strategy"] == "rolling_window"
        # The same setting is behind what a hydration gives.
        hydrated = made.post(f"{PATH}/hydrate", {"user_message": "x"}).get_json()
        assert len(hydrated["messages"]) == 5


@pytest.mark.parametrize("form", WRITES)
def test_every_format_has_its_document_beside_the_account(ten: Site, form: str) -> None:
    answer = context(ten, f"?max_tokens=450&format={form}")
    assert (answer["format"], answer["session_id"], answer["version"]) == (form, SESSION, 1)
    assert "messages removed" in str(answer)
    assert answer["manifest"]["dropped"] == 6


def test_a_provider_that_takes_no_system_message_gets_the_marker_in_a_users(ten: Site) -> None:
    ten.capture(payload(said(11, "Thanks")))
    messages = context(ten, "?max_tokens=450&format=anthropic&strategy=rolling_window")["messages"]
    assert messages[0]["role"] == "user"
    assert "messages removed" in messages[0]["content"][0]["text"]
    assert {message["role"] for message in messages} == {"user", "assistant"}


def test_the_window_is_of_the_conversation_that_is_asked_for_else_of_the_newest(made: Site) -> None:
    made.capture(payload(said(1, "one")))
    made.capture(payload(said(2, "two"), conversation=turn_id(50)))
    answer = context(made)
    assert (contents(answer), answer["conversation_id"]) == (["two"], turn_id(50))
    answer = context(made, f"?conversation_id={CONVERSATION}")
    assert (contents(answer), answer["conversation_id"]) == (["one"], CONVERSATION)
    answer = context(made, "?scope=session")
    assert contents(answer) == ["one", "two"]
    assert "conversation_id" not in answer


@pytest.mark.parametrize("form", ["native", "openai-chat", "anthropic"])
def test_a_new_conversation_begins_with_an_empty_window(made: Site, form: str) -> None:
    made.capture(payload(said(1, "one")))
    answer = context(made, f"?conversation_id=new&format={form}")
    assert (answer["messages"], answer["version"], answer["manifest"]["kept"]) == ([], 1, 0)


def test_a_session_that_is_not_there_is_none(made: Site) -> None:
    assert made.ask(f"{PATH}/context").status_code == 404
    assert made.ask(f"{PATH}/context?conversation_id={conversation_uuid('new')}").status_code == 404
    assert made.ask(f"{PATH}/context?format=openai-chat").status_code == 404


def test_a_branch_and_an_instant_have_their_own(ten: Site) -> None:
    assert context(ten, "?at_seq=3")["manifest"]["kept"] == 3
    assert context(ten, f"?leaf={turn_id(4)}")["manifest"]["kept"] == 4
    assert ten.ask(f"{PATH}/context?leaf={turn_id(77)}").status_code == 404
    assert ten.ask(f"{PATH}/context?min_version=99").status_code == 409


def test_a_branch_of_a_conversation_that_is_not_there_is_none(ten: Site) -> None:
    assert ten.ask(f"{PATH}/context?conversation_id=new&leaf={turn_id(4)}").status_code == 404


def test_h16_both_forms_of_a_letter_come_back_as_they_were_sent(made: Site) -> None:
    made.capture(payload(said(1, "Zo\u00eb"), said(2, "Zoe\u0308", "assistant")))
    for form in ("native", *WRITES):
        answer = json.dumps(made.get(f"{PATH}/context?format={form}"), ensure_ascii=False)
        assert ("Zo\u00eb" in answer, "Zoe\u0308" in answer) == (True, True), form


def test_h20_and_h29_equal_times_and_lists_that_are_sent_again_keep_their_order(made: Site) -> None:
    turns = [said(9 - number, f"t{number}", ROLES[1 - number % 2]) for number in range(6)]
    turns = [{**each, "timestamp": "2026-03-02T09:00:00Z"} for each in turns]
    for last in (2, 4, 6):
        made.capture(payload(*turns[:last]))
    for _ in range(10):
        assert contents(context(made)) == [f"t{number}" for number in range(6)]


def test_h24_a_message_of_signed_blocks_is_there_as_it_was_or_not_at_all(made: Site) -> None:
    thinking = {"type": "thinking", "thinking": "na\u00efve \u2192 check\n", "signature": "EqQB+/a=="}
    blocks = [thinking, {"type": "tool_use", "id": "toolu_01", "name": "track", "input": {"n": 4471}}]
    made.capture(payload(said(1, "Hi"), said(2, "x" * 60, "assistant", metadata={"blocks": blocks}), said(3, "And?")))
    found = set()
    for budget in range(40, 120, 5):
        messages = context(made, f"?max_tokens={budget}&min_recent=0")["messages"]
        signed = [each for each in messages if "blocks" in each.get("metadata", {})]
        assert all((each["content"], each["metadata"]["blocks"]) == ("x" * 60, blocks) for each in signed)
        found.add(len(signed))
    assert found == {0, 1}


def test_an_erasure_is_seen_by_who_has_a_window_already(ten: Site) -> None:
    for form in ("native", "openai-chat", "anthropic"):
        path = f"{PATH}/context?format={form}"
        tag = ten.ask(path).headers["ETag"]
        assert ten.ask(path, headers={"If-None-Match": tag}).status_code == 304
    ten.client.erasure.turn(turn_id(2))
    answer = ten.ask(path, headers={"If-None-Match": tag})
    assert (answer.status_code, b"002" + b"x" * 97 in answer.get_data()) == (200, False)


def test_a_session_by_its_own_name_and_calls_with_their_results(made: Site) -> None:
    call, result = ({"tool_name": "track", "invocation_id": "call-1"} for _ in range(2))
    turns = [said(1, "Where?"), said(2, "", "assistant", tool_invocations=[call | {"arguments": {"n": 2**70}}])]
    turns += [said(3, "Bern", "tool", tool_invocations=[result]), said(4, "In Bern.", "assistant")]
    for turn in turns:
        turn["turn_id"] = f"m-{turn['timestamp']}"
    made.capture(payload(*turns, session="chat-7", capture_options={"derive_ids": True}))
    answer = context(made, path="/api/conversation/chat-7")
    assert answer["session_id"] == session_uuid("chat-7")
    called, answered = answer["messages"][1]["tool_calls"], answer["messages"][2]["tool_results"]
    assert called[0]["arguments"] == {"n": 2**70}
    assert answered[0]["invocation_id"] == called[0]["invocation_id"]
    anthropic = context(made, "?format=anthropic", path="/api/conversation/chat-7")["messages"]
    assert anthropic[1]["content"][0]["input"] == {"n": 2**70}


def test_who_has_it_already_is_not_sent_it_again_until_the_session_changes(ten: Site) -> None:
    first = ten.ask(f"{PATH}/context?max_tokens=450")
    tag = {"If-None-Match": first.headers["ETag"]}
    assert first.headers["ETag"].startswith('"1-')
    assert ten.ask(f"{PATH}/context?max_tokens=450", headers=tag).status_code == 304
    assert ten.ask(f"{PATH}/context?max_tokens=550", headers=tag).status_code == 200
    ten.capture(payload(said(11, "more")))
    assert ten.ask(f"{PATH}/context?max_tokens=450", headers=tag).status_code == 200
    assert ten.ask(f"{PATH}/context", method="HEAD").headers["ETag"].startswith('"2-')


def test_a_session_that_is_held_without_content_has_the_same_windows(ten: Site) -> None:
    with site(windows=windows(), whole_bytes=100) as light:
        light.capture(payload(*[said(number, f"{number:03}{'x' * 97}", ROLES[number % 2]) for number in range(1, 11)]))
        for query in ("", "?max_tokens=450", "?format=openai-chat&max_tokens=450"):
            # When they were captured the two do not share.
            mine, theirs = context(light, query), context(ten, query)
            assert (mine["messages"], mine["manifest"]) == (theirs["messages"], theirs["manifest"])


# Refused.


@pytest.mark.parametrize("budget", [0, 1, 20])
def test_a_budget_that_nothing_fits_is_refused_with_what_is_needed(ten: Site, budget: int) -> None:
    response = ten.ask(f"{PATH}/context?max_tokens={budget}")
    details = error_of(response)["details"]
    assert response.status_code == 400
    assert details["errors"] == [{"path": "$.max_tokens", "rule": "minimum"}]
    assert details["budget"] == budget < details["needed"]
    assert ten.ask(f"{PATH}/context?max_tokens={details['needed']}").status_code == 200
    assert ten.ask(f"{PATH}/context?max_tokens={details['needed'] - 1}").status_code == 400


@pytest.mark.parametrize(
    ("query", "path", "rule"),
    [
        ("max_tokens=-1", "$.max_tokens", "minimum"),
        ("max_tokens=4k", "$.max_tokens", "type"),
        ("strategy=summarize", "$.strategy", "unsupported"),
        ("strategy=best", "$.strategy", "enum"),
        ("scope=all", "$.scope", "enum"),
        ("format=yaml", "$.format", "enum"),
        ("min_recent=1001", "$.min_recent", "maximum"),
        ("max_messages=0", "$.max_messages", "minimum"),
        ("marker=", "$.marker", "minLength"),
        ("marker=%20", "$.marker", "minLength"),
        ("explain=yes", "$.explain", "enum"),
        ("query=", "$.query", "minLength"),
        ("reserved_tokens=5", "$.reserved_tokens", "additionalProperties"),
        ("max_token=5", "$.max_token", "additionalProperties"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_its_name(ten: Site, query: str, path: str, rule: str) -> None:
    assert refused(ten.ask(f"{PATH}/context?{query}")) == [{"path": path, "rule": rule}]


def test_summarize_is_refused_with_what_to_do_in_its_place(ten: Site) -> None:
    message = error_of(ten.ask(f"{PATH}/context?strategy=summarize"))["message"]
    assert "summarize is not supported" in message


def test_neither_path_takes_what_is_for_the_other(ten: Site) -> None:
    assert ten.ask(f"{PATH}/context", "POST", data=b"{}").headers["Allow"] == "GET, HEAD"
    assert ten.ask("/api/context").headers["Allow"] == "POST"


# What is told.


def test_a_window_that_leaves_turns_out_is_told_in_ids_and_counts(ten: Site) -> None:
    ten.telemetry.reports.clear()
    manifest = context(ten, "?max_tokens=450")["manifest"]
    counts = {name: manifest[name] for name in ("kept", "dropped", "tokens", "strategy")}
    assert ten.telemetry.of("context_pruned") == [{"session_id": SESSION, **counts}]
    assert [told[:2] for told in ten.telemetry.of("context_loaded")] == [(SESSION, 10)]
    assert [name for name, _ in ten.telemetry.reports] == [
        *("begin", "span", "received", "span", "context_pruned", "context_loaded", "respond", "end")
    ]


def test_a_window_with_everything_in_it_says_nothing_of_pruning(ten: Site) -> None:
    context(ten)
    assert ten.telemetry.of("context_pruned") == []


# The figures.


def test_the_figures_of_a_session_tell_how_full_its_window_is(ten: Site) -> None:
    found = ten.get(f"{PATH}/stats?max_tokens=450")
    assert (found["total_messages"], found["in_context"], found["limit"]) == (10, 4, 450)
    assert found["total_tokens"] == 1000 == sum(found["tokens_by_role"].values()) + found["overhead"]
    assert found["by_role"] == {"user": 5, "assistant": 5}
    assert found["line"] == "4 messages in context, 6 left out, oldest from 08:00"
    assert ten.get(f"{PATH}/stats?model=limit-2000")["limit"] == 2000


def test_the_figures_say_what_was_pruned_and_are_never_too_small(ten: Site) -> None:
    ten.capture(payload(said(20, "", "system", metadata={"memory": {"state_only": True, "keep_last": 4}})))
    found = ten.get(f"{PATH}/stats?max_tokens=5")
    assert (found["pruned"], found["last_pruned"], found["in_context"], found["total_messages"]) == (6, 6, 0, 4)
    assert found["last_prune"].endswith("Z")
    assert refused(ten.ask(f"{PATH}/stats?strategy=summarize"))[0]["path"] == "$.strategy"
