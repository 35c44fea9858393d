"""``inspect``: whole events, erased ones, those of other writers and damaged ones, on an embedded store of its own."""

import io
import json
import re
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from agent.bootstrap import new_id, utc_now
from agent.cli.exit_codes import ExitCode
from agent.cli.memory.drawings.graph_tree import Canvas, graph_tree
from agent.cli.memory.events.event_facts import event_facts
from agent.cli.memory.events.inspect_event import InspectCommand
from agent.cli.memory.events.stored_event import StoredEvent
from agent.cli.output_format import Format
from agent.ruvector.feed import read_event
from store.engines.sqlite import SqliteStore
from store.server import create_app
from tests.cli.memory.event_store import (
    GOLDEN,
    PLAN,
    Ended,
    envelopes,
    every_kind,
    ran,
    references,
    with_store,
)
from tests.cli.streams import Screen, terminal
from tests.ruvector.peer import Peer, answer
from tests.store.filled import Filling
from tests.store.surface import envelope, payload, turn
from tests.strategies import json_values

SECRET = "SECRET-71b"
EVIL = "\x1b[2J\x1b[1;1H\r\n\t\u202egone\u2028完成\x9b2J"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return with_store(tmp_path_factory.mktemp("inspect") / "store.db", every_kind)


def inspected(
    store: Path | str, ref: str, output_format: Format = Format.TABLE, *, verbose: bool = False, **more: Any
) -> Ended:
    return ran(InspectCommand(ref, verbose), store, output_format, **more)


def raw(store: Path, ref: str) -> bytes:
    """What the store's own surface answers for the event."""
    opened = SqliteStore(str(store))
    try:
        environ = {"REQUEST_METHOD": "GET", "PATH_INFO": f"/v1/decision-events/{ref}", "wsgi.input": io.BytesIO()}
        application = create_app(opened, clock=utc_now, new_id=new_id)
        return b"".join(application(environ, lambda *_: lambda _: None))
    finally:
        opened.close()


@pytest.mark.parametrize("place", range(4))
def test_every_kind_of_event_is_shown_as_its_golden_file_says(store: Path, place: int) -> None:
    name = ("native", "chat", "plan", "erased")[place]
    expected = (GOLDEN / f"inspect-{name}.table.txt").read_text()
    assert inspected(store, references(store)[place]) == (ExitCode.OK, expected, "")


@pytest.mark.parametrize("output_format", list(Format))
def test_each_format_prints_what_its_golden_file_holds(store: Path, output_format: Format) -> None:
    chat = references(store)[1]
    for verbose, name in ((False, "chat"), (True, "verbose")):
        expected = (GOLDEN / f"inspect-{name}.{output_format.value}.txt").read_text()
        assert inspected(store, chat, output_format, verbose=verbose) == (ExitCode.OK, expected, "")


def test_verbose_json_is_the_very_bytes_that_the_store_sent(store: Path) -> None:
    for ref in references(store):
        if "/" not in ref:
            assert inspected(store, ref, Format.JSON, verbose=True)[1].encode() == raw(store, ref) + b"\n"


def test_a_document_without_verbose_is_the_event_without_its_inputs_and_nothing_else(store: Path) -> None:
    for event in envelopes(store):
        expected = {**event, "payload": {name: each for name, each in event["payload"].items() if name != "inputs"}}
        as_json = inspected(store, event["runId"], Format.JSON)[1]
        assert json.loads(as_json) == expected
        assert yaml.safe_load(inspected(store, event["runId"], Format.YAML)[1]) == expected


def test_no_content_of_an_erased_event_is_left_to_show(store: Path) -> None:
    ref = references(store)[3]
    for output_format in Format:
        code, out, _ = inspected(store, ref, output_format, verbose=True)
        assert code == ExitCode.OK
        assert SECRET not in out
        assert "erased" in out


def test_an_event_of_which_one_turn_is_erased_says_how_many(tmp_path: Path) -> None:
    first, second = turn(1, SECRET), turn(2, "kept")

    def fill(filling: Filling) -> None:
        filling.capture(payload(first, second))
        filling.erase("turn", first["turn_id"])

    store = with_store(tmp_path / "store.db", fill)
    _, out, _ = inspected(store, references(store)[0])
    assert "erased              1 of 2 turns: their content is gone\n" in out
    assert out.endswith("├── [0] user       (erased)\n└── [1] assistant kept  (answers [0])\n")


def test_an_unknown_event_is_5_and_one_line_whatever_its_name(store: Path) -> None:
    assert inspected(store, "nothing\x1b[2J") == (
        ExitCode.NOT_POSSIBLE,
        "",
        "memory-graph: there is no event nothing\\x1b[2J in this store; retrieve lists every event\n",
    )
    code, out, err = inspected(store, "none", Format.JSON)
    assert (code, out) == (ExitCode.NOT_POSSIBLE, "")
    assert json.loads(err)["error"]["message"] == "there is no event none in this store; retrieve lists every event"


@pytest.mark.parametrize("ref", ["", ".", "..", "half \ud800", "x" * 5001])
def test_a_name_that_no_address_holds_is_5_and_says_where_to_look(store: Path, ref: str) -> None:
    assert inspected(store, ref) == (
        ExitCode.NOT_POSSIBLE,
        "",
        "memory-graph: no address can hold this execution ref; retrieve lists every event\n",
    )


@pytest.mark.parametrize("ref", ["完成 / ? # % +", "-x", "a\nb\x1b[2J", "../../health", "x" * 5000, "完" * 5000])
def test_any_other_text_can_be_an_execution_ref(tmp_path: Path, ref: str) -> None:
    store = with_store(tmp_path / "store.db", lambda filling: filling.post({**PLAN, "runId": ref}))
    code, out, err = inspected(store, ref, Format.JSON)
    assert (code, err) == (ExitCode.OK, "")
    assert json.loads(out)["runId"] == ref
    code, out, _ = inspected(store, ref)
    assert code == ExitCode.OK
    assert out.startswith("execution ref")
    assert "\x1b" not in out


def test_a_store_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    code, out, err = inspected(tmp_path / "none.db", "r")
    assert (code, out) == (ExitCode.NOT_POSSIBLE, "")
    assert err == f"memory-graph: there is no store at {tmp_path}/none.db: a capture makes one\n"
    assert list(tmp_path.iterdir()) == []


def test_a_store_that_is_down_is_1() -> None:
    with Peer(answer(500, b"SECRET-71b")) as peer:
        code, out, err = inspected(peer.url, "r")
    assert (code, out) == (ExitCode.STORE, "")
    assert SECRET not in err


DAMAGE: dict[str, Callable[[dict[str, Any]], object]] = {
    "no payload object": lambda event: event.update(payload=[1]),
    "no outputs": lambda event: event["payload"].pop("outputs"),
    "outputs are text": lambda event: event["payload"].update(outputs="x"),
    "no nodes": lambda event: event["payload"]["outputs"].pop("nodes_created"),
    "nodes are no list": lambda event: event["payload"]["outputs"].update(nodes_created={"a": 1}),
    "one node is broken": lambda event: event["payload"]["outputs"]["nodes_created"].insert(1, {"node_id": 7}),
    "one edge is broken": lambda event: event["payload"]["outputs"]["edges_created"].insert(0, None),
    "a place is text": lambda event: event["payload"]["outputs"]["nodes_created"][1].update(turn_index="0"),
    "inputs are text": lambda event: event["payload"].update(inputs="x"),
    "no inputs": lambda event: event["payload"].pop("inputs"),
    "no turns": lambda event: event["payload"]["inputs"].pop("turns"),
    "one turn is broken": lambda event: event["payload"]["inputs"]["turns"].__setitem__(0, 7),
}
SAID = {
    "no payload object": "$.payload is no object",
    "no outputs": "$.payload.outputs is missing",
    "outputs are text": "$.payload.outputs is no object",
    "no nodes": "$.payload.outputs.nodes_created is missing",
    "nodes are no list": "$.payload.outputs.nodes_created is no list",
    "one node is broken": "$.payload.outputs.nodes_created[1] is no node",
    "one edge is broken": "$.payload.outputs.edges_created[0] is no edge",
    "a place is text": "$.payload.outputs.nodes_created[1] is no node",
    "inputs are text": "$.payload.inputs is no object",
    "no inputs": "none: what the turns say is not known",
    "no turns": "$.payload.inputs.turns is missing",
    "one turn is broken": "$.payload.inputs.turns[0] is no object",
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_event_shows_what_can_be_shown_and_says_what_cannot(store: Path, name: str) -> None:
    event = envelopes(store)[1]
    DAMAGE[name](event)
    with Peer(answer(200, json.dumps(event).encode())) as peer:
        for verbose in (False, True):
            code, out, err = inspected(peer.url, "r", verbose=verbose)
            assert (code, err) == (ExitCode.OK, "")
            assert SAID[name] in out
            assert event["runId"] in out
            if verbose and name in ("one node is broken", "nodes are no list"):
                # What the list above it lacks stands in the event.
                assert '"nodes_created": ' in out


def test_of_a_graph_that_is_damaged_all_over_the_first_faults_are_named_and_the_others_counted(store: Path) -> None:
    event = envelopes(store)[1]
    event["payload"]["outputs"]["nodes_created"] = [7] * 1000
    with Peer(answer(200, json.dumps(event).encode())) as peer:
        _, out, _ = inspected(peer.url, "r")
    assert out.count("is no node") == 20
    assert "and 980 more\n" in out


def test_a_bare_event_of_another_store_is_shown_as_its_envelope_would_be(store: Path) -> None:
    bare = envelopes(store)[1]["payload"]
    expected = (GOLDEN / "inspect-chat.table.txt").read_text()
    with Peer(answer(200, json.dumps(bare).encode())) as peer:
        assert inspected(peer.url, "r")[1] == re.sub(r"position .*\n", "", expected)
        assert json.loads(inspected(peer.url, "r", Format.JSON)[1]) == {
            name: value for name, value in bare.items() if name != "inputs"
        }
        assert "nodes_created" not in inspected(peer.url, "r", verbose=True)[1]


@pytest.mark.parametrize("output_format", [Format.JSON, Format.YAML])
def test_digits_that_a_parser_would_lose_survive(output_format: Format) -> None:
    written = b'{"type":"t","runId":"r","payload":{"n":%d,"exact":0.1000}}' % 10**400
    with Peer(answer(200, written)) as peer:
        _, out, _ = inspected(peer.url, "r", output_format)
    assert str(10**400) in out
    assert ("0.1000" in out) == (output_format is Format.JSON)


def test_what_an_event_says_of_itself_beyond_the_contract_is_shown_as_it_is() -> None:
    event = {
        "type": "conversation_capture",
        "runId": "r",
        "source": "someone",
        "timestamp": 7,
        "payload": {
            "decision_type": "another",
            "constraints_applied": {"a": 1},
            "inputs_hash": ["h"],
            "telemetry": {"release": None, "duration_ms": "long"},
            "outputs": {"turn_count": "many", "session_id": 9, "nodes_created": [], "edges_created": []},
            "inputs": {"turns": [], "session_id": "not a uuid"},
        },
    }
    with Peer(answer(200, json.dumps(event).encode())) as peer:
        _, out, _ = inspected(peer.url, "r")
    facts = dict(re.findall(r"^(\S+(?: \S+)*)  +(.+)$", out.partition("\n\n")[0], re.MULTILINE))
    assert facts == {
        "execution ref": "r",
        "type": "conversation_capture (decision type another)",
        "inputs hash": '["h"]',
        "captured at": "7",
        "turns": "many",
        "constraints": '{"a": 1}',
        "agent": "someone",
        "duration": "long ms",
    }


def facts_of(out: str) -> dict[str, str]:
    return dict(re.findall(r"^(\S+(?: \S+)*)  +(.+)$", out.partition("\n\n")[0], re.MULTILINE))


def test_entities_and_redactions_are_counted_by_kind_and_no_text_of_them_is_shown(tmp_path: Path) -> None:
    said = "Mail ann@example.org or bob@example.org before May 20, 2024."
    asked = {**payload(turn(1, said)), "capture_options": {"extract_entities": True, "create_lineage": False}}
    store = with_store(tmp_path / "store.db", lambda filling: filling.capture(asked))
    facts = facts_of(inspected(store, references(store)[0])[1])
    assert facts["entities"] == "2 EMAIL_ADDRESS, 1 DATE"
    assert "redactions" not in facts
    event = envelopes(store)[0]
    event["payload"]["telemetry"]["redactions"] = {"email": 2, "card": 1}
    event["payload"]["outputs"]["entities"] = []
    with Peer(answer(200, json.dumps(event).encode())) as peer:
        facts = facts_of(inspected(peer.url, "r")[1])
    assert (facts["entities"], facts["redactions"]) == ("none", "2 email, 1 card")


def test_entities_that_are_none_are_told_and_the_first_types_of_very_many_shown(store: Path) -> None:
    event = envelopes(store)[1]
    outputs = event["payload"]["outputs"]
    shown = []
    for entities in ("x", [7, {"type": None}, {"type": "PERSON"}], [{"type": f"T{n:03}"} for n in range(1000)]):
        outputs["entities"] = entities
        with Peer(answer(200, json.dumps(event).encode())) as peer:
            shown.append(re.sub(r"\s+", " ", inspected(peer.url, "r")[1]))
    assert "$.payload.outputs.entities is no list" in shown[0]
    assert "entities 2 of no type, 1 PERSON" in shown[1]
    assert "1 T039, and 960 more" in shown[2]


def test_names_of_another_writer_neither_move_the_cursor_nor_break_a_line(tmp_path: Path) -> None:
    event = envelope(payload(turn(1, EVIL, role=EVIL, tool_invocations=[{"invocation_id": EVIL, "tool_name": EVIL}])))
    body = event["payload"]
    body.update(agent_id=EVIL, agent_version=EVIL, constraints_applied=[EVIL], inputs_hash=EVIL)
    nodes = [{"node_id": name, "node_type": EVIL, "turn_index": 0} for name in (EVIL, "other" + EVIL)]
    edges = [
        {"edge_id": EVIL, "edge_type": each, "from_node_id": EVIL, "to_node_id": EVIL} for each in ("belongs_to", EVIL)
    ]
    body["outputs"] = {"session_id": EVIL, "nodes_created": nodes, "edges_created": edges, "turn_count": EVIL}
    body["outputs"]["entities"] = [{"type": EVIL}]
    body["telemetry"] = {"redactions": {EVIL: EVIL}}
    event.update(type=EVIL, runId=EVIL, source=EVIL)
    store = with_store(tmp_path / "store.db", lambda filling: filling.post(event))
    for verbose in (False, True):
        at = terminal(stdout=Screen(tty=True), environ={"TERM": "xterm", "COLUMNS": "80", "LINES": "24"})
        code, out, _ = inspected(store, EVIL, verbose=verbose, at=at)
        assert code == ExitCode.OK
        assert_safe(re.sub(r"\x1b\[[0-9;]*m", "", out))


def assert_safe(out: str) -> None:
    unsafe = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    assert not {character for character in out if character != "\n" and unicodedata.category(character) in unsafe}


# Names of the contract with anything behind them: what a damaged or foreign event may look like.
_NAMES = st.sampled_from(
    [
        *(
            "payload",
            "outputs",
            "inputs",
            "turns",
            "nodes_created",
            "edges_created",
            "node_id",
            "edge_id",
            "turn_index",
        ),
        *("entities", "redactions"),
        *("from_node_id", "to_node_id", "edge_type", "node_type", "role", "content", "tool_invocations", "erased"),
        *("type", "session_id", "telemetry", "constraints_applied", "invocation_id", "tool_name", "arguments", "runId"),
    ]
)
_ANYTHING = st.recursive(
    json_values
    | st.sampled_from(["belongs_to", "follows", "responds_to", "invokes", "a", "b", "conversation_capture"]),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(_NAMES, children, max_size=6),
    max_leaves=40,
)


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(_NAMES, _ANYTHING, max_size=6), st.booleans())
def test_no_event_whatever_its_shape_is_too_much(members: dict[str, Any], captures: bool) -> None:
    event = {**members, "type": "conversation_capture"} if captures else members
    stored = StoredEvent.of(read_event(json.dumps(event).encode()))
    at = terminal(environ={"COLUMNS": "60"})
    at.show(graph_tree(stored.graph, stored.turns, Canvas(60, "utf-8")))
    assert isinstance(at.stdout, Screen)
    lines = at.stdout.text().splitlines()
    assert all(cell_len(line) <= 60 for line in lines)
    assert_safe("".join(lines))
    assert all(isinstance(value, str) for _, value in event_facts(stored))
