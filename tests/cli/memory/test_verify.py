"""``verify`` replays every event of a store: what differs is found and named, wherever it comes from."""

import json
import tracemalloc
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml

from agent.bootstrap import store_client
from agent.cli.exit_codes import ExitCode
from agent.cli.memory.checking.verify import VerifyCommand
from agent.cli.output_format import Format
from agent.config import Settings
from agent.core.ids import session_uuid
from agent.recall.replay import Replays, Verification
from tests.cli.memory.event_store import GOLDEN, Ended, envelopes, every_kind, ran, with_store
from tests.cli.memory.tampered import DAMAGE, changed_database, lying_store
from tests.cli.streams import run_process
from tests.conftest import vectors
from tests.ruvector.peer import Peer, answer
from tests.store.filled import Filling, session
from tests.store.surface import payload, turn

HOSTILE = "nobody \x1b[2J"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return with_store(tmp_path_factory.mktemp("verify") / "store.db", every_kind)


@pytest.fixture(scope="module")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Three events as a server gives them, the second with two differences."""
    path = with_store(tmp_path_factory.mktemp("damaged") / "store.db", every_kind)
    events = envelopes(path)[:3]
    outputs = events[1]["payload"]["outputs"]
    outputs["nodes_created"].pop(2)
    outputs["turn_count"] = 9
    return events


def verified(
    store: Path | str,
    output_format: Format = Format.JSON,
    *,
    limit: int = 100,
    at: Any = None,
    **which: Any,
) -> Ended:
    return ran(VerifyCommand(limit, **which), store, output_format, at=at)


@pytest.mark.parametrize("output_format", list(Format))
def test_each_format_prints_what_its_golden_file_holds(
    store: Path, damaged: list[dict[str, Any]], output_format: Format
) -> None:
    code, out, err = verified(store, output_format)
    assert (code, err) == (ExitCode.OK, "")
    assert out == (GOLDEN / f"verify.{output_format.value}.txt").read_text()
    with lying_store(damaged) as url:
        code, out, err = verified(url, output_format, limit=1)
    assert (code, err) == (ExitCode.DIFFERS, "")
    assert out == (GOLDEN / f"verify-differs.{output_format.value}.txt").read_text()


def test_yaml_says_what_json_says(damaged: list[dict[str, Any]]) -> None:
    with lying_store(damaged) as url:
        assert yaml.safe_load(verified(url, Format.YAML)[1]) == json.loads(verified(url)[1])


def test_all_golden_captures_are_identical(tmp_path: Path) -> None:
    def fill(filling: Filling) -> None:
        for case in vectors():
            filling.capture({**case["input"], "note": case["name"]})
        for case in vectors("session"):
            for number, sent in enumerate(case["captures"]):
                filling.capture({**sent, "note": f"{case['name']} {number}"})

    code, out, _ = verified(with_store(tmp_path / "store.db", fill))
    said = json.loads(out)
    assert code == ExitCode.OK
    assert said["verdicts"] == {"identical": said["events"], "differs": 0, "not_possible": 0}
    assert said["events"] == len(vectors()) + sum(len(case["captures"]) for case in vectors("session"))


@pytest.mark.parametrize("case", DAMAGE)
def test_damage_in_a_database_is_found(case: str, tmp_path: Path) -> None:
    change, path = DAMAGE[case]
    with changed_database(tmp_path) as (file, database):
        position, name = database.event(201)
        database.rewrite(position, lambda document: change(document["payload"]))
        code, out, _ = verified(file)
    said = json.loads(out)
    assert (code, said["ok"], said["complete"]) == (ExitCode.DIFFERS, False, True)
    assert said["verdicts"]["differs"] == 1
    assert said["differences"][0]["path"] == path
    assert name == f"position {said['differences'][0]['position']} ({said['differences'][0]['execution_ref']})"


def test_content_that_was_changed_in_a_database_is_found_in_every_event_that_shares_it(tmp_path: Path) -> None:
    with changed_database(tmp_path) as (file, database):
        database.retell(database.event(300)[0], b"text 1 ", b"text 3 ")
        code, out, err = verified(file)
    assert code == ExitCode.DIFFERS
    assert {each["path"] for each in json.loads(out)["differences"]} == {"$.stored_inputs_hash", "$.inputs_hash"}
    assert json.loads(out)["verdicts"]["differs"] == 12
    assert "text" not in out + err


@pytest.mark.parametrize("case", DAMAGE)
def test_damage_that_a_server_feeds_is_found(case: str, tmp_path: Path) -> None:
    change, path = DAMAGE[case]
    sent = payload(turn(1, "What?"), turn(2, "That."), session=session(1))
    events = envelopes(with_store(tmp_path / "store.db", lambda filling: filling.capture(sent)))
    change(events[0]["payload"])
    with lying_store(events) as url:
        code, out, _ = verified(url)
    assert code == ExitCode.DIFFERS
    assert json.loads(out)["differences"][0]["path"] == path


def test_a_turn_that_a_server_drops_or_changes_is_found(damaged: list[dict[str, Any]]) -> None:
    for change in ("drop", "tell otherwise"):
        event = json.loads(json.dumps(damaged[0]))
        turns = event["payload"]["inputs"]["turns"]
        turns.pop() if change == "drop" else turns[1].update(content="SECRET-9")
        with lying_store([event]) as url:
            code, out, err = verified(url)
        assert code == ExitCode.DIFFERS
        assert "$.stored_inputs_hash" in {each["path"] for each in json.loads(out)["differences"]}
        assert "SECRET-9" not in out + err


def test_only_so_many_differences_are_shown_and_all_are_counted(damaged: list[dict[str, Any]]) -> None:
    with lying_store(damaged) as url:
        said = [json.loads(verified(url, limit=limit)[1]) for limit in (0, 1, 100)]
    counts = [len(each["differences"]) for each in said]
    assert counts[:2] == [0, 1]
    assert {each["difference_count"] for each in said} == {counts[2]}


def test_filters_name_the_events_that_are_looked_at(store: Path) -> None:
    assert json.loads(verified(store, session_id="chat-7")[1])["events"] == 1
    assert json.loads(verified(store, since="2026-03-02T08:16:00Z", until="2026-03-03")[1])["events"] == 2
    assert json.loads(verified(store, until="2026-03-02T08:16:00Z")[1])["events"] == 2
    code, _, err = verified(store, since="2026-03-03", until="2026-03-02")
    assert (code, json.loads(err)["error"]["message"]) == (ExitCode.USAGE, "--from: is after --to")


def test_people_are_told_which_events_were_looked_at(store: Path) -> None:
    session_7 = f"of session chat-7 ({session_uuid('chat-7')})"
    for which, words in (
        ({}, "all events of the store"),
        ({"session_id": "chat-7"}, f"events {session_7}"),
        ({"session_id": session_uuid("chat-7"), "since": "2026-03-02"}, f"{session_uuid('chat-7')} captured from"),
        ({"since": "2026-03-02"}, "events captured from 2026-03-02 on"),
        ({"until": "2026-03-03T00:00:00Z"}, "events captured before 2026-03-03T00:00:00Z"),
        ({"since": "2026-03-02", "until": "2026-03-03"}, "events captured from 2026-03-02 until 2026-03-03"),
    ):
        code, out, err = verified(store, Format.TABLE, **which)
        assert (code, err) == (ExitCode.OK, "")
        assert words in out
        assert "\nresult" in out


@pytest.mark.parametrize(
    ("which", "line"),
    [
        (
            {"session_id": HOSTILE},
            f"there is no event of session nobody \\x1b[2J ({session_uuid(HOSTILE)}) in this store",
        ),
        (
            {"session_id": session_uuid("nobody").upper(), "until": "2026-03-03"},
            f"there is no event of session {session_uuid('nobody')} in this range",
        ),
        ({"since": "2027-01-01"}, "there is no event in this range"),
        ({"since": "2026-03-02", "until": "2026-03-02"}, "there is no event in this range"),
    ],
)
def test_filters_that_name_no_event_are_5_and_one_line(store: Path, which: dict[str, str], line: str) -> None:
    assert verified(store, Format.TABLE, **which) == (ExitCode.NOT_POSSIBLE, "", f"memory-graph: {line}\n")
    code, out, err = verified(store, **which)
    assert (code, out, json.loads(err)["success"]) == (ExitCode.NOT_POSSIBLE, "", False)


def test_an_empty_store_has_nothing_that_differs(tmp_path: Path) -> None:
    code, out, _ = verified(with_store(tmp_path / "store.db", lambda filling: filling.get("/v1/stats")), Format.TABLE)
    assert code == ExitCode.OK
    assert out == (
        "verified   all events of the store\nresult     there is no event\nevents     0\nidentical  0\n"
        "beyond     what the store itself has lost: memory-graph store verify\n"
    )


def test_a_store_that_is_not_there_is_told_and_none_is_made(tmp_path: Path) -> None:
    code, out, err = verified(tmp_path / "none.db", Format.TABLE)
    assert (code, out) == (ExitCode.NOT_POSSIBLE, "")
    assert err == f"memory-graph: there is no store at {tmp_path / 'none.db'}: a capture makes one\n"
    assert list(tmp_path.iterdir()) == []


def test_an_event_of_a_later_contract_is_not_passed_over_in_silence(damaged: list[dict[str, Any]]) -> None:
    event = json.loads(json.dumps(damaged[0]))
    event["payload"]["agent_version"] = "2.0.0"
    with lying_store([event]) as url:
        code, out, _ = verified(url, Format.TABLE)
    assert code == ExitCode.PARTLY
    assert "not possible  1: it keeps a later version of the contract than this release knows" in out


def test_what_a_damaged_event_calls_itself_cannot_act_on_the_terminal(damaged: list[dict[str, Any]]) -> None:
    event = json.loads(json.dumps(damaged[0]))
    event["runId"] = "\x1b[2J\u202e"
    with lying_store([event, {"position": 7}]) as url:
        code, out, _ = verified(url, Format.TABLE)
    assert code == ExitCode.DIFFERS
    assert "\\x1b[2J\\u202e" in out
    assert not {"\x1b", "\u202e"} & set(out)


def test_an_event_without_a_name_is_named_by_its_position(damaged: list[dict[str, Any]]) -> None:
    with lying_store([{"position": 8, "runId": "", "payload": 7}]) as url:
        code, out, _ = verified(url, Format.TABLE)
    assert code == ExitCode.DIFFERS
    assert "position 8  $  is not of the contract's shape" in out


def test_a_store_that_does_not_say_whether_there_is_more_leaves_it_at_partly() -> None:
    body = json.dumps({"events": [{"position": number} for number in range(1, 51)]}).encode()
    with Peer(answer(200, body)) as peer:
        code, out, err = verified(peer.url)
    assert (code, json.loads(out)["complete"]) == (ExitCode.PARTLY, False)
    assert err == ("memory-graph: the store does not say whether there are more events: what is behind was not read\n")


def test_a_store_that_fails_in_the_middle_leaves_what_was_found_and_says_where(damaged: list[dict[str, Any]]) -> None:
    body = json.dumps({"events": damaged, "next_cursor": "a"}, separators=(",", ":")).encode()
    with Peer(answer(200, body), answer(500, b"{}")) as peer:
        code, out, err = verified(peer.url, Format.TABLE)
    assert code == ExitCode.STORE
    assert out.startswith("verified")
    assert err.splitlines()[0] == "memory-graph: no more was read behind position 3"
    assert "the store answered 500" in err.splitlines()[1]
    with Peer(answer(500, b"{}")) as peer:
        assert verified(peer.url)[:2] == (ExitCode.STORE, "")


def test_the_memory_does_not_grow_with_the_store(tmp_path: Path) -> None:
    peaks = []
    for count in (60, 600):
        file = tmp_path / f"{count}.db"

        def fill(filling: Filling, count: int = count) -> None:
            for number in range(count):
                filling.capture(payload(turn(1, f"{number} " * 500), turn(2), session=session(number)))

        with_store(file, fill)
        settings = Settings.from_env({"RUVECTOR_SERVICE_URL": f"embedded:{file}"})
        with closing(store_client(settings)) as client:
            list(Verification(client.reads, session_id=session(1)))
            tracemalloc.start()
            replays = Replays()
            for each in Verification(client.reads):
                replays.add(each.replay)
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
        assert replays.events == count
    assert peaks[1] < 1.5 * peaks[0] + 500_000


def test_it_runs_from_the_command_line(store: Path, tmp_path: Path) -> None:
    done = run_process(
        tmp_path, "agent", "conversation-memory", "verify", "--store", str(store), "--limit", "5", "--format", "json"
    )
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out)["events"] == 4
