"""The insights of a session, through a real embedded store: figures of its history, and topics that set it apart."""

import json
import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from agent.bootstrap import capture_service_on, store_client
from agent.capture.service import NATIVE, CaptureRequest
from agent.config import Settings
from agent.content.policy import FULL
from agent.core.ids import session_uuid
from agent.core.session import fold
from agent.core.summary import statistics, summary
from agent.errors import StoreConnectionError, StoreNotFound, StoreWriteError, ValidationError
from agent.observability.tracing import NoSpans
from agent.recall.held import HeldSession, HeldSessions
from agent.recall.insights import insights
from agent.recall.speakers import CaptureAgents
from agent.ruvector.client import RuvectorClient
from agent.ruvector.models import StoreStats
from agent.ruvector.reads import StoreReads
from tests.core.said_turns import talk

FLIGHTS = [
    ("Please book a flight from Boston to Denver.", "Which flight do you want, morning or evening?"),
    ("I need to cancel my flight.", "Your flight is cancelled."),
    ("Change my flight, please.", "Your flight is changed."),
]
INSURANCE = ["Does my insurance cover this flight?", "The insurance covers delays of your flight.", "And the baggage?"]


@pytest.fixture
def client() -> Iterator[RuvectorClient]:
    client = store_client(Settings.from_env({"RUVECTOR_SERVICE_URL": "embedded::memory:"}))
    yield client
    client.close()


def capture(client: RuvectorClient, session: str, *contents: str, agent_id: str | None = None, **turn: Any) -> str:
    """Capture what a user and an assistant said in turn; the session's UUID."""
    turns = [
        {
            "turn_id": f"t{place}",
            "role": "assistant" if place % 2 else "user",
            "content": content,
            "timestamp": f"2026-03-02T08:15:{place:02}Z",
            **turn,
        }
        for place, content in enumerate(contents)
    ]
    payload = {
        "session_id": session,
        "conversation_id": session,
        "turns": turns,
        "context": {} if agent_id is None else {"agent_id": agent_id},
        "capture_options": {"derive_ids": True},
    }
    request = CaptureRequest(
        body=json.dumps(payload).encode(), format=NATIVE, idempotency_key=None, execution_ref=str(uuid.uuid4())
    )
    capture_service_on(lambda: client, FULL).capture(request, NoSpans())
    return session_uuid(session)


def held(client: RuvectorClient, session_id: str) -> HeldSession:
    return HeldSessions(client.reads).session(session_id)


def seen(client: RuvectorClient, session_id: str) -> dict[str, Any]:
    return insights(client.reads, "its name", held(client, session_id))


def test_insights_are_the_figures_of_what_the_history_shows(client: RuvectorClient) -> None:
    session = capture(client, "trip", *INSURANCE, agent_id="travel")
    assert seen(client, session) == {
        "session_id": "its name",
        "message_count": 3,
        "duration": 2.0,
        "topics": ["insurance", "flight", "baggage", "cover", "delays"],
        "agents_used": ["travel"],
        "user_messages": 2,
        "assistant_messages": 1,
    }


def test_what_other_sessions_speak_of_too_comes_behind_what_sets_this_one_apart(client: RuvectorClient) -> None:
    session = capture(client, "trip", "My flight? My flight!", "Your flight.", "The insurance", "Yes")
    assert seen(client, session)["topics"] == ["flight", "insurance"]
    for place, contents in enumerate(FLIGHTS):
        capture(client, f"other {place}", *contents)
    assert seen(client, session)["topics"] == ["insurance", "flight"]


def test_a_message_that_comes_again_with_its_history_counts_once(client: RuvectorClient) -> None:
    used = {"prompt_tokens": 2, "completion_tokens": 3, "total_tokens": 5}
    contents = ["one", "two", "three", "four", "five", "six"]
    for count in (2, 4, 6):
        session = capture(client, "grown", *contents[:count], token_usage=used)
    state = held(client, session).state
    assert seen(client, session)["message_count"] == summary(state).message_count == 6
    assert statistics(state.history).document() == {
        "total_messages": 6,
        "by_role": {"user": 3, "assistant": 3},
        "token_usage": {name: 6 * count for name, count in used.items()},
    }
    row = client.reads.session(session)
    assert summary(state).document() == {
        "message_count": 6,
        "last_activity": row.last_activity,
        "session_started": row.created_at,
    }


def test_a_session_that_was_erased_has_gaps_and_no_topics(client: RuvectorClient) -> None:
    session = capture(client, "trip", *INSURANCE, agent_id="travel")
    client.erasure.session(session)
    assert seen(client, session) == {
        "session_id": "its name",
        "message_count": 3,
        "duration": 0.0,
        "topics": [],
        "agents_used": [],
        "user_messages": 2,
        "assistant_messages": 1,
    }


@pytest.mark.parametrize(
    ("contents", "topics"),
    [
        (
            ["我想从上海到东京的机票。", "从上海到东京的机票有三个航班。", "上午的航班。"],
            ["机票", "上海", "东京", "航班", "上午"],
        ),
        (
            ["京都の旅館を教えて", "嵐山の旅館はいかがですか。温泉も", "温泉がある旅館"],
            ["旅館", "温泉", "京都", "嵐山"],
        ),
        (["김치찌개 만드는 방법", "김치찌개는 김치를", "돼지고기"], ["김치찌개", "돼지고기", "방법", "만드"]),
        (["ตั๋วเครื่องบินไปเชียงใหม่", "จองตั๋วเครื่องบินแล้ว"], ["ตั๋วเครื่องบิน"]),
        (["Сколько варить борщ?", "Борщ варят час."], ["борщ", "сколько", "варить", "варят", "час"]),
        (["दिल्ली से मुंबई की ट्रेन", "मुंबई की ट्रेन शाम को"], ["मुंबई", "ट्रेन", "दिल्ली", "शाम"]),
        (["أريد حجز فندق في القاهرة", "فندق جيد في القاهرة"], ["القاهرة", "فندق", "أريد", "حجز", "جيد"]),
    ],
)
def test_topics_are_of_any_script(client: RuvectorClient, contents: list[str], topics: list[str]) -> None:
    session = capture(client, "script", *contents)
    found = seen(client, session)["topics"]
    assert sorted(found) == sorted(topics)
    # In a store with more of all of it, what is asked for is found, and this session apart.
    capture(client, "other", *INSURANCE)
    assert seen(client, session)["topics"] == found


class Counting:
    """The store's reads, counted by what they ask for; ``refused`` names those that it does not have."""

    def __init__(self, reads: StoreReads, *refused: str) -> None:
        self._reads = reads
        self._refused = refused
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:
        self.asked.append(name)
        if name in self._refused:
            raise StoreNotFound("the store has no such read")
        return getattr(self._reads, name)


def test_the_store_is_asked_a_bounded_number_of_times(client: RuvectorClient) -> None:
    session = capture(client, "long", *(f"message {chr(97 + place % 26) * 5}" for place in range(60)))
    reads = Counting(client.reads)
    insights(reads, session, held(client, session), CaptureAgents())
    assert reads.asked.count("sessions") == 16
    assert reads.asked.count("stats") == 1


def test_of_many_sessions_the_ones_that_were_active_last_are_the_others(client: RuvectorClient) -> None:
    for place in range(4):
        capture(client, f"old {place}", "My insurance", "Yes")
    session = capture(client, "trip", "My flight? The insurance", "Your flight, your insurance")
    for place in range(2):
        capture(client, f"new {place}", *FLIGHTS[place])
    found = insights(client.reads, session, held(client, session), others=3)
    assert found["topics"] == ["insurance", "flight"]
    found = insights(client.reads, session, held(client, session), others=6)
    assert found["topics"] == ["flight", "insurance"]


def test_a_store_that_lists_fewer_sessions_than_it_counts_is_taken_at_its_count(client: RuvectorClient) -> None:
    session = capture(client, "trip", *INSURANCE)
    reads = Counting(client.reads)
    reads.stats = lambda: StoreStats(sessions=5000, turns=1, events=1, bytes=1)
    assert insights(reads, session, held(client, session))["topics"][0] == "insurance"


@pytest.mark.parametrize("missing", ["stats", "sessions"])
def test_a_store_without_a_search_leaves_the_session_to_its_own_words(client: RuvectorClient, missing: str) -> None:
    session = capture(client, "trip", *INSURANCE)
    for place, contents in enumerate(FLIGHTS):
        capture(client, f"other {place}", *contents)
    found = insights(Counting(client.reads, missing), session, held(client, session))
    assert found["topics"] == ["insurance", "flight", "baggage", "cover", "delays"]


@pytest.mark.parametrize("length", [64, 65, 512, 600])
def test_a_message_with_a_very_long_word_has_its_other_topics(client: RuvectorClient, length: int) -> None:
    session = capture(client, "trip", *INSURANCE, "w" * length)
    topics = seen(client, session)["topics"]
    assert topics == ["insurance", "flight", "baggage", "cover", "delays"]


class Refusing:
    """The store's reads, which refuse to look for one term."""

    def __init__(self, reads: StoreReads, term: str, error: Exception) -> None:
        self._reads = reads
        self._term = term
        self._error = error

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reads, name)

    def sessions(self, **asked: Any) -> Any:
        if asked.get("q") == self._term:
            raise self._error
        return self._reads.sessions(**asked)


@pytest.mark.parametrize(
    "error", [StoreWriteError("refused", upstream_status=400), ValidationError("what is asked for makes no address")]
)
def test_a_term_that_the_store_refuses_to_look_for_is_no_topic(client: RuvectorClient, error: Exception) -> None:
    session = capture(client, "trip", *INSURANCE)
    found = insights(Refusing(client.reads, "insurance", error), session, held(client, session))
    assert found["topics"] == ["flight", "baggage", "cover", "delays"]


@pytest.mark.parametrize("status", [401, 403, 500, 503])
def test_any_other_answer_of_the_store_is_a_failure(client: RuvectorClient, status: int) -> None:
    session = capture(client, "trip", *INSURANCE)
    reads = Refusing(client.reads, "insurance", StoreWriteError("no answer", upstream_status=status))
    with pytest.raises(StoreWriteError):
        insights(reads, session, held(client, session))


class Failing:
    def stats(self) -> None:
        raise StoreConnectionError("gone")


def test_a_store_that_fails_is_no_session_without_topics() -> None:
    with pytest.raises(StoreConnectionError):
        insights(Failing(), "s", HeldSession("s", fold(talk("insurance")), 1))


def test_an_empty_session_asks_the_store_for_nothing() -> None:
    found = insights(Failing(), "s", HeldSession("s", fold([]), 0))
    assert found == {
        "session_id": "s",
        "message_count": 0,
        "duration": 0.0,
        "topics": [],
        "agents_used": [],
        "user_messages": 0,
        "assistant_messages": 0,
    }
