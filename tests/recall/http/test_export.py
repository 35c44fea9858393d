"""``GET .../export``: a session as a file, whose name is safe wherever it is saved."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from agent.cli.memory.sessions.exported_session import exported_session
from agent.core.ids import session_uuid
from agent.formats import WRITES
from agent.formats.writers import writer
from agent.recall.http.export import FILES
from tests.recall.http.site import CONVERSATION, SESSION, Site, payload, said, site, turn_id

PATH = f"/api/conversation/{SESSION}"


@pytest.fixture
def made() -> Iterator[Site]:
    with site() as made:
        yield made


@pytest.mark.parametrize(
    ("name", "content_type", "suffix"),
    [
        ("json", "application/json", "json"),
        ("markdown", "text/markdown; charset=utf-8", "md"),
        ("text", "text/plain; charset=utf-8", "txt"),
        ("jsonl", "application/x-ndjson", "jsonl"),
        ("native", "application/x-ndjson", "jsonl"),
        *((name, "application/json", f"{name}.json") for name in WRITES),
    ],
)
def test_each_kind_of_file_has_its_type_and_a_name_made_of_the_uuid(
    made: Site, name: str, content_type: str, suffix: str
) -> None:
    evil = '../"\r\nX: y'
    made.capture(payload(said(1, "Zoë 🚀"), session=evil, capture_options={"derive_ids": True}))
    response = made.ask("/api/conversation/..%2F%22%0D%0AX%3A%20y/export", query_string={"format": name})
    assert response.headers["Content-Type"] == content_type
    expected = f'attachment; filename="session-{session_uuid(evil)}.{suffix}"'
    assert response.headers["Content-Disposition"] == expected
    assert "Zoë 🚀".encode() in response.get_data()
    assert response.headers["ETag"].startswith('"1-')


def test_json_is_the_whole_history_with_the_state(made: Site) -> None:
    memory = {"memory": {"params": {"a": 2**70}}}
    made.capture(payload(*(said(number, f"t{number}", metadata=memory) for number in range(1, 1102))))
    found = made.get(f"{PATH}/export")
    assert [message["content"] for message in found["messages"]] == [f"t{number}" for number in range(1, 1102)]
    assert found["state"]["params"] == {"a": 2**70}
    assert found["message_count"] == 1101
    assert "has_more" not in found
    # A page has 1000 at most.
    assert made.get(PATH)["has_more"] is True


def test_json_lines_are_payloads_with_every_branch(made: Site) -> None:
    made.capture(payload(said(1, "q"), said(2, "old", "assistant")))
    made.capture(payload({**said(3, "new", "assistant"), "parent_turn_id": turn_id(1)}))
    lines = made.ask(f"{PATH}/export?format=jsonl").get_data().splitlines()
    turns = [turn["content"] for line in lines for turn in json.loads(line)["turns"]]
    assert turns == ["q", "old", "new"]
    assert made.history() == ["q", "new"]


def test_texts_say_how_much_they_do_not(made: Site) -> None:
    made.capture(
        payload(
            said(1, "a", metadata={"x": 1}),
            said(2, "b"),
            said(3, "c", token_usage={"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}),
        )
    )
    made.client.erasure.turn(turn_id(2))
    for name in ("markdown", "text"):
        headers = made.ask(f"{PATH}/export?format={name}").headers
        assert (headers["X-Erased-Turns"], headers["X-Left-Out"]) == ("1", "metadata=1, token_usage=1")
    headers = made.ask(f"{PATH}/export?format=jsonl").headers
    assert (headers["X-Erased-Turns"], headers["X-Left-Out"]) == ("1", "none")


@pytest.mark.parametrize("name", FILES)
def test_every_file_says_what_is_gone_and_what_it_does_not_say(made: Site, name: str) -> None:
    made.capture(payload(said(1, "a"), said(2, "b"), said(3, "old", "assistant")))
    made.capture(payload({**said(4, "new", "assistant"), "parent_turn_id": turn_id(2)}))
    made.client.erasure.turn(turn_id(1))
    headers = made.ask(f"{PATH}/export?format={name}").headers
    assert headers["X-Erased-Turns"] == "1"
    left_out = dict(each.split("=") for each in headers["X-Left-Out"].split(", ") if each != "none")
    assert left_out.get("not_in_history") == (None if name in ("jsonl", "native") else "1")


def test_the_export_of_one_conversation_counts_no_turn_of_another(made: Site) -> None:
    made.capture(payload(said(1, "mine")))
    made.capture(payload(said(2, "other"), conversation=turn_id(50)))
    assert made.ask(f"{PATH}/export?conversation_id={CONVERSATION}").headers["X-Left-Out"] == "none"


@pytest.mark.parametrize("name", WRITES)
def test_a_file_in_another_format_is_the_document_that_the_command_line_writes(made: Site, name: str) -> None:
    made.capture(payload(said(1, "Where is parcel 4471?"), said(2, "In Lyon.", "assistant", model="m-1")))
    found = made.get(f"{PATH}/export?format={name}")
    session = exported_session(made.client.reads, SESSION, None)
    (written,) = writer(name)(session).documents
    assert made.ask(f"{PATH}/export?format={name}").get_data(as_text=True) == written
    assert found["session_id"] == SESSION
    assert found.keys().isdisjoint({"success", "left_out", "erased"})


def test_native_is_another_name_of_json_lines(made: Site) -> None:
    made.capture(payload(said(1, "a"), said(2, "b", "assistant")))
    texts = {made.ask(f"{PATH}/export?format={name}").get_data() for name in ("jsonl", "native")}
    assert len(texts) == 1


def test_one_conversation_is_exported_alone(made: Site) -> None:
    made.capture(payload(said(1, "mine")))
    made.capture(payload(said(2, "other"), conversation=turn_id(50)))
    for name in ("json", "markdown", "text", "jsonl"):
        text = made.ask(f"{PATH}/export?format={name}&conversation_id={CONVERSATION}").get_data(as_text=True)
        assert "mine" in text
        assert "other" not in text


def test_a_session_that_is_erased_whole_is_an_empty_file(made: Site) -> None:
    made.capture(payload(said(1, "secret")))
    made.client.erasure.session(SESSION)
    response = made.ask(f"{PATH}/export?format=jsonl")
    assert (response.get_data(), response.headers["X-Erased-Turns"]) == (b"", "1")
    assert "secret" not in made.ask(f"{PATH}/export?format=markdown").get_data(as_text=True)
