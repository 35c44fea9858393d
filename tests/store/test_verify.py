"""``store.verify`` on planted damage of the log: each is found and named, before what follows from it."""

import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from store.layout import Layout, Reference, unpack
from store.schema import DEFAULT_TENANT_KEY, event_key
from store.urls import open_store
from store.verify import Finding, verify
from tests.store.engines import IN_PROCESS, opened
from tests.store.filled import Filling, fill, session
from tests.store.planted import ENGINES, SQLITE, Planted, planted
from tests.store.surface import payload, turn, turn_id


@pytest.fixture(params=ENGINES)
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Planted]:
    with planted(request.param, tmp_path) as found:
        yield found


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Planted]:
    with planted(SQLITE, tmp_path) as found:
        yield found


def event_of(database: Planted, number: int, place: int = 0) -> tuple[int, str]:
    """The position and the name of the event at ``place`` of a session of ``filled``."""
    rows = database.raw(
        "SELECT event_key, execution_ref FROM events JOIN sessions USING (session_key)"
        " WHERE session_id = ? AND sessions.tenant = ? ORDER BY event_key",
        bytes.fromhex(session(number).replace("-", "")),
        DEFAULT_TENANT_KEY,
    )
    key, ref = rows[place]
    position = key - event_key(DEFAULT_TENANT_KEY, 0)
    return position, f"position {position} ({ref.decode()})"


def of_subject(found: list[Any], subject: str) -> list[tuple[str, str]]:
    return [(finding.kind, finding.detail) for finding in found if finding.subject == subject]


def flip(database: Planted, position: int, text: bytes, place: int = 0) -> None:
    """Flip a bit of the byte at ``place`` behind where ``text`` begins in a body."""
    key = event_key(DEFAULT_TENANT_KEY, position)
    kept = bytearray(database.one("SELECT body FROM events WHERE event_key = ?", key))
    at = bytes(kept).index(text) + place
    kept[at] ^= 1
    database.raw("UPDATE events SET body = ? WHERE event_key = ?", bytes(kept), key)


@pytest.mark.parametrize("engine", IN_PROCESS)
def test_a_database_with_everything_in_it_is_clean(engine: str, tmp_path: Path) -> None:
    with opened(engine, tmp_path) as surface:
        fill(surface.store, f"tenant {uuid.uuid4()}")
        found: list[Finding] = []
        checked = verify(surface.store, found.append)
    # Tenants of other tests are in the same database on PostgreSQL: they have to be clean too.
    assert found == []
    assert (checked.events > 100, checked.turns > 200, checked.sessions > 40) == (True, True, True)
    assert (checked.erased > 5, checked.without_hash > 5) == (True, True)


def test_all_is_counted(database: Planted) -> None:
    checked, found = database.verify()
    assert found == []
    assert checked.events == database.one("SELECT count(*) FROM events") > 60
    assert checked.turns == database.one("SELECT count(*) FROM turns") > 60
    assert checked.sessions == database.one("SELECT count(*) FROM sessions") > 10
    assert checked.erased == database.one("SELECT count(*) FROM events WHERE erased > 0") > 6
    assert checked.without_hash > 10


def test_an_empty_database_is_clean() -> None:
    store = open_store("sqlite:///:memory:")
    assert verify(store, print).findings == 0
    store.close()


def test_a_flipped_byte_that_unpacks_well_is_found_by_the_hash(database: Planted) -> None:
    position, name = event_of(database, 200)
    database.retell(position, b"Hello", b"Hellp")
    _, found = database.verify()
    assert (found[0].kind, found[0].subject) == ("wrong_hash", name)
    # What follows: the turn's own hash, and what the list shows of it.
    assert {finding.kind for finding in found[1:]} <= {"wrong_turn", "wrong_session"}
    assert all(session(200) in finding.subject for finding in found[1:])


def test_a_flipped_byte_of_a_packed_body_is_found_when_it_is_opened(database: Planted) -> None:
    position, name = event_of(database, 104)
    flip(database, position, b"\x78", 500)
    _, found = database.verify()
    assert found[0].subject == name
    assert (found[0].kind, found[0].detail) == ("damaged_event", "a stored body cannot be unpacked")
    assert all(session(104) in finding.subject for finding in found[1:])


# At which place in the session's events, and what the flipped byte stands in.
TEXTS = [(5, b'"session_id"'), (5, b'"payload"'), (5, b'"timestamp"'), (5, b'"turn_count"'), (5, b'"agent_id"')]
TEXTS += [(2, b'"turn_id"'), (2, b'assistant"'), (2, b"t4"), (2, b'"type"')]


@pytest.mark.parametrize(("place", "text"), TEXTS)
def test_a_flipped_byte_of_a_body_that_is_not_packed_is_found(place: int, text: bytes, database: Planted) -> None:
    position, name = event_of(database, 100, place)
    key = event_key(DEFAULT_TENANT_KEY, position)
    assert database.one("SELECT body FROM events WHERE event_key = ?", key).startswith(b"\x00")
    flip(database, position, text, 1)
    _, found = database.verify()
    assert found
    assert all(finding.subject == name or session(100) in finding.subject for finding in found)


def test_a_flipped_byte_shows_in_the_snapshots_that_share_it(database: Planted) -> None:
    first, name = event_of(database, 300)
    database.retell(first, b"text 1 ", b"text 3 ")
    _, found = database.verify()
    assert (found[0].kind, found[0].subject) == ("wrong_hash", name)
    hashes = [finding for finding in found if finding.kind == "wrong_hash"]
    assert len(hashes) == 12
    assert all(finding.detail.endswith(f"as turns of it stand in position {first}") for finding in hashes[1:])


def test_a_wrong_hash_is_found_and_nothing_else(database: Planted) -> None:
    position, name = event_of(database, 201)
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
    position, name = event_of(database, 201)
    details: list[str] = []
    database.rewrite(position, lambda document: details.append(plant(document["payload"]["outputs"])))
    _, found = database.verify()
    assert [(finding.kind, finding.subject, finding.detail) for finding in found] == [("wrong_graph", name, details[0])]


@pytest.mark.parametrize("plant", [without_node, edge_turned], ids=lambda plant: plant.__name__)
def test_the_graph_of_an_erased_event_is_looked_at_as_far_as_it_is_known(
    plant: Callable[[dict[str, Any]], str], database: Planted
) -> None:
    position, name = event_of(database, 402)
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
    position, name = event_of(database, 201)
    database.rewrite(position, lambda document: document["payload"]["outputs"].update({member: value}))
    _, found = database.verify()
    detail = f"its outputs say something else than its inputs: {member}"
    assert [(finding.kind, finding.subject, finding.detail) for finding in found] == [("wrong_event", name, detail)]


COLUMNS: dict[str, Any] = {
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
    position, _ = event_of(database, 100)
    key = event_key(DEFAULT_TENANT_KEY, position)
    database.raw(f"UPDATE events SET {column} = ? WHERE event_key = ?", COLUMNS[column], key)
    _, found = database.verify()
    assert found[0].kind == "wrong_event"
    assert found[0].subject.startswith(f"position {position} (")
    assert found[0].detail == f"its row says something else than its body: {column}"


def test_a_lost_event_is_named_by_its_position_before_what_follows(database: Planted) -> None:
    position, _ = event_of(database, 201)
    database.raw("DELETE FROM events WHERE event_key = ?", event_key(DEFAULT_TENANT_KEY, position))
    _, found = database.verify()
    assert (found[0].kind, found[0].subject) == ("lost_position", f"position {position}")
    assert all(session(201) in finding.subject for finding in found[1:])


def test_the_last_event_of_all_is_missed_too(database: Planted) -> None:
    last = database.one("SELECT max(event_key) FROM events WHERE tenant = ?", DEFAULT_TENANT_KEY)
    erasures = database.one("SELECT max(erasure_key) FROM erasures WHERE tenant = ?", DEFAULT_TENANT_KEY)
    database.raw("DELETE FROM events WHERE event_key = ?", last)
    database.raw("DELETE FROM erasures WHERE erasure_key = ?", erasures)
    _, found = database.verify()
    lost = sorted([last, erasures])
    named = [f"position {key - event_key(DEFAULT_TENANT_KEY, 0)}" for key in lost]
    assert found[0].kind == "lost_position"
    assert found[0].subject in (named[0], f"positions {named[0][9:]} to {named[1][9:]}")


def test_an_event_of_no_session_is_missed_and_nothing_follows(database: Planted) -> None:
    key = database.one("SELECT event_key FROM events WHERE type = ? AND tenant = ?", b"plan_approved", 1)
    database.raw("DELETE FROM events WHERE event_key = ?", key)
    _, found = database.verify()
    named = [(finding.kind, finding.subject) for finding in found]
    assert named == [("lost_position", f"position {key - event_key(DEFAULT_TENANT_KEY, 0)}")]


def test_a_lost_erasure_is_named_by_its_position(database: Planted) -> None:
    key = database.one("SELECT min(erasure_key) FROM erasures WHERE tenant = ?", DEFAULT_TENANT_KEY)
    database.raw("DELETE FROM erasures WHERE erasure_key = ?", key)
    _, found = database.verify()
    assert found[0].subject == f"position {key - event_key(DEFAULT_TENANT_KEY, 0)}"


def test_rows_of_another_tenant_are_named_with_it(database: Planted) -> None:
    key = database.one("SELECT max(event_key) FROM events WHERE type = ?", b"x")
    database.raw("DELETE FROM events WHERE event_key = ?", key)
    _, found = database.verify()
    assert [finding.subject for finding in found] == [f"tenant acme, position {key - event_key(2, 0)}"]


@pytest.mark.parametrize("by", ["execution_ref", "payload"])
def test_a_lost_key_is_found_by_the_event_that_it_found(by: str, database: Planted) -> None:
    position, name = event_of(database, 201)
    key = event_key(DEFAULT_TENANT_KEY, position)
    keys = database.raw("SELECT key FROM event_keys WHERE event_key = ? ORDER BY key", key)
    assert len(keys) == 2
    found = []
    for (digest,) in keys:
        database.raw("DELETE FROM event_keys WHERE key = ?", digest)
        found += [finding for finding in database.verify()[1] if finding.detail == f"it is not found by its {by}"]
        database.raw("INSERT INTO event_keys (key, tenant, event_key) VALUES (?, 1, ?)", digest, key)
    assert [(finding.kind, finding.subject) for finding in found] == [("lost_key", name)]


def test_a_key_that_leads_elsewhere_is_found(database: Planted) -> None:
    position, name = event_of(database, 201)
    erasure = database.one("SELECT min(erasure_key) FROM erasures")
    key = event_key(DEFAULT_TENANT_KEY, position)
    database.raw("UPDATE event_keys SET event_key = ? WHERE event_key = ?", erasure, key)
    _, found = database.verify()
    assert [finding.subject for finding in found][:2] == [name, name]
    assert {finding.kind for finding in found} == {"wrong_key"}
    assert len(found) == 4


LAYOUTS: dict[str, Callable[[Layout], bytes]] = {
    "no layout": lambda layout: b"{",
    "too short": lambda layout: Layout((), "", layout.turns, layout.graph_at, layout.has_turns).pack(),
    "another event": lambda layout: Layout(
        layout.chunks, layout.kinds, (Reference(999_999, 0), *layout.turns[1:]), layout.graph_at, layout.has_turns
    ).pack(),
    "another place": lambda layout: Layout(
        layout.chunks, layout.kinds, (Reference(layout.turns[0].position, 77), *layout.turns[1:]), None, True
    ).pack(),
    "no turns": lambda layout: Layout(layout.chunks, layout.kinds, layout.turns, layout.graph_at, False).pack(),
}


@pytest.mark.parametrize("damage", LAYOUTS)
def test_a_damaged_layout_is_found_and_the_next_event_is_looked_at(damage: str, database: Planted) -> None:
    position, name = event_of(database, 300, 5)
    key = event_key(DEFAULT_TENANT_KEY, position)
    layout = unpack(database.one("SELECT layout FROM events WHERE event_key = ?", key))
    database.raw("UPDATE events SET layout = ? WHERE event_key = ?", LAYOUTS[damage](layout), key)
    checked, found = database.verify()
    assert (found[0].kind, found[0].subject) == ("damaged_event", name)
    assert checked.events == database.one("SELECT count(*) FROM events")


def test_a_turn_taken_from_an_event_of_another_session_is_found(database: Planted) -> None:
    position, name = event_of(database, 300, 5)
    other, _ = event_of(database, 104)
    key = event_key(DEFAULT_TENANT_KEY, position)
    layout = unpack(database.one("SELECT layout FROM events WHERE event_key = ?", key))
    turns = (Reference(other, 0), *layout.turns[1:])
    changed = Layout(layout.chunks, layout.kinds, turns, layout.graph_at, layout.has_turns)
    database.raw("UPDATE events SET layout = ? WHERE event_key = ?", changed.pack(), key)
    _, found = database.verify()
    kinds = [kind for kind, _ in of_subject(found, name)]
    assert kinds[:2] == ["wrong_hash", "wrong_event"]


def test_damaged_pages_are_told_and_all_else_is_looked_at(file: Planted) -> None:
    file.store.close()
    path = Path(file.url.removeprefix("sqlite:///"))
    root = file.one("SELECT rootpage FROM sqlite_schema WHERE name = 'events_by_instant'")
    page = file.one("PRAGMA page_size")
    leaf = _a_leaf_of(path, page, "events")
    file.raw("PRAGMA wal_checkpoint(TRUNCATE)")
    with path.open("r+b") as database:
        for number in (root, leaf):
            database.seek((number - 1) * page)
            database.write(b"\xff" * 16)
    checked, found = file.verify()
    assert found[0].kind == "damaged_file"
    assert {"unreadable"} <= {finding.kind for finding in found}
    assert checked.events > 35


def _a_leaf_of(path: Path, page: int, table: str) -> int:
    """The number of a page that holds rows of ``table``, by the file format (sqlite.org/fileformat2.html, 1.6)."""
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(path)) as raw:
        (root,) = raw.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)).fetchone()
    content = path.read_bytes()[(root - 1) * page : root * page]
    assert content[0] == 5, "the root of a table of more than one page"
    first = int.from_bytes(content[12:14], "big")
    return int.from_bytes(content[first : first + 4], "big")


def test_what_is_written_meanwhile_is_no_finding(database: Planted) -> None:
    filling = Filling(database.store, "busy")
    done = threading.Event()

    def write() -> None:
        for number in range(1, 60):
            filling.capture(payload(*[turn(n) for n in range(1, number % 7 + 2)], session=session(number % 3)))
            if number % 10 == 0:
                filling.erase("turn", turn_id(number % 5 + 1))
            filling.post({"type": "x", "runId": f"r{number}", "timestamp": "2026-01-01T00:00:00Z", "payload": {}})
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    rounds = 0
    while not done.is_set() or rounds == 0:
        assert database.verify()[1] == []
        rounds += 1
    writer.join()
    assert database.verify()[1] == []


def test_more_rows_than_a_batch_are_all_looked_at() -> None:
    store = open_store("sqlite:///:memory:")
    filling = Filling(store)
    for number in range(1100):
        filling.post({"type": "x", "runId": f"r{number}", "timestamp": "2026-01-01T00:00:00Z", "payload": {}})
    for number in range(600):
        filling.append(payload(turn(1), session=session(number)))
    filling.append(payload(*[turn(n) for n in range(1, 1200)], session=session(0)))
    found: list[Any] = []
    checked = verify(store, found.append)
    assert found == []
    assert (checked.events, checked.sessions, checked.turns) == (1701, 600, 1798)
    store.close()
