"""Any interleaving of appends, duplicates, revisions, branches, erasures and reads gives, on every engine, the answers
of the model that was written from CONTRACT 10."""

import json
from typing import Any
from unicodedata import normalize

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from agent.core.canonical import canonical
from store.upkeep.verify import Finding, verify
from store.urls import open_store
from tests.store import model_erasure, model_lists
from tests.store.engines import fresh_tenant
from tests.store.model import ModelStore
from tests.store.scripts import contexts, erasures, event_queries, session_queries, turn_queries, writes
from tests.store.surface import Surface, envelope

ERASE = {
    "session": model_erasure.erase_session,
    "turn": model_erasure.erase_turn,
    "user": model_erasure.erase_user,
}
COUNTED = ("kind", "position", "sessions", "turns", "events")
MODES: list[list[str]] = [[], ["content_redacted"], ["content_omitted"]]
# What of a turn is sent otherwise: no letter in it that is searched for.
forms = st.sampled_from(
    [
        lambda _: {},
        lambda turn: {"turn_id": turn["turn_id"].swapcase()},
        lambda _: {"content": "[1]"},
        lambda _: {"content": "[2]", "timestamp": "2026-03-02T08:00:02Z"},
    ]
)
Write = tuple[dict[str, Any], str | None]


def same(found: list[dict[str, Any]], expected: list[dict[str, Any]]) -> None:
    """Compare row by row, so that a failure shows the row alone."""
    for row, wanted in zip(found, expected, strict=False):
        assert row == wanted
    assert len(found) == len(expected)


class StoreMachine(RuleBasedStateMachine):
    """A SQLite store, a tenant of a PostgreSQL store and the model, to which the same things happen."""

    def __init__(self) -> None:
        super().__init__()
        self.model = ModelStore()
        self.surfaces = [Surface(open_store("sqlite:///:memory:")), fresh_tenant()]
        self.sent: list[Write] = []

    def teardown(self) -> None:
        """Also what nothing looked at before: some of it is written by the next that reads it."""
        try:
            self.says_what_the_model_says()
            found: list[Finding] = []
            verify(self.surfaces[0].store, found.append)
            assert found == []
        finally:
            for surface in self.surfaces:
                surface.close()

    @initialize(first=st.lists(writes, min_size=1, max_size=6))
    def begin(self, first: list[Write]) -> None:
        for write in first:
            self.append(write)

    @rule(write=writes)
    def append(self, write: Write) -> None:
        body, key = write
        self.sent.append((json.loads(json.dumps(body)), key))
        expected = self.model.append(body, key)
        for surface in self.surfaces:
            answer = surface.post(body, key=key)
            if expected is None:
                assert answer.status_code == 409
                continue
            assert answer.status_code == (201 if expected["status"] == "accepted" else 200), answer.text
            assert {name: value for name, value in answer.json().items() if name != "eventId"} == expected

    @rule(data=st.data())
    def append_again(self, data: st.DataObject) -> None:
        """What was sent before, perhaps with another key."""
        if self.sent:
            body, key = data.draw(st.sampled_from(self.sent))
            self.append((body, data.draw(st.sampled_from([key, None, "key-1"]))))

    @rule(data=st.data())
    def append_grown(self, data: st.DataObject) -> None:
        """The turns of something sent before and those of another, as a client sends its grown list."""
        captures = [body for body, _ in self.sent if "turns" in body["payload"].get("inputs", {})]
        (more, key) = data.draw(writes.filter(lambda write: "turns" in write[0]["payload"].get("inputs", {})))
        if captures:
            earlier = data.draw(st.sampled_from(captures))["payload"]["inputs"]["turns"]
            named = {turn["turn_id"].lower() for turn in earlier}
            inputs = more["payload"]["inputs"]
            inputs["turns"] = [*earlier, *[turn for turn in inputs["turns"] if turn["turn_id"].lower() not in named]]
            more["payload"]["inputs_hash"] = canonical(inputs).hex()[-64:] + str(len(self.sent))
            more["payload"]["outputs"] = {"session_id": inputs["session_id"]}
        self.append((more, key))

    @rule(data=st.data(), constraints=st.sampled_from(MODES), context=contexts())
    def append_in_another_mode(self, data: st.DataObject, constraints: list[str], context: dict[str, Any]) -> None:
        """The turns of something sent before, as a function with another CAPTURE_CONTENT sends them, or another user's.

        Each as it was, in letters of the other case, or with another content (CONTRACT 8).
        """
        captures = [body for body, _ in self.sent if "turns" in body["payload"].get("inputs", {})]
        if not captures:
            return
        body = json.loads(json.dumps(data.draw(st.sampled_from(captures))))
        inputs = {**body["payload"]["inputs"], "context": context, "place": len(self.sent)}
        inputs["turns"] = [{**turn, **data.draw(forms)(turn)} for turn in inputs["turns"]]
        sent = envelope(inputs, constraints_applied=constraints, outputs={"session_id": inputs["session_id"]})
        self.append((sent, None))

    @rule(erasure=erasures)
    def erase(self, erasure: tuple[str, str]) -> None:
        kind, name = erasure
        expected = ERASE[kind](self.model, name)
        for surface in self.surfaces:
            answer = surface.client.delete(f"/v1/{kind}s/{name}")
            if expected is None:
                assert answer.status_code == 404, answer.text
                continue
            assert answer.status_code == 200, answer.text
            assert {counted: answer.json()[counted] for counted in COUNTED} == expected

    @rule(query=event_queries)
    def list_events(self, query: dict[str, Any]) -> None:
        for surface in self.surfaces:
            assert surface.events(**query) == model_lists.events(self.model, **query)

    @rule(query=session_queries)
    def list_sessions(self, query: dict[str, Any]) -> None:
        for surface in self.surfaces:
            assert surface.sessions(**query) == model_lists.sessions(self.model, **query)

    @rule(query=turn_queries)
    def list_turns(self, query: dict[str, Any]) -> None:
        for name, session in self.model.sessions.items():
            if not session.turns:
                continue
            left = [
                turn.record()
                for turn in session.turns
                if query.get("after_seq", 0) < turn.seq < query.get("before_seq", 100)
                and turn.seq <= query.get("at_seq", 100)
                and turn.version > query.get("changed_after", 0)
                and turn.conversation == query.get("conversation_id", turn.conversation).lower()
            ]
            left = left[-query.get("last", 100) :][: query.get("limit", 100)]
            for surface in self.surfaces:
                assert surface.turns(name, **query) == left

    @rule(types=st.sampled_from([None, "plan_approved", "conversation_capture,plan_approved"]))
    def follow(self, types: str | None) -> None:
        query = {} if types is None else {"types": types}
        for surface in self.surfaces:
            assert surface.get("/events/decisions", **query)["events"] == model_lists.feed(self.model, types)

    @rule(q=st.sampled_from(["a", "b", "e\u0301", "\U0001f680", "a b"]))
    def search(self, q: str) -> None:
        """What stands there now is found, and nothing that was erased; an earlier revision may be found or not."""
        now, ever = model_lists.with_words(self.model, normalize("NFC", q).split())
        for surface in self.surfaces:
            assert now <= {row["session_id"] for row in surface.sessions(q=q)} <= ever

    @rule()
    def look(self) -> None:
        self.says_what_the_model_says()

    def says_what_the_model_says(self) -> None:
        for surface in self.surfaces:
            same(surface.events(), model_lists.events(self.model))
            same(surface.sessions(), model_lists.sessions(self.model))
            stats = surface.get("/v1/stats")
            assert {name: stats[name] for name in ("sessions", "turns", "events")} == model_lists.counts(self.model)
            for name, session in self.model.sessions.items():
                if session.turns:
                    same(surface.turns(name), [turn.record() for turn in session.turns])
                else:
                    assert surface.client.get(f"/v1/sessions/{name}/turns").status_code == 404


@pytest.mark.slow
def test_whatever_happens_to_a_store_every_engine_says_what_the_model_says() -> None:
    run_state_machine_as_test(
        StoreMachine,
        settings=settings(
            max_examples=120,
            stateful_step_count=14,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            report_multiple_bugs=False,
        ),
    )
