"""Both laws of the formats that go both ways, for every document that we have: our copies and the shared data.

As stored: read and written again, a document's messages are the same JSON. Bare, with nothing left but the turns' own
fields: what was said still is (``spoken``). What is lost is counted, and the documentation shows the counts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from agent.formats import READS
from agent.formats.conversation.recording import recorded_calls
from tests.formats.corpus import BOTH_WAYS, OURS, documents
from tests.formats.explained import unexplained
from tests.formats.lost_table import account, current, documented, table
from tests.formats.round_trips import bare, spoken, written
from tests.formats.whole_sessions import posted, sessions

# Where a document of the format has its messages.
MESSAGES = {
    "openai-chat": "messages",
    "openai-responses": "input",
    "anthropic": "messages",
    "gemini": "contents",
    "bedrock-converse": "messages",
    "langchain": "messages",
    "openai-agents": "items",
    "google-adk": "events",
    "pydantic-ai": "messages",
    "sharegpt": "conversations",
}

# The formats whose documents hold messages as such: requests, answers, recordings of both.
TO_THE_LETTER = (
    "openai-chat",
    "openai-responses",
    "anthropic",
    "gemini",
    "bedrock-converse",
    "pydantic-ai",
    "sharegpt",
)


@pytest.fixture(params=["ours", "shared"])
def folder(request: pytest.FixtureRequest) -> Path:
    """The folder of our copies, and that of the shared data."""
    if request.param == "ours":
        return OURS
    return Path(request.getfixturevalue("shared")) / "data"


def same(one: Any, other: Any) -> bool:
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def objects_in(value: Any) -> Iterator[str]:
    """All objects in ``value``, bodies that are JSON in a string included; of an answer, the message that it is."""
    if isinstance(value, str) and value.startswith(("{", "[")):
        with suppress(ValueError):
            yield from objects_in(json.loads(value))
    elif isinstance(value, dict):
        yield json.dumps(value, sort_keys=True)
        if "role" in value and "content" in value:
            yield json.dumps({"role": value["role"], "content": value["content"]}, sort_keys=True)
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from objects_in(each)


def given_back(form: str, document: Any) -> list[Any]:
    """The messages of a document that we wrote."""
    return list(document["session"]["events"] if form == "google-adk" else document[MESSAGES[form]])


def told_messages(form: str, document: Any) -> list[Any] | None:
    """The messages that stand in ``document`` as a list; None where they stand otherwise."""
    if form not in MESSAGES or recorded_calls(document) is not None:
        return None
    messages = document.get(MESSAGES[form]) if isinstance(document, dict) else document
    if form == "openai-responses" and isinstance(document, dict) and "output" in document:
        # An answer repeats what it was asked.
        messages = (messages if isinstance(messages, list) else []) + document["output"]
    is_list = isinstance(messages, list) and all(isinstance(message, dict) for message in messages)
    return messages if is_list else None


@pytest.mark.parametrize("form", BOTH_WAYS)
def test_messages_that_came_as_a_list_come_back_as_they_were(form: str, folder: Path) -> None:
    differing = []
    for _, name, document in documents(folder, form):
        told = told_messages(form, document)
        found = [written(form, session)[0] for session in sessions(form, document)] if told else []
        if len(found) == 1 and not same(given_back(form, found[0]), told):
            differing.append(name)
    assert differing == []


@pytest.mark.parametrize("form", TO_THE_LETTER)
def test_every_message_given_back_stands_in_its_document_to_the_letter(form: str, folder: Path) -> None:
    found, made_up = 0, []
    for _, name, document in documents(folder, form):
        if "data: " in json.dumps(document):
            continue  # a stream: its events together make the message
        there = set(objects_in(document))
        for session in sessions(form, document):
            messages = given_back(form, written(form, session)[0])
            found += len(messages)
            made_up += [name for message in messages if json.dumps(message, sort_keys=True) not in there]
    assert made_up == []
    assert found or not any(documents(folder, form))


@pytest.mark.parametrize("form", BOTH_WAYS)
def test_what_was_written_is_written_the_same_again(form: str, folder: Path) -> None:
    found, differing = 0, []
    for _, name, document in documents(folder, form):
        for session in sessions(form, document):
            found += 1
            first, _ = written(form, session)
            with posted(form, first) as copy:
                second, _ = written(form, copy)
            if not same(first, second) or spoken(copy) != spoken(session):
                differing.append(name)
    assert differing == []
    assert found or folder != OURS


@pytest.mark.parametrize("form", BOTH_WAYS)
def test_what_was_said_comes_back_from_the_turns_own_fields(form: str, folder: Path) -> None:
    differing = []
    for _, name, document in documents(folder, form):
        for session in sessions(form, document):
            first, result = written(form, bare(session))
            with posted(form, first) as copy:
                if missing := unexplained(session, copy, result.lost):
                    differing.append((name, missing))
    assert differing == []


@pytest.mark.parametrize("form", BOTH_WAYS)
def test_what_is_lost_of_our_copies_is_printed(form: str) -> None:
    found = account(form, OURS)
    print(table([(form, found)]))
    assert found.conversations


def test_every_format_that_is_read_has_data_of_its_own() -> None:
    assert {each.form for each in documents(OURS)} == set(READS)


def test_the_documentation_shows_what_is_lost_of_the_shared_data(shared: Path) -> None:
    assert documented() == current(), "run python -m tests.formats.lost_table, and put its table into docs/formats.md"
