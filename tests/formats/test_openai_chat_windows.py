"""A client that sends a part of its list: what is known stays known, and the order is that of the whole list."""

import copy
import itertools
import json
import uuid

import httpx
import pytest

from agent.bootstrap import capture_service_on, new_id, utc_now
from agent.capture.service import CaptureRequest
from agent.content.policy import FULL
from agent.formats import OPENAI_CHAT, reader
from agent.observability.tracing import NoSpans
from agent.ruvector.client import RuvectorClient
from store.engines.sqlite import SqliteStore
from store.server import create_app
from tests.formats.chat_messages import CAPTURED_AT
from tests.live.payloads import encoded

CALL = {"id": "call_7", "type": "function", "function": {"name": "track", "arguments": '{"n":4471}'}}
MESSAGES = [
    {"role": "user", "content": "Where is parcel 4471?"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call_7", "content": "Bern"},
    {"role": "assistant", "content": "It is in Bern."},
    {"role": "user", "content": "And 4472?"},
    {"role": "assistant", "content": "In Basel."},
    {"role": "user", "content": "Thanks"},
]


class Conversation:
    """One chat session in an embedded store in memory."""

    def __init__(self):
        store = SqliteStore(":memory:")
        app = create_app(store, clock=utc_now, new_id=new_id)
        self._client = httpx.Client(transport=httpx.WSGITransport(app=app), base_url="http://store.invalid")
        self._session = f"chat-{uuid.uuid4()}"
        self._app = app
        self._close = store.close

    def send(self, messages, **fields):
        """Capture a part of the list; gives the receipt's turn counts and the warnings."""
        client = RuvectorClient(
            httpx.WSGITransport(app=self._app), base_url="http://store.invalid", api_key=None, kind="embedded"
        )
        body = {"session_id": self._session, "messages": messages, **fields}
        request = CaptureRequest(encoded(body), "openai-chat", None, str(uuid.uuid4()))
        answer = json.loads(capture_service_on(lambda: client, FULL).capture(request, NoSpans()).body)
        self.session_id = answer["output"]["session_id"]
        return answer["receipt"]["turns"], answer["warnings"]

    def turns(self):
        return self._client.get(f"/v1/sessions/{self.session_id}/turns").json()["turns"]

    def chain(self):
        """Contents from the root to the end, along the resolved parents."""
        turns = self.turns()
        children = {turn["parent_turn_id"]: turn for turn in turns}
        assert len(children) == len(turns), "two turns share a parent"
        chain, at = [], None
        while at in children:
            chain.append(children[at]["content"])
            at = children[at]["turn_id"]
        return chain

    def close(self):
        self._client.close()
        self._close()


@pytest.fixture
def conversation():
    opened = Conversation()
    yield opened
    opened.close()


CONTENTS = [message["content"] or "" for message in MESSAGES]


def test_a_window_that_begins_with_a_result_revises_nothing(conversation):
    conversation.send(MESSAGES[:4])
    counts, warnings = conversation.send(MESSAGES[2:5], start_index=2)
    assert counts == {"new": 1, "known": 2, "revised": 0, "erased": 0}
    assert warnings == []
    call, result = conversation.turns()[1:3]
    assert result["tool_invocations"][0]["tool_name"] == "track"
    assert result["tool_invocations"][0]["invocation_id"] == call["tool_invocations"][0]["invocation_id"]


@pytest.mark.parametrize("parts", list(itertools.permutations([(0, 3), (2, 5), (5, 7), (0, 7)])))
def test_windows_in_any_order_make_the_whole_list_in_its_order(conversation, parts):
    new = 0
    for first, last in parts:
        counts, warnings = conversation.send(MESSAGES[first:last], start_index=first)
        assert counts["revised"] == 0
        assert warnings == []
        new += counts["new"]
    assert new == 7
    assert conversation.chain() == CONTENTS


def test_a_result_that_names_another_call_than_before_is_a_rewritten_history(conversation):
    conversation.send(MESSAGES[:4])
    changed = copy.deepcopy(MESSAGES[:4])
    changed[2]["tool_call_id"] = "call_8"
    counts, warnings = conversation.send(changed)
    assert counts == {"new": 0, "known": 3, "revised": 1, "erased": 0}
    assert warnings == [{"path": "$.messages", "rule": "history_rewritten"}]
    [invocation] = conversation.turns()[2]["tool_invocations"]
    assert (invocation["tool_name"], invocation["native_id"]) == ("unknown", "call_8")


def test_the_record_of_a_rewritten_list_names_the_calls_that_its_event_names(conversation):
    conversation.send([{"role": "system", "content": "Be brief."}, *MESSAGES[:4]])
    conversation.send(MESSAGES[:4])
    call, result = conversation.turns()[1:3]
    assert (call["role"], result["role"]) == ("assistant", "tool")
    assert [one["invocation_id"] for one in result["tool_invocations"]] == [
        call["tool_invocations"][0]["invocation_id"]
    ]
    assert "arguments" not in result["tool_invocations"][0]


def test_a_gap_between_windows_waits_for_what_is_missing(conversation):
    conversation.send(MESSAGES[:2])
    conversation.send(MESSAGES[5:], start_index=5)
    assert conversation.chain() == CONTENTS[:2]
    conversation.send(MESSAGES[2:5], start_index=2)
    assert conversation.chain() == CONTENTS


def test_deltas_go_on_where_the_conversation_is(conversation):
    conversation.send(MESSAGES[:4])
    conversation.send(MESSAGES[4:5], mode="delta", request_id="r-1")
    conversation.send(MESSAGES[5:], mode="delta", request_id="r-2")
    assert conversation.chain() == CONTENTS


def test_a_snapshot_names_the_place_before_and_a_delta_does_not():
    def parents(**fields):
        body = {"session_id": "s", "messages": MESSAGES[:2], **fields}
        turns = reader(OPENAI_CHAT).read(body, captured_at=CAPTURED_AT).payload["turns"]
        return [turn.get("parent_turn_id", "absent") for turn in turns], [turn["turn_id"] for turn in turns]

    whole, ids = parents()
    assert whole == [None, ids[0]]
    later, later_ids = parents(start_index=1)
    assert later == [ids[0], later_ids[0]]
    assert later_ids[0] == ids[1]
    assert parents(mode="delta", request_id="r")[0] == ["absent", "absent"]
