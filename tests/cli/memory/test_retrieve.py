"""``retrieve`` in this process: filters, limits, hostile writers, and stores that fail in the middle."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from rich.cells import cell_len

from agent.cli.exit_codes import ExitCode
from agent.cli.memory.events.retrieve import RetrieveCommand
from agent.cli.output_format import Format
from agent.core.ids import session_uuid
from tests.cli.memory.event_store import GOLDEN, PLAN, Ended, envelopes, every_kind, ran, with_store
from tests.cli.memory.test_inspect import EVIL, assert_safe
from tests.cli.streams import Screen, terminal
from tests.recall.paging import event
from tests.ruvector.peer import Peer, answer
from tests.store.filled import Filling
from tests.store.surface import envelope, payload, turn

READ = {Format.JSON: json.loads, Format.YAML: yaml.safe_load}
DOCUMENTS = list(READ)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return with_store(tmp_path_factory.mktemp("retrieve") / "store.db", every_kind)


def retrieved(
    store: Path | str,
    output_format: Format = Format.JSON,
    *,
    limit: int = 100,
    order: str = "asc",
    jsonl: bool = False,
    at: Any = None,
    **which: Any,
) -> Ended:
    return ran(RetrieveCommand(limit, order, **which), store, output_format, jsonl=jsonl, at=at)


def positions(store: Path, **which: Any) -> list[int]:
    code, out, err = retrieved(store, **which)
    assert (code, err) == (ExitCode.OK, "")
    return [each["position"] for each in json.loads(out)["events"]]


@pytest.mark.parametrize("output_format", list(Format))
def test_each_format_prints_what_its_golden_file_holds(store: Path, output_format: Format) -> None:
    code, out, _ = retrieved(store, output_format, limit=3)
    assert code == ExitCode.OK
    assert out == (GOLDEN / f"retrieve.{output_format.value}.txt").read_text()


def test_json_lines_print_what_their_golden_file_holds(store: Path) -> None:
    assert retrieved(store, limit=3, jsonl=True)[1] == (GOLDEN / "retrieve.jsonl.txt").read_text()


def test_every_event_is_there_as_the_store_has_it(store: Path) -> None:
    events = envelopes(store)
    for output_format, read in READ.items():
        code, out, err = retrieved(store, output_format)
        assert (code, err) == (ExitCode.OK, "")
        assert read(out) == {"events": events, "more": False, "complete": True}
    _, out, err = retrieved(store, jsonl=True)
    assert ([json.loads(line) for line in out.splitlines()], err) == (events, "")


def test_events_are_found_by_what_is_asked_for(store: Path) -> None:
    everything = {"since": None, "until": None}
    assert positions(store, **everything) == [1, 2, 3, 4]
    assert positions(store, order="desc") == [4, 3, 2, 1]
    assert positions(store, session_id="chat-7") == [2]
    assert positions(store, session_id=session_uuid("chat-7").upper()) == [2]
    assert positions(store, session_id="chat-7", conversation_id="2b4a2041-5bbd-5e48-ac97-94a17e2d6311") == [2]
    assert positions(store, agent_id="planner") == [3]
    assert positions(store, decision_type="conversation_capture", order="desc") == [4, 2, 1]
    assert positions(store, since="2026-03-02T08:17:00Z") == [2, 4]
    assert positions(store, since="2026-03-02", until="2026-03-02T10:17:00+02:00") == [1, 3]


def test_a_limit_that_cut_the_list_off_is_told(store: Path) -> None:
    line = "memory-graph: these are the first 3 events; there are more (see --limit)\n"
    assert retrieved(store, Format.TABLE, limit=3)[2] == line
    assert retrieved(store, jsonl=True, limit=3)[2] == line
    assert retrieved(store, Format.TABLE, limit=1, order="desc")[2].startswith("memory-graph: these are the newest 1 ")
    for output_format, read in READ.items():
        code, out, err = retrieved(store, output_format, limit=3)
        assert (code, err, read(out)["more"]) == (ExitCode.OK, "", True)
    assert retrieved(store, Format.TABLE, limit=4)[2] == ""


def test_no_event_is_an_empty_list_and_said_to_people(store: Path) -> None:
    line = "memory-graph: no event found\n"
    assert retrieved(store, Format.TABLE, session_id="nothing")[2] == line
    assert retrieved(store, jsonl=True, session_id="nothing") == (ExitCode.OK, "", line)
    for output_format, read in READ.items():
        code, out, err = retrieved(store, output_format, session_id="nothing")
        assert (code, read(out), err) == (ExitCode.OK, {"events": [], "more": False, "complete": True}, "")


def test_a_limit_beyond_a_page_is_paged_behind_the_scenes(tmp_path: Path) -> None:
    def fill(filling: Filling) -> None:
        for number in range(450):
            filling.post({**PLAN, "runId": f"r-{number}"})

    store = with_store(tmp_path / "store.db", fill)
    for limit in (201, 400, 450, 1_000_000):
        document = json.loads(retrieved(store, limit=limit)[1])
        assert [each["runId"] for each in document["events"]] == [f"r-{number}" for number in range(min(limit, 450))]
        assert document["more"] is (limit < 450)
    assert len(retrieved(store, jsonl=True, limit=1_000_000)[1].splitlines()) == 450


@pytest.mark.parametrize(
    ("which", "line"),
    [
        ({"since": "2026-03-02T08:15:01Z", "until": "2026-03-02T09:15:00+01:00"}, "--from: is after --to"),
        (
            {"since": "yesterday"},
            "--from: is neither a date (2026-03-02) nor an RFC 3339 time with an offset (2026-03-02T08:15:00Z)",
        ),
        (
            {"until": "2026-02-30"},
            "--to: is neither a date (2026-03-02) nor an RFC 3339 time with an offset (2026-03-02T08:15:00Z)",
        ),
        ({"session_id": ""}, "--session-id: must have 1 to 256 characters"),
        ({"conversation_id": "c" * 257}, "--conversation-id: must have 1 to 256 characters"),
        ({"agent_id": ""}, "--agent-id: is empty"),
        ({"decision_type": "\udcff"}, "--decision-type: is not text in this terminal's encoding"),
    ],
)
def test_what_can_name_nothing_is_2_and_one_line(store: Path, which: dict[str, str], line: str) -> None:
    assert retrieved(store, Format.TABLE, **which) == (ExitCode.USAGE, "", f"memory-graph: {line}\n")


def test_the_same_instant_twice_is_an_empty_range(store: Path) -> None:
    assert positions(store, since="2026-03-02T08:15:00Z", until="2026-03-02T09:15:00+01:00") == []


def test_a_store_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    assert retrieved(tmp_path / "none.db")[0] == ExitCode.NOT_POSSIBLE
    assert list(tmp_path.iterdir()) == []


def answered(*pages: bytes) -> list[Any]:
    return [answer(200, page) for page in pages]


def page(*positions: int, cursor: str | None) -> bytes:
    texts = b",".join(event(position).text for position in positions)
    return b'{"events":[%b],"next_cursor":%b}' % (texts, json.dumps(cursor).encode())


@pytest.mark.parametrize("output_format", DOCUMENTS)
def test_a_store_that_fails_in_the_middle_leaves_one_whole_document_and_1(output_format: Format) -> None:
    with Peer(*answered(page(1, 2, cursor="a")), answer(500, b"SECRET-71b")) as peer:
        code, out, err = retrieved(peer.url, output_format, limit=1000)
    document = READ[output_format](out)
    assert code == ExitCode.STORE
    assert [each["position"] for each in document["events"]] == [1, 2]
    assert {name: document[name] for name in document if name != "events"} == {"complete": False}
    assert READ[output_format](err)["error"]["error_code"] == "RUVECTOR_WRITE_ERROR"
    assert "SECRET-71b" not in out + err


def test_a_store_that_fails_in_the_middle_leaves_the_rows_and_one_line() -> None:
    with Peer(*answered(page(1, 2, cursor="a")), answer(500)) as peer:
        code, out, err = retrieved(peer.url, Format.TABLE, limit=1000)
    assert (code, len(out.splitlines()), err.count("\n")) == (ExitCode.STORE, 3, 1)


def test_a_store_that_fails_at_once_leaves_standard_output_empty() -> None:
    with Peer(answer(500)) as peer:
        for output_format in Format:
            assert retrieved(peer.url, output_format)[:2] == (ExitCode.STORE, "")


def test_a_store_whose_pages_do_not_advance_is_not_read_for_ever() -> None:
    with Peer(*answered(page(1, cursor="a"))) as peer:
        code, out, err = retrieved(peer.url, limit=1000)
    assert (code, json.loads(out)["complete"]) == (ExitCode.STORE, False)
    assert "do not advance" in err


def test_a_store_without_a_list_says_so() -> None:
    with Peer(answer(404)) as peer:
        assert retrieved(peer.url, Format.TABLE) == (
            ExitCode.NOT_POSSIBLE,
            "",
            "memory-graph: this store has no list of events\n",
        )


def test_a_store_that_does_not_say_whether_more_follows_is_quoted_so() -> None:
    with Peer(*answered(b'{"events":[{"runId":"r"}]}')) as peer:
        assert json.loads(retrieved(peer.url, limit=1)[1])["more"] is None
        assert "the store does not say whether there are more" in retrieved(peer.url, Format.TABLE, limit=1)[2]


def test_ctrl_c_in_the_middle_leaves_one_whole_document_and_130() -> None:
    class Interrupting(Screen):
        """A reader who presses Ctrl-C when the first events come."""

        def write(self, text: str) -> int:
            if "r-1" in text and "complete" not in text and not self.text():
                super().write(text)
                raise KeyboardInterrupt
            return super().write(text)

    long = b'{"runId":"r-1","x":"%b"}' % (b"x" * 70_000)
    with Peer(*answered(b'{"events":[%b],"next_cursor":"a"}' % long, page(2, cursor=None))) as peer:
        at = terminal(stdout=Interrupting())
        code, out, err = retrieved(peer.url, at=at)
    assert (code, err) == (ExitCode.INTERRUPTED, "memory-graph: interrupted: the list is not whole\n")
    document = json.loads(out)
    assert (document["complete"], len(document["events"])) == (False, 1)


def test_names_of_other_writers_neither_move_the_cursor_nor_break_a_column(tmp_path: Path) -> None:
    def fill(filling: Filling) -> None:
        for number, name in enumerate((EVIL, "完" * 5000, "e" + "\u0301" * 99, "x" * 10_000, "\u202e" * 50)):
            event = envelope(payload(turn(number)), agent_id=name, decision_type=name)
            event["payload"]["outputs"] = {"turn_count": name}
            event["payload"]["inputs"] = {}
            filling.post({**event, "type": name, "runId": name})

    store = with_store(tmp_path / "store.db", fill)
    for encoding in ("utf-8", "cp1252"):
        at = terminal(stdout=Screen(encoding, tty=True), environ={"TERM": "xterm", "COLUMNS": "140", "LINES": "24"})
        code, out, _ = retrieved(store, Format.TABLE, at=at)
        assert code == ExitCode.OK
        header, *rows = out.splitlines()
        assert len(rows) == 5
        assert_safe(out)
        for row in rows:
            assert cell_len(row) <= 140
            assert row.split()[1] == "2026-03-02T08:15:00Z"
            for title in ("captured", "execution", "session"):
                assert _cell(row, header.index(title) - 1) == " "
                assert _cell(row, header.index(title)) != " "
    document = json.loads(retrieved(store)[1])
    assert document["events"][0]["runId"] == EVIL


def _cell(row: str, place: int) -> str:
    """The character that is drawn in this cell."""
    width = 0
    for character in row:
        if width >= place:
            return character
        width += cell_len(character)
    return ""
