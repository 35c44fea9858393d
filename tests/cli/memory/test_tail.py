"""``tail`` in this process: what is committed at any moment comes once, and waits take no time."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from agent.cli.exit_codes import ExitCode
from agent.cli.memory.events.tail import TailCommand
from agent.cli.output_format import Format
from agent.cli.terminal import Terminal
from tests.cli.memory.event_store import GOLDEN, PLAN, Ended, every_kind, ran, with_store
from tests.cli.memory.test_retrieve import answered, page
from tests.cli.streams import Screen, printed, terminal
from tests.ruvector.peer import Peer, answer
from tests.store.filled import Filling
from tests.store.surface import payload, turn

READ = {Format.JSON: json.loads, Format.YAML: yaml.safe_load}
SESSION = "6f1a0000-0000-4000-8000-00000000000a"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return with_store(tmp_path_factory.mktemp("tail") / "store.db", every_kind)


def tailed(
    store: Path | str,
    output_format: Format = Format.JSON,
    *,
    session: str | None = None,
    last: int = 10,
    interval: float = 1.0,
    count: int | None = None,
    sleep: Callable[[float], None] | None = None,
    jsonl: bool = False,
    at: Terminal | None = None,
) -> Ended:
    command = TailCommand(session, last, interval, count, sleep or Waiting())
    return ran(command, store, output_format, jsonl=jsonl, at=at)


@dataclass
class Waiting:
    """Stands for ``time.sleep``: each wait runs the next step, and Ctrl-C follows the last one."""

    steps: list[Callable[[], Any]] = field(default_factory=list)
    waited: list[float] = field(default_factory=list)

    def __call__(self, seconds: float) -> None:
        self.waited.append(seconds)
        if len(self.waited) > len(self.steps):
            raise KeyboardInterrupt
        self.steps[len(self.waited) - 1]()


def captures(path: Path, *contents: str, session: str = SESSION) -> None:
    def fill(filling: Filling) -> None:
        for content in contents:
            filling.append(payload(turn(len(content), content), session=session))

    with_store(path, fill)


def contents(out: str) -> list[str]:
    events = json.loads(out)["events"]
    return [each["payload"]["inputs"]["turns"][0]["content"] for each in events]


@pytest.mark.parametrize("output_format", list(Format))
def test_each_format_prints_what_its_golden_file_holds(store: Path, output_format: Format) -> None:
    expected = (GOLDEN / f"tail.{output_format.value}.txt").read_text()
    assert tailed(store, output_format, last=2, count=2) == (ExitCode.OK, expected, "")


def test_json_lines_print_what_their_golden_file_holds(store: Path) -> None:
    assert tailed(store, last=2, count=2, jsonl=True)[1] == (GOLDEN / "tail.jsonl.txt").read_text()


@pytest.mark.parametrize("output_format", list(Format))
def test_ctrl_c_is_130_one_line_and_a_whole_document(store: Path, output_format: Format) -> None:
    code, out, err = tailed(store, output_format)
    assert (code, err) == (ExitCode.INTERRUPTED, "memory-graph: stopped\n")
    if output_format is Format.TABLE:
        assert len(out.splitlines()) == 5
    else:
        document = READ[output_format](out)
        assert [each["position"] for each in document["events"]] == [1, 2, 3, 4]
        assert document["complete"] is True


def test_the_newest_come_first_and_each_new_one_at_once_when_it_comes(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    captures(path, "a", "bb", "ccc")
    at = terminal()
    seen: list[int] = []

    def commit(*new: str) -> None:
        captures(path, *new)
        seen.append(len(printed(at)[0].splitlines()))

    waiting = Waiting([lambda: commit("dddd", "eeeee"), commit, lambda: commit("ffffff"), commit])
    code, out, _ = tailed(path, last=2, interval=0.5, sleep=waiting, at=at, jsonl=True)
    assert code == ExitCode.INTERRUPTED
    found = [json.loads(line)["payload"]["inputs"]["turns"][0]["content"] for line in out.splitlines()]
    assert found == ["bb", "ccc", "dddd", "eeeee", "ffffff"]
    assert seen == [2, 4, 4, 5]
    assert waiting.waited == [0.5] * 5


def test_an_empty_store_is_followed_from_its_first_event_on(tmp_path: Path) -> None:
    path = with_store(tmp_path / "store.db", lambda filling: filling.get("/v1/stats"))
    out = tailed(path, count=1, sleep=Waiting([lambda: captures(path, "first")]))[1]
    assert contents(out) == ["first"]


def test_none_of_those_that_are_there_are_shown_where_nobody_asks_for_them(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    captures(path, "a", "bb")
    code, out, err = tailed(path, last=0, count=1, sleep=Waiting([lambda: captures(path, "ccc")]))
    assert (code, contents(out), err) == (ExitCode.OK, ["ccc"], "")


@pytest.mark.parametrize(
    ("last", "count", "shown"), [(10, 2, ["bb", "ccc"]), (1, 1, ["ccc"]), (10, 3, ["a", "bb", "ccc"])]
)
def test_a_count_counts_the_first_ones_too(tmp_path: Path, last: int, count: int, shown: list[str]) -> None:
    path = tmp_path / "store.db"
    captures(path, "a", "bb", "ccc")
    code, out, _ = tailed(path, last=last, count=count)
    assert (code, contents(out)) == (ExitCode.OK, shown)


def test_one_session_is_followed_by_its_own_id_or_its_uuid(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    other = SESSION.replace("a", "b")
    captures(path, "a", "bb")
    captures(path, "other", session=other)

    def commit() -> None:
        captures(path, "another", session=other)
        captures(path, "ccc")

    assert contents(tailed(path, session=SESSION.upper(), sleep=Waiting([commit]))[1]) == ["a", "bb", "ccc"]
    assert contents(tailed(path, session="no such session")[1]) == []


@pytest.mark.parametrize("session", [None, SESSION])
def test_an_event_that_is_committed_between_the_first_question_and_the_feed_comes_once(session: str | None) -> None:
    # The log ends at 5 when the store is asked for its end; 6 and 7 are committed before the newest are read.
    pages = [page(5, cursor="c"), page(7, 5, 4, cursor="c"), page(6, 7, cursor="d"), page(cursor="d")]
    payload_of_session = b'"payload": {"inputs": {"session_id": "%b"}}' % SESSION.encode()
    script = [each.replace(b'"payload": {}', payload_of_session) for each in pages]
    with Peer(*answered(*script)) as peer:
        code, out, _ = tailed(peer.url, last=3, session=session)
    assert code == ExitCode.INTERRUPTED
    assert [each["position"] for each in json.loads(out)["events"]] == [4, 5, 6, 7]
    assert peer.received[2].path == "/events/decisions?after=5&limit=100"


def test_a_store_that_goes_away_is_told_waited_for_and_followed_on(tmp_path: Path) -> None:
    down = answer(500, b"SECRET-71b")
    script = [*answered(page(1, cursor=None), page(1, cursor=None), page(cursor="a")), down, down, down]
    script += [*answered(page(2, cursor="b")), down, *answered(page(3, cursor="c"), page(cursor="c"))]
    waiting = Waiting([lambda: None] * 5)
    with Peer(*script) as peer:
        code, out, err = tailed(peer.url, Format.TABLE, sleep=waiting)
    assert code == ExitCode.INTERRUPTED
    assert [line.split()[0] for line in out.splitlines()[1:]] == ["1", "2", "3"]
    away = "memory-graph: the store answered 500 with something that is not the answer that was asked for; "
    away += "asking again until it is back\n"
    back = "memory-graph: the store is back\n"
    assert err == away + back + away + back + "memory-graph: stopped\n"
    assert waiting.waited == [1.0, 2.0, 4.0, 8.0, 2.0, 1.0]


def test_a_store_that_is_down_at_the_start_is_1_and_nothing_is_printed() -> None:
    with Peer(answer(500, b"SECRET-71b")) as peer:
        for output_format in Format:
            code, out, err = tailed(peer.url, output_format)
            assert (code, out) == (ExitCode.STORE, "")
            assert "SECRET-71b" not in err


def test_a_key_that_is_refused_while_it_follows_ends_it_with_a_whole_document() -> None:
    with Peer(*answered(page(1, cursor=None)), *answered(page(1, cursor=None)), answer(401)) as peer:
        code, out, err = tailed(peer.url)
    document = json.loads(out)
    assert (code, document["complete"], len(document["events"])) == (ExitCode.STORE, False, 1)
    assert "check RUVECTOR_API_KEY" in err


def test_a_store_whose_events_have_no_position_cannot_be_followed() -> None:
    with Peer(*answered(b'{"events":[{"runId":"r"}],"next_cursor":null}')) as peer:
        code, out, err = tailed(peer.url, Format.TABLE)
    assert (code, out) == (ExitCode.STORE, "")
    assert err == "memory-graph: the store's events have no position, so they cannot be followed\n"


@pytest.mark.parametrize("interval", [0.0, -1.0, 0.09, 3601.0, float("nan"), float("inf")])
def test_an_interval_out_of_range_is_2(store: Path, interval: float) -> None:
    assert tailed(store, Format.TABLE, interval=interval) == (
        ExitCode.USAGE,
        "",
        "memory-graph: --interval: must be 0.1 to 3600 seconds\n",
    )


def test_a_store_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    assert tailed(tmp_path / "none.db")[0] == ExitCode.NOT_POSSIBLE
    assert list(tmp_path.iterdir()) == []


def test_a_cp1252_console_is_written_to(tmp_path: Path) -> None:
    path = with_store(tmp_path / "store.db", lambda filling: filling.post({**PLAN, "runId": "✅ 完成"}))
    for output_format in Format:
        at = terminal(stdout=Screen("cp1252"))
        code, out, _ = tailed(path, output_format, at=at)
        assert code == ExitCode.INTERRUPTED
        if output_format is Format.TABLE:
            assert "\\u2705 \\u5b8c\\u6210" in out
        else:
            assert READ[output_format](out)["events"][0]["runId"] == "✅ 完成"
