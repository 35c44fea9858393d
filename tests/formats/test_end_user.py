"""The end user that a format's own fields name is the capture's ``context.user_id``: found and erased by it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent.errors import StoreNotFound
from agent.formats import READS, format_named, reader
from agent.formats.conversation.message import Conversation
from agent.formats.end_user import FIELDS, MAX_CHARACTERS
from tests.capture.test_content_modes import captured
from tests.conftest import REPOSITORY
from tests.formats.chat_messages import CAPTURED_AT
from tests.formats.sessions import memory

ASKED = {"role": "user", "content": "Where is it?"}
SAID = {"role": "assistant", "content": "In Bern."}
CHAT = {"session_id": "s", "messages": [ASKED]}
ITEMS = {"session_id": "s", "input": [{"type": "message", **ASKED}]}
TEXT = {"role": "user", "parts": [{"type": "text", "content": "Where is it?"}]}
EMAIL = "ann@example.org"
SPOKEN = b"Where is it?"
ADK = {"id": "s", "app_name": "a", "events": [{"author": "user", "content": {"parts": [{"text": "Where is it?"}]}}]}


def traced(**attributes: Any) -> dict[str, Any]:
    ids = {"context": {"trace_id": "a" * 32, "span_id": "b" * 16}, "name": "call"}
    return {"session_id": "s", "records": [{**ids, "attributes": attributes}]}


def otel(**attributes: Any) -> dict[str, Any]:
    said = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": [TEXT]}
    return traced(**said, **attributes)


def inference(**attributes: Any) -> dict[str, Any]:
    message = {"message.role": "user", "message.content": "Where is it?"}
    said = {f"llm.input_messages.0.{name}": value for name, value in message.items()}
    return traced(**{"openinference.span.kind": "LLM"}, **said, **attributes)


def read(form: str, document: dict[str, Any]) -> Any:
    return reader(form).read(document, captured_at=CAPTURED_AT)


def context(form: str, document: dict[str, Any]) -> Any:
    return read(form, document).payload.get("context")


def told(form: str, document: dict[str, Any]) -> list[tuple[str, str]]:
    return [(problem.path, problem.rule) for problem in read(form, document).warnings]


def exchange(user: Any, text: str = "Where is it?", **more: Any) -> dict[str, Any]:
    request = {"model": "m", "user": user, "messages": [{"role": "user", "content": text}]}
    return {"request": request, "response": {"choices": [{"index": 0, "message": SAID}]}, **more}


# A document with the user in each place that its format has for that.
NAMED: list[tuple[str, dict[str, Any]]] = [
    ("openai-chat", {**CHAT, "user": "ann-9"}),
    ("openai-chat", {**CHAT, "safety_identifier": "ann-9"}),
    ("openai-chat", {**CHAT, "user": "ann-9", "safety_identifier": "hash"}),
    ("openai-chat", {**CHAT, "user": None, "safety_identifier": "ann-9"}),
    ("openai-chat", {"session_id": "s", **exchange("ann-9")}),
    ("openai-responses", {**ITEMS, "user": "ann-9"}),
    ("openai-responses", {**ITEMS, "safety_identifier": "ann-9"}),
    ("openai-responses", {"session_id": "s", "object": "response", "output": ITEMS["input"], "user": "ann-9"}),
    ("openai-responses", {"session_id": "s", "request": {**ITEMS, "user": "ann-9"}, "response": {}}),
    ("anthropic", {**CHAT, "metadata": {"user_id": "ann-9"}}),
    ("anthropic", {"session_id": "s", "request": {**CHAT, "metadata": {"user_id": "ann-9"}}, "response": {}}),
    ("google-adk", {"session": {**ADK, "user_id": "ann-9"}}),
    ("google-adk", {"session": {**ADK, "userId": "ann-9"}}),
    ("otel-genai", otel(**{"enduser.id": "ann-9", "user.id": "other"})),
    ("otel-genai", otel(**{"user.id": "ann-9"})),
    ("otel-genai", otel(**{"enduser.pseudo.id": "ann-9"})),
    ("openinference", inference(**{"user.id": "ann-9"})),
    ("openinference", inference(**{"ai.telemetry.metadata.userId": "ann-9"})),
    ("openinference", inference(**{"ai.telemetry.metadata.user.id": "ann-9"})),
]


@pytest.mark.parametrize(("form", "document"), NAMED)
def test_the_end_user_that_a_document_names_is_the_context_s(form: str, document: dict[str, Any]) -> None:
    assert context(form, document) == {"user_id": "ann-9"}
    assert "unknown_field" not in [rule for _, rule in told(form, document)]


@pytest.mark.parametrize(("form", "document"), NAMED)
def test_its_id_stands_in_the_payload_once(form: str, document: dict[str, Any]) -> None:
    assert json.dumps(read(form, document).payload).count("ann-9") == 1


@pytest.mark.parametrize(("form", "document"), NAMED)
def test_a_user_id_of_ours_counts_before_it_and_it_is_kept(form: str, document: dict[str, Any]) -> None:
    payload = read(form, {**document, "context": {"user_id": "bob", "tags": ["a"]}}).payload
    assert payload["context"] == {"user_id": "bob", "tags": ["a"]}
    kept = form in FIELDS and not (form == "openai-responses" and "request" in document)
    assert ("ann-9" in json.dumps(payload["native"])) is kept


@pytest.mark.parametrize(("form", "document"), NAMED)
def test_other_members_of_a_context_of_ours_stand_beside_it(form: str, document: dict[str, Any]) -> None:
    # An empty id of ours says nothing (CONTRACT 10).
    for given in ({"agent_id": "shop"}, {"agent_id": "shop", "user_id": ""}):
        assert context(form, {**document, "context": given}) == {"agent_id": "shop", "user_id": "ann-9"}


@pytest.mark.parametrize("unfit", [5, True, "", ".", "..", ["ann-9"], {"id": "ann-9"}, "a" * (MAX_CHARACTERS + 1)])
@pytest.mark.parametrize(
    ("form", "document", "path"),
    [
        ("openai-chat", lambda value: {**CHAT, "user": value}, "$.user"),
        ("openai-responses", lambda value: {**ITEMS, "safety_identifier": value}, "$.safety_identifier"),
        ("anthropic", lambda value: {**CHAT, "metadata": {"user_id": value}}, "$.metadata.user_id"),
        ("otel-genai", lambda value: otel(**{"user.id": value}), '$.records[0].attributes["user.id"]'),
        ("openinference", lambda value: inference(**{"user.id": value}), '$.records[0].attributes["user.id"]'),
    ],
)
def test_an_id_that_does_not_fit_is_told_and_left(form: str, document: Any, path: str, unfit: Any) -> None:
    translation = read(form, document(unfit))
    assert [(one.path, one.rule) for one in translation.warnings] == [(path, "ignored")]
    assert "context" not in translation.payload
    assert json.dumps(unfit) in json.dumps(translation.payload["native"]["beside"])


def test_the_longest_id_and_one_of_any_script_fit() -> None:
    for user in ("a" * MAX_CHARACTERS, "安娜", "ann@example.org", " a/b?c=%2F "):
        assert context("openai-chat", {**CHAT, "user": user}) == {"user_id": user}


def test_metadata_that_is_no_object_names_nobody() -> None:
    assert context("anthropic", {**CHAT, "metadata": "ann-9"}) is None


def test_what_else_stands_in_metadata_stays() -> None:
    metadata = {"user_id": "ann-9", "trace": "t"}
    assert read("anthropic", {**CHAT, "metadata": metadata}).payload["native"]["beside"] == {"metadata": {"trace": "t"}}


def test_calls_of_one_conversation_that_name_different_users_name_nobody() -> None:
    calls = [exchange("ann-9"), exchange("bob")]
    document = {"session_id": "s", "interactions": calls}
    assert context("openai-chat", document) is None
    assert ("$", "ignored") in told("openai-chat", document)


def test_a_call_that_names_nobody_is_of_the_user_of_the_others() -> None:
    document = {"session_id": "s", "interactions": [exchange(None), exchange("ann-9")]}
    assert context("openai-chat", document) == {"user_id": "ann-9"}


@pytest.mark.parametrize("form", ["openai-chat", "anthropic"])
def test_each_conversation_of_a_recording_is_of_its_own_user(form: str) -> None:
    def call(user: str, text: str) -> dict[str, Any]:
        made = exchange(user, text)
        if form == "anthropic":
            made["request"]["metadata"] = {"user_id": made["request"].pop("user")}
            made["request"]["anthropic_version"] = "1"
            made["response"] = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "A"}]}
        return made

    document = {"interactions": [call("ann-9", "one"), call("bob", "two")]}
    found = [each for each in format_named(form).read(document) if isinstance(each, Conversation)]
    assert [each.context for each in found] == [{"user_id": "ann-9"}, {"user_id": "bob"}]


def test_spans_of_a_session_that_name_different_users_name_nobody() -> None:
    spans = [otel(**{"user.id": user})["records"][0] for user in ("ann-9", "bob")]
    spans[1]["context"] = {"trace_id": "a" * 32, "span_id": "c" * 16}
    assert context("otel-genai", {"session_id": "s", "records": spans}) is None


def test_a_span_above_the_calls_names_the_user_of_them() -> None:
    call = inference()["records"][0]
    above = {
        "name": "agent",
        "context": {"trace_id": "a" * 32, "span_id": "c" * 16},
        "attributes": {"openinference.span.kind": "AGENT", "user.id": "ann-9"},
    }
    document = {"session_id": "s", "records": [{**call, "parent_id": "c" * 16}, above]}
    assert context("openinference", document) == {"user_id": "ann-9"}


@pytest.mark.parametrize(("form", "document"), NAMED)
def test_the_person_is_found_exported_and_erased_by_it(form: str, document: dict[str, Any]) -> None:
    with memory() as kept:
        assert kept.capture(document, form)["turns"]["new"] > 0
        assert SPOKEN in kept.client.erasure.export_user("ann-9")
        assert kept.client.erasure.user("ann-9").turns > 0
        with pytest.raises(StoreNotFound):
            kept.client.erasure.user("bob")


@pytest.mark.parametrize("mode", ["full", "redacted", "none"])
def test_an_e_mail_address_as_the_user_is_held_as_one_in_a_context_of_ours_is(mode: str) -> None:
    theirs, _ = captured({**CHAT, "user": EMAIL}, mode=mode, form="openai-chat")
    ours, _ = captured({**CHAT, "context": {"user_id": EMAIL}}, mode=mode, form="openai-chat")
    for name in ("context", "turns", "native"):
        assert theirs["inputs"][name] == ours["inputs"][name]
    assert theirs["inputs"]["context"] == {"user_id": EMAIL}
    assert theirs["telemetry"].get("redactions") == ours["telemetry"].get("redactions")


def test_the_page_names_every_field_of_every_format() -> None:
    page = (REPOSITORY / "docs" / "formats.md").read_text()
    rows = {line.split("|")[1].strip(" `"): line for line in page.splitlines() if line.startswith("| `")}
    table = page[page.index("## The end user") :].split("\n## ")[0]
    for form in READS:
        row = next((line for line in table.splitlines() if line.startswith("|") and f"`{form}`" in line), "")
        assert form in rows
        assert [".".join(at) for at in FIELDS.get(form, ()) if f"`{'.'.join(at)}`" not in row] == []
