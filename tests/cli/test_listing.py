import io
import json
from dataclasses import replace
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from agent.cli.columns import Column
from agent.cli.exit_codes import ExitCode
from agent.cli.invocation import Invocation
from agent.cli.listing import Listing
from agent.cli.output_format import Format
from agent.cli.terminal import OutputError, Terminal
from agent.errors import StoreConnectionError
from tests.cli.streams import Lost, Screen, invocation, printed, terminal
from tests.strategies import json_values

COLUMNS = (Column("n", 3, right=True), Column("what", 10))
DOCUMENTS = (Format.JSON, Format.YAML)
READ = {Format.JSON: json.loads, Format.YAML: yaml.safe_load}


def listed(
    items: list[Any],
    output_format: Format,
    *,
    jsonl: bool = False,
    fail: BaseException | None = None,
    follow: bool = False,
    at: Terminal | None = None,
) -> tuple[ExitCode, str, str]:
    """Print ``items``, and then fail; the exit code, the results, and all else."""

    def command(run: Invocation) -> ExitCode:
        with Listing(run, "items", COLUMNS, follow=follow) as listing:
            for number, item in enumerate(items):
                listing.add(json.dumps(item), lambda: [str(number), str(item)])  # noqa: B023 - called at once
            if fail is not None:
                raise fail
            listing.members["more"] = None
        return ExitCode.OK

    at = at or terminal()
    run = replace(invocation(at, Format.JSON if jsonl else output_format), jsonl=jsonl)
    return run.run(command, interrupted="interrupted"), *printed(at)


def test_people_get_a_line_for_each_item_under_titles() -> None:
    assert listed(["one", "two"], Format.TABLE) == (0, "  n  what\n  0  one\n  1  two\n", "")


def test_an_empty_list_is_still_a_list() -> None:
    assert listed([], Format.TABLE)[1] == "  n  what\n"
    assert listed([], Format.JSON)[1] == '{"items":[],"more": null, "complete": true}\n'
    assert listed([], Format.YAML)[1] == "items: []\nmore: null\ncomplete: true\n"
    assert listed([], Format.JSON, jsonl=True)[1] == ""


@given(st.lists(json_values, max_size=4), st.sampled_from(DOCUMENTS))
def test_a_document_holds_every_item_as_it_is(items: list[Any], output_format: Format) -> None:
    _, out, err = listed(items, output_format)
    document = json.loads(out) if output_format is Format.JSON else yaml.safe_load(out)
    assert document == {"items": items, "more": None, "complete": True}
    assert err == ""


@given(st.lists(json_values, max_size=4))
def test_json_lines_hold_an_item_each_and_nothing_else(items: list[Any]) -> None:
    _, out, _ = listed(items, Format.JSON, jsonl=True)
    assert [json.loads(line) for line in out.splitlines()] == items


def test_an_item_that_was_laid_out_over_lines_is_one_line() -> None:
    at = terminal()
    with Listing(replace(invocation(at, Format.JSON), jsonl=True), "items", COLUMNS) as listing:
        listing.add('{\n "a": 1,\r\n\t"b": "x\x01"}', list)
    assert printed(at)[0].count("\n") == 1
    assert json.loads(printed(at)[0]) == {"a": 1, "b": "x\x01"}


def test_integers_of_any_size_survive() -> None:
    for output_format in DOCUMENTS:
        assert READ[output_format](listed([10**400], output_format)[1])["items"] == [10**400]


@pytest.mark.parametrize("output_format", DOCUMENTS)
def test_a_failure_in_the_middle_leaves_one_whole_document_that_says_so(output_format: Format) -> None:
    code, out, err = listed([1, 2], output_format, fail=StoreConnectionError("down"))
    assert code == ExitCode.STORE
    assert READ[output_format](out) == {"items": [1, 2], "complete": False}
    assert READ[output_format](err)["error"]["message"] == "down"


def test_a_failure_in_the_middle_of_rows_is_a_line_on_standard_error() -> None:
    code, out, err = listed([1], Format.TABLE, fail=StoreConnectionError("down"))
    assert (code, out, err) == (ExitCode.STORE, "  n  what\n  0  1\n", "memory-graph: down\n")


@pytest.mark.parametrize("output_format", list(Format))
def test_a_failure_before_the_first_item_leaves_standard_output_empty(output_format: Format) -> None:
    code, out, _ = listed([], output_format, fail=StoreConnectionError("down"))
    assert (code, out) == (ExitCode.STORE, "")


@pytest.mark.parametrize("output_format", DOCUMENTS)
def test_an_item_that_cannot_be_printed_leaves_the_document_whole_without_it(output_format: Format) -> None:
    at = terminal()

    def command(run: Invocation) -> ExitCode:
        with Listing(run, "items", COLUMNS) as listing:
            listing.add("1", list)
            listing.add("{", list)
            raise StoreConnectionError("down")

    invocation(at, output_format).run(command, interrupted="")
    out, _ = printed(at)
    if output_format is Format.YAML:
        assert yaml.safe_load(out) == {"items": [1], "complete": False}


@pytest.mark.parametrize("output_format", DOCUMENTS)
def test_ctrl_c_cuts_a_list_off_but_is_how_a_followed_one_ends(output_format: Format) -> None:
    for follow in (False, True):
        code, out, err = listed([1], output_format, fail=KeyboardInterrupt(), follow=follow)
        assert (code, err) == (ExitCode.INTERRUPTED, "memory-graph: interrupted\n")
        assert READ[output_format](out) == {"items": [1], "complete": follow}


def test_a_followed_list_is_opened_before_its_first_item_and_prints_each_at_once() -> None:
    for output_format, start in ((Format.TABLE, "  n  what\n"), (Format.JSON, '{"items":['), (Format.YAML, "items:")):
        at = terminal()
        with Listing(invocation(at, output_format), "items", COLUMNS, follow=True) as listing:
            listing.open()
            listing.open()
            assert printed(at)[0] == start
            listing.add('"one"', lambda: ["0", "one"])
            assert "one" in printed(at)[0]
        assert "items" not in printed(at)[0].removeprefix(start)


def test_a_followed_list_without_an_item_is_one_document() -> None:
    for output_format in DOCUMENTS:
        at = terminal()
        with Listing(invocation(at, output_format), "items", COLUMNS, follow=True) as listing:
            listing.open()
        assert READ[output_format](printed(at)[0]) == {"items": [], "complete": True}


def test_a_note_is_for_people_alone() -> None:
    for output_format in Format:
        at = terminal()
        with Listing(invocation(at, output_format), "items", COLUMNS) as listing:
            listing.note("one more is hidden")
        assert ("one more is hidden\n" in printed(at)[0]) == (output_format is Format.TABLE)


def test_a_reader_that_went_away_ends_the_list_and_is_not_written_to_again() -> None:
    at = terminal(stdout=Lost(BrokenPipeError()))
    assert listed(["x" * 70_000, "y"], Format.JSON, at=at)[0] == ExitCode.CLOSED_PIPE
    assert printed(at)[1] == "memory-graph: the reader of the results closed the pipe\n"


def test_a_list_is_not_kept_until_its_end() -> None:
    at = terminal()
    with Listing(invocation(at, Format.JSON), "items", COLUMNS) as listing:
        listing.add(json.dumps("x" * 1000), list)
        assert printed(at)[0] == ""
        for _ in range(100):
            listing.add(json.dumps("x" * 1000), list)
        assert len(printed(at)[0]) > 60_000


def test_a_console_that_cannot_write_it_gets_escapes_and_one_document() -> None:
    for output_format in DOCUMENTS:
        at = terminal(stdout=Screen("cp1252"))
        _, out, _ = listed(["Zoë ✅ 🚀" * 1000], output_format, at=at)
        assert READ[output_format](out)["items"] == ["Zoë ✅ 🚀" * 1000]


class Slow(io.RawIOBase):
    """A pipe whose reader takes ``room`` bytes; the next write waits, and is interrupted once."""

    def __init__(self, room: int) -> None:
        self.taken = b""
        self.room = room
        self.interrupted = False

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        if len(self.taken) >= self.room and not self.interrupted:
            self.interrupted = True
            raise KeyboardInterrupt
        piece = bytes(data)[: 1000 if self.interrupted else max(self.room - len(self.taken), 1)]
        self.taken += piece
        return len(piece)


@pytest.mark.parametrize("room", [0, 1, 1999, 30_000, 66_000])
@pytest.mark.parametrize("content", ["x", "é", "完", "🚀"])
def test_ctrl_c_while_a_slow_reader_is_waited_for_still_leaves_one_whole_document(room: int, content: str) -> None:
    pipe = Slow(room)
    stream = io.TextIOWrapper(io.BufferedWriter(pipe), encoding="utf-8", newline="")
    at = Terminal({}, None, stream, Screen())

    def command(run: Invocation) -> ExitCode:
        with Listing(run, "items", COLUMNS) as listing:
            for _ in range(100):
                listing.add(json.dumps(content * 1000, ensure_ascii=False), list)
        return ExitCode.OK

    assert invocation(at, Format.JSON).run(command, interrupted="interrupted") == ExitCode.INTERRUPTED
    stream.flush()
    document = json.loads(pipe.taken)
    assert document["complete"] is False
    assert set(document["items"]) <= {content * 1000}


def test_what_a_list_could_not_write_is_raised_as_such() -> None:
    at = terminal(stdout=Lost(OSError(28, "No space left on device")))
    with pytest.raises(OutputError), Listing(invocation(at, Format.JSON), "items", COLUMNS):
        pass
