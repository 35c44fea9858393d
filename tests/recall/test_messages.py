"""Messages of turns that another writer left: what holds no name or list is left out, and nothing fails."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agent.core.session_graph import session_graph
from agent.core.turn import SessionTurn
from agent.recall.drawings.label import label
from agent.recall.messages import message
from agent.recall.resolved_edges import resolved_edges
from agent.ruvector.feed import FedEvent, FeedPage
from tests.recall.http.described import validator
from tests.strategies import json_values

MESSAGE = json.dumps({"$ref": "#/components/schemas/Message"})
SESSION = "6f1d2c3a-8b4e-4f70-9a51-0c2d3e4f5a61"
CONVERSATION = "b7a1e0d4-5c39-4e82-8f16-2d7c9b0a4e13"


def turn(number: int = 1, role: str = "assistant", **fields: Any) -> SessionTurn:
    parent = name(number - 1) if number > 1 else None
    return SessionTurn(name(number), number, CONVERSATION, parent, role, "x", False, fields)


def name(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012x}"


def test_an_invocation_without_an_id_is_no_call_and_one_without_a_name_is_of_an_unknown_tool() -> None:
    entries = [{"tool_name": "t"}, 7, {"invocation_id": name(9).upper(), "tool_name": 7, "native_id": 7, "more": 1}]
    shown = message(turn(tool_invocations=entries), agent=None, pairs={})
    assert shown["tool_calls"] == [{"invocation_id": name(9), "tool_name": "unknown"}]
    assert "tool_calls" not in message(turn(tool_invocations="x"), agent=None, pairs={})
    shown = message(turn(role="tool", tool_invocations=entries), agent=None, pairs={})
    assert shown["tool_results"] == [{"invocation_id": name(9), "tool_name": "unknown"}]


def test_an_own_id_that_is_no_text_is_left_out() -> None:
    assert "native_id" not in message(turn(native_id={"a": 1}), agent=None, pairs={})
    assert message(turn(native_id="m-1"), agent=None, pairs={})["native_id"] == "m-1"


@given(json_values, json_values, json_values, st.sampled_from(["assistant", "tool"]))
def test_whatever_stands_in_a_turn_makes_a_message_that_is_described(
    metadata: Any, invocations: Any, native: Any, role: str
) -> None:
    fields = {"metadata": metadata, "tool_invocations": invocations, "native_id": native}
    shown = message(turn(role=role, **fields), agent="a", pairs={})
    validator(MESSAGE).validate(shown)
    assert shown.get("metadata") == metadata


# What captures say of edges.


class Reads:
    """A store with these envelopes."""

    def __init__(self, *envelopes: Any) -> None:
        self._envelopes = envelopes

    def raw_events(self, **_: Any) -> FeedPage:
        texts = (each if isinstance(each, bytes) else json.dumps(each).encode() for each in self._envelopes)
        return FeedPage(tuple(FedEvent(text, 1, "r", None, None) for text in texts), None)


def having(edges: Any) -> Any:
    return {"payload": {"outputs": {"edges_created": edges}}}


def test_an_edge_is_stated_by_its_three_names_in_any_case_and_by_nothing_else() -> None:
    graph = session_graph(SESSION, [turn(1, "user"), turn(2, "user")])
    follows = {"edge_type": "follows", "from_node_id": name(2).upper(), "to_node_id": name(1)}
    foreign = [having(7), having([7, {"edge_type": "follows"}]), {"payload": 7}, b"[]", b"not json", having(None)]

    def kinds(*envelopes: Any) -> list[str]:
        found = resolved_edges(Reads(*envelopes), graph)  # type: ignore[arg-type]  # all that it reads
        return sorted(edge.edge_type for edge in found)

    assert kinds(*foreign) == ["belongs_to", "belongs_to", "follows"]
    assert kinds(*foreign, having([follows])) == ["belongs_to", "belongs_to"]


# Labels of drawings.


@given(st.text(max_size=300), st.integers(4, 60))
def test_a_label_is_one_line_of_visible_characters_in_its_width(text: str, width: int) -> None:
    shown = label(text, width)
    assert len(shown) <= width
    assert shown.isprintable()


def test_a_label_is_the_start_of_its_text() -> None:
    assert label("a  b\n\tc", 40) == "a b c"
    assert label("x" * 41, 40) == "x" * 37 + "..."
    assert label("x" * 40, 40) == "x" * 40
    assert label(" " * 500 + "x", 40) == "..."
    assert label("", 40) == ""
