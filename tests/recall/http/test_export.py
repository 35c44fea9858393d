"""``GET .../export``: a session as a file, whose name is safe wherever it is saved."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from agent.core.ids import session_uuid
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
    assert "X-Left-Out" not in made.ask(f"{PATH}/export?format=jsonl").headers


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
