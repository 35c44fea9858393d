"""``store.upkeep.verify`` on planted damage of events: bodies, hashes, graphs, columns, layouts."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from store.engines.schema import DEFAULT_TENANT_KEY, event_key
from store.log.event_body import Rest, lay_out, open_body
from store.log.layout import Layout, Reference, unpack
from tests.store.filled import session
from tests.store.planted import ENGINES, Planted, planted
from tests.store.surface import turn_id


@pytest.fixture(params=ENGINES)
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Planted]:
    with planted(request.param, tmp_path) as found:
        yield found


def of_subject(found: list[Any], subject: str) -> list[tuple[str, str]]:
    return [(finding.kind, finding.detail) for finding in found if finding.subject == subject]


def flip(database: Planted, position: int, text: bytes, place: int = 0) -> None:
    """Flip a bit of the byte at ``place`` behind where ``text`` begins in a body."""
    key = event_key(DEFAULT_TENANT_KEY, position)
    kept = bytearray(database.one("SELECT body FROM events WHERE event_key = ?", key))
    at = bytes(kept).index(text) + place
    kept[at] ^= 1
    database.raw("UPDATE events SET body = ? WHERE event_key = ?", bytes(kept), key)


def test_a_flipped_byte_that_unpacks_well_is_found_by_the_hash(database: Planted) -> None:
    position, name = database.event(200)
    database.retell(position, b"Hello", b"Hellp")
    _, found = database.verify()
    assert (found[0].kind, found[0].subject) == ("wrong_hash", name)
    # What follows: the turn's own hash, and what the list shows of it.
    assert {finding.kind for finding in found[1:]} <= {"wrong_turn", "wrong_session"}
    assert all(session(200) in finding.subject for finding in found[1:])


def test_a_flipped_byte_of_a_packed_body_is_found_when_it_is_opened(database: Planted) -> None:
    position, name = database.event(104)
    flip(database, position, b"\x78", 500)
    _, found = database.verify()
    assert found[0].subject == name
    assert (found[0].kind, found[0].detail) == ("damaged_event", "a stored body is not what was written")
    assert all(session(104) in finding.subject for finding in found[1:])


# At which place in the session's events, and what the flipped byte stands in.
TEXTS = [(5, b'"session_id"'), (5, b'"payload"'), (5, b'"timestamp"'), (5, b'"turn_count"'), (5, b'"agent_id"')]
TEXTS += [
    (5, b'"telemetry"'),
    (5, b'"agent_version"'),
    (2, b'"turn_id"'),
    (2, b'assistant"'),
    (2, b"t4"),
    (2, b'"type"'),
]


@pytest.mark.parametrize(("place", "text"), TEXTS)
def test_a_flipped_byte_of_a_body_that_is_not_packed_is_found(place: int, text: bytes, database: Planted) -> None:
    position, name = database.event(100, place)
    key = event_key(DEFAULT_TENANT_KEY, position)
    assert database.one("SELECT body FROM events WHERE event_key = ?", key).startswith(b"\x00")
    flip(database, position, text, 1)
    _, found = database.verify()
    # The event itself, or the turn in it that its row knows otherwise; then the events that share the turn.
    assert found[0].subject == name or session(100) in found[0].subject


def test_a_flipped_byte_shows_in_the_snapshots_that_share_it(database: Planted) -> None:
    first, name = database.event(300)
    database.retell(first, b"text 1 ", b"text 3 ")
    _, found = database.verify()
    assert (found[0].kind, found[0].subject) == ("wrong_hash", name)
    hashes = [finding for finding in found if finding.kind == "wrong_hash"]
    assert len(hashes) == 12
    assert all(finding.detail.endswith(f"as turns of it stand in position {first}") for finding in hashes[1:])


def test_a_wrong_hash_is_found_and_nothing_else(database: Planted) -> None:
    position, name = database.event(201)
    database.rewrite(position, lambda document: document["payload"].update(stored_inputs_hash="ab" * 32))
    _, found = database.verify()
    assert [(finding.kind, finding.subject) for finding in found] == [("wrong_hash", name)]


def without_node(outputs: dict[str, Any]) -> str:
    return f"node {outputs['nodes_created'].pop(1)['node_id']} is missing"


def with_node(outputs: dict[str, Any]) -> str:
    outputs["nodes_created"].append({"node_id": turn_id(9), "node_type": "prompt", "turn_index": 9})
    return f"node {turn_id(9)} is there, which the inputs do not make"


def of_another_type(outputs: dict[str, Any]) -> str:
    outputs["nodes_created"][1]["node_type"] = "response"
    return f"node {outputs['nodes_created'][1]['node_id']} has another type or turn_index"


def nodes_turned(outputs: dict[str, Any]) -> str:
    outputs["nodes_created"].reverse()
    return "its nodes stand in another order"


def without_edge(outputs: dict[str, Any]) -> str:
    return f"edge {named(outputs['edges_created'].pop())} is missing"


def edge_turned(outputs: dict[str, Any]) -> str:
    edge = outputs["edges_created"][-1]
    name = named(edge)
    edge["from_node_id"], edge["to_node_id"] = edge["to_node_id"], edge["from_node_id"]
    return f"edge {name} is turned round"


def with_edge(outputs: dict[str, Any]) -> str:
    edge = {**outputs["edges_created"][0], "to_node_id": turn_id(9)}
    outputs["edges_created"].append(edge)
    return f"edge {named(edge)} is there, which the inputs do not make"


def edge_renamed(outputs: dict[str, Any]) -> str:
    outputs["edges_created"][0]["edge_id"] = turn_id(9)
    return f"edge {named(outputs['edges_created'][0])} has another id"


def edges_turned(outputs: dict[str, Any]) -> str:
    outputs["edges_created"].reverse()
    return "its edges stand in another order"


def no_edges(outputs: dict[str, Any]) -> str:
    outputs["edges_created"] = None
    return "its nodes or edges are not of the contract's shape"


def named(edge: dict[str, Any]) -> str:
    return f"{edge['edge_type']} from {edge['from_node_id']} to {edge['to_node_id']}"


GRAPHS = [without_node, with_node, of_another_type, nodes_turned, without_edge]
GRAPHS += [edge_turned, with_edge, edge_renamed, edges_turned, no_edges]


@pytest.mark.parametrize("plant", GRAPHS, ids=lambda plant: plant.__name__)
def test_a_graph_that_the_inputs_do_not_make_is_named_by_its_first_difference(
    plant: Callable[[dict[str, Any]], str], database: Planted
) -> None:
    position, name = database.event(201)
    details: list[str] = []
    database.rewrite(position, lambda document: details.append(plant(document["payload"]["outputs"])))
    _, found = database.verify()
    assert [(finding.kind, finding.subject, finding.detail) for finding in found] == [("wrong_graph", name, details[0])]


@pytest.mark.parametrize("plant", [without_node, edge_turned], ids=lambda plant: plant.__name__)
def test_the_graph_of_an_erased_event_is_looked_at_as_far_as_it_is_known(
    plant: Callable[[dict[str, Any]], str], database: Planted
) -> None:
    position, name = database.event(402)
    details: list[str] = []
    database.rewrite(position, lambda document: details.append(plant(document["payload"]["outputs"])))
    _, found = database.verify()
    edges = database.one("SELECT erased FROM events WHERE event_key = ?", event_key(DEFAULT_TENANT_KEY, position))
    assert edges == 2
    assert of_subject(found, name)[0][0] == "wrong_graph"


@pytest.mark.parametrize(
    ("member", "value"),
    [("turn_count", 7), ("total_tokens", 7), ("session_id", turn_id(5)), ("capture_timestamp", "2026-01-01T00:00:00Z")],
)
def test_outputs_that_do_not_fit_the_inputs_are_found(member: str, value: Any, database: Planted) -> None:
    position, name = database.event(201)
    database.rewrite(position, lambda document: document["payload"]["outputs"].update({member: value}))
    _, found = database.verify()
    detail = f"its outputs say something else than its inputs: {member}"
    assert [(finding.kind, finding.subject, finding.detail) for finding in found] == [("wrong_event", name, detail)]


PAYLOADS: dict[str, tuple[dict[str, Any], str]] = {
    "execution_ref": (
        {"execution_ref": turn_id(9)},
        "its envelope and its payload differ in execution_ref or timestamp",
    ),
    "inputs_hash": ({"inputs_hash": "no hash"}, "its inputs_hash is no SHA-256"),
    "outputs": ({"outputs": []}, "its outputs are not of the contract's shape"),
}


@pytest.mark.parametrize("member", PAYLOADS)
def test_what_our_agent_does_not_write_is_found(member: str, database: Planted) -> None:
    position, name = database.event(201)
    change, detail = PAYLOADS[member]
    database.rewrite(position, lambda document: document["payload"].update(change))
    _, found = database.verify()
    assert detail in [finding.detail for finding in found if finding.subject == name]


def test_a_number_that_nobody_can_have_sent_is_found(database: Planted) -> None:
    position, name = database.event(104)
    database.rewrite(position, lambda document: document["payload"]["inputs"].update(note=1.5))
    key = event_key(DEFAULT_TENANT_KEY, position)
    layout, kept = database.raw("SELECT layout, body FROM events WHERE event_key = ?", key)[0]
    body = open_body(unpack(layout), kept)
    rest = Rest(body.rest.text.replace(b'"note":1.5', b'"note":1e999'), None, has_turns=True)
    written = lay_out(rest, body.own, body.layout.turns)
    database.raw("UPDATE events SET layout = ?, body = ? WHERE event_key = ?", written.layout.pack(), written.kept, key)
    _, found = database.verify()
    assert (found[0].kind, found[0].subject) == ("wrong_hash", name)


COLUMNS: dict[str, Any] = {
    "tenant": 2,
    "execution_ref": b"another",
    "type": b"another",
    "agent_id": b"another",
    "decision_type": None,
    "inputs_hash": b"00" * 32,
    "ours": 0,
    "conversation_id": bytes(16),
    "user_digest": bytes(16),
    "timestamp": b"2026-01-01T00:00:00Z",
    "instant_us": 7,
    "turn_count": 99,
}


@pytest.mark.parametrize("column", COLUMNS)
def test_a_column_that_is_not_what_the_body_says_is_named(column: str, database: Planted) -> None:
    position, _ = database.event(100)
    key = event_key(DEFAULT_TENANT_KEY, position)
    database.raw(f"UPDATE events SET {column} = ? WHERE event_key = ?", COLUMNS[column], key)
    _, found = database.verify()
    assert found[0].kind == "wrong_event"
    assert found[0].subject.startswith(f"position {position} (")
    assert found[0].detail == f"its row says something else than its body: {column}"


LAYOUTS: dict[str, Callable[[Layout], bytes]] = {
    "no layout": lambda layout: b"{",
    "too short": lambda layout: replace(layout, chunks=(), kinds="").pack(),
    "another event": lambda layout: replace(layout, turns=(Reference(999_999, 0), *layout.turns[1:])).pack(),
    "another place": lambda layout: replace(
        layout, turns=(Reference(layout.turns[0].position, 77), *layout.turns[1:]), graph_at=None
    ).pack(),
    "no turns": lambda layout: replace(layout, has_turns=False).pack(),
    "another checksum": lambda layout: replace(layout, checksum=layout.checksum ^ 1).pack(),
}


@pytest.mark.parametrize("damage", LAYOUTS)
def test_a_damaged_layout_is_found_and_the_next_event_is_looked_at(damage: str, database: Planted) -> None:
    position, name = database.event(300, 5)
    key = event_key(DEFAULT_TENANT_KEY, position)
    layout = unpack(database.one("SELECT layout FROM events WHERE event_key = ?", key))
    database.raw("UPDATE events SET layout = ? WHERE event_key = ?", LAYOUTS[damage](layout), key)
    checked, found = database.verify()
    assert (found[0].kind, found[0].subject) == ("damaged_event", name)
    assert checked.events == database.one("SELECT count(*) FROM events")


def test_a_turn_taken_from_an_event_of_another_session_is_found(database: Planted) -> None:
    position, name = database.event(300, 5)
    other, _ = database.event(104)
    key = event_key(DEFAULT_TENANT_KEY, position)
    layout = unpack(database.one("SELECT layout FROM events WHERE event_key = ?", key))
    turns = (Reference(other, 0), *layout.turns[1:])
    changed = replace(layout, turns=turns)
    database.raw("UPDATE events SET layout = ? WHERE event_key = ?", changed.pack(), key)
    _, found = database.verify()
    kinds = [kind for kind, _ in of_subject(found, name)]
    assert kinds[:2] == ["wrong_hash", "wrong_event"]
