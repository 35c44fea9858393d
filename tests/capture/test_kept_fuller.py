"""Who sends turns in a narrower mode than they are stored in is told that the fuller bodies stay (CONTRACT 8)."""

import json
import re
from typing import Any

import pytest
from werkzeug.test import EnvironBuilder

from agent.bootstrap import capture_app
from agent.capture.request import CaptureRequest
from agent.core.receipt import Receipt, TurnCounts
from tests.capture.cases import BASE
from tests.capture.fakes import ACCEPTED, EXECUTION_REF, FakeSpans, FakeStore, service
from tests.conftest import REPOSITORY

KEPT = {"path": "$.turns", "rule": "fuller_body_kept"}
REWRITTEN = {"path": "$.messages", "rule": "history_rewritten"}
CHAT = {"session_id": "s-1", "messages": [{"role": "user", "content": "hi"}]}
CARD = "my card is 4111 1111 1111 1111"
RULES = ("unknown_field", "type", "history_rewritten", "entities_cut", "entities_not_read", "fuller_body_kept")


def answered(receipt: Receipt, payload: dict[str, Any], form: str = "native") -> dict[str, Any]:
    request = CaptureRequest(json.dumps(payload).encode(), form, None, EXECUTION_REF)
    answer: dict[str, Any] = json.loads(service(FakeStore(receipt=receipt)).capture(request, FakeSpans()).body)
    return answer


def test_the_answer_says_how_many_turns_stay_in_a_fuller_body_and_warns_once() -> None:
    counts = TurnCounts(new=1, known=4, revised=0, erased=0)
    answer = answered(ACCEPTED._replace(turns=counts, kept_fuller=4), BASE)
    assert answer["receipt"] == {
        "duplicate": False,
        "event_id": "e-1",
        "position": 7,
        "turns": {"new": 1, "known": 4, "revised": 0, "erased": 0},
        "kept_fuller": 4,
    }
    assert answer["warnings"] == [KEPT]


def test_where_none_does_or_the_store_does_not_say_nothing_is_said() -> None:
    answer = answered(ACCEPTED, BASE)
    assert ("kept_fuller" in answer["receipt"], answer["warnings"]) == (False, [])


def test_a_list_that_was_also_rewritten_is_warned_about_both() -> None:
    receipt = ACCEPTED._replace(turns=TurnCounts(0, 1, 1, 0), kept_fuller=1)
    assert answered(receipt, CHAT, "openai-chat")["warnings"] == [REWRITTEN, KEPT]


@pytest.mark.parametrize(("revised", "said"), [(0, [KEPT]), (1, [REWRITTEN, KEPT])])
def test_fifty_warnings_are_kept_and_the_stores_are_among_them(revised: int, said: list[dict[str, str]]) -> None:
    odd = {**CHAT, **{f"x{place}": place for place in range(60)}}
    receipt = ACCEPTED._replace(turns=TurnCounts(0, 1, revised, 0), kept_fuller=1)
    warnings = answered(receipt, odd, "openai-chat")["warnings"]
    assert len(warnings) == 50
    assert warnings[50 - len(said) :] == said


def test_of_an_append_whose_answer_was_lost_nothing_is_said_as_of_its_turns() -> None:
    lost = ACCEPTED._replace(duplicate=True, execution_ref=EXECUTION_REF, kept_fuller=1)
    answer = answered(lost, BASE)
    assert answer["receipt"] == {"duplicate": False, "event_id": "e-1", "position": 7}
    assert answer["warnings"] == []


@pytest.mark.parametrize("document", ["openapi", "events.openapi"])
def test_the_published_document_names_every_rule(document: str) -> None:
    schemas = json.loads((REPOSITORY / "schemas" / f"{document}.json").read_text())["components"]["schemas"]
    described = schemas["Warning"]["description"]
    assert tuple(re.findall(r"\w+", described.partition(":")[2])) == RULES
    assert schemas["Receipt"]["properties"]["kept_fuller"]["minimum"] == 1


class Writing:
    """Functions that write to one store, each with a CAPTURE_CONTENT of its own."""

    def __init__(self, store: str) -> None:
        self._store = store

    def post(self, mode: str, document: Any, query: str = "") -> dict[str, Any]:
        app = capture_app({"RUVECTOR_SERVICE_URL": f"embedded:{self._store}", "CAPTURE_CONTENT": mode})
        builder = EnvironBuilder(method="POST", path="/", query_string=query, data=json.dumps(document))
        answer: dict[str, Any] = json.loads(app.handle(builder.get_environ()).get_data())
        return answer


@pytest.fixture
def writing(tmp_path) -> Writing:
    return Writing(f"{tmp_path}/store.db")


def said(*contents: str) -> dict[str, Any]:
    turns = [
        {"turn_id": str(place), "role": "user", "content": content, "timestamp": f"2026-03-02T08:15:0{place}Z"}
        for place, content in enumerate(contents)
    ]
    options = {"derive_ids": True}
    return {"session_id": "s-1", "conversation_id": "c-1", "turns": turns, "capture_options": options}


def test_a_list_that_goes_on_redacted_says_that_what_came_in_full_stays(writing: Writing) -> None:
    writing.post("full", said(CARD, "hi"))
    answer = writing.post("redacted", said(CARD, "hi", "and so on"))
    assert answer["receipt"]["turns"] == {"new": 1, "known": 2, "revised": 0, "erased": 0}
    assert answer["receipt"]["kept_fuller"] == 1
    assert answer["warnings"] == [KEPT]
    assert answer["decision_event"]["telemetry"]["redactions"] == {"card": 1}
    again = writing.post("redacted", said(CARD, "hi", "and so on"))
    assert (again["receipt"]["duplicate"], "kept_fuller" in again["receipt"], again["warnings"]) == (True, False, [])


def test_so_does_a_list_of_messages(writing: Writing) -> None:
    messages = [{"role": "user", "content": CARD}, {"role": "assistant", "content": "Thank you."}]
    writing.post("full", {"session_id": "s-1", "messages": messages[:1]}, "format=openai-chat")
    answer = writing.post("redacted", {"session_id": "s-1", "messages": messages}, "format=openai-chat")
    assert (answer["receipt"]["kept_fuller"], answer["warnings"]) == (1, [KEPT])


def test_a_session_that_was_redacted_from_its_beginning_is_not_warned_about(writing: Writing) -> None:
    writing.post("redacted", said(CARD))
    assert writing.post("redacted", said(CARD, "hi"))["warnings"] == []
