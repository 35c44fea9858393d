"""``embed`` in this process, with the tiny model: what it files, where it goes on, and what it takes out again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent.cli.exit_codes import ExitCode
from agent.cli.memory.semantic.embed import EmbedCommand
from agent.cli.output_format import Format
from agent.core.turn import SessionTurn
from agent.recall.semantic.embedder import Embedder
from agent.recall.semantic.semantic import Semantic
from agent.recall.semantic.vector_files import VectorFiles
from tests.cli.memory.event_store import Ended, ran, with_store
from tests.cli.memory.test_tail import Waiting
from tests.cli.streams import terminal
from tests.recall.semantic.said_turns import MODEL
from tests.recall.semantic.tiny import TINY
from tests.store.filled import Filling
from tests.store.surface import payload, turn, turn_id

SESSION = "6f1a0000-0000-4000-8000-00000000000a"
OTHER = SESSION.replace("a", "b")
ASKS = {"capture_options": {"compute_embeddings": True}}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return with_store(tmp_path / "store.db", two_sessions)


def two_sessions(filling: Filling) -> None:
    """Positions 1 to 3: two turns that are to be embedded, one that is not, and the first two with a third."""
    first = [turn(1, "where is my parcel ?"), turn(2, "it has been sent to bern")]
    filling.capture(payload(*first, session=SESSION, **ASKS))
    filling.capture(payload(turn(5, "rain today"), session=OTHER))
    filling.capture(payload(*first, turn(3, " "), turn(4, "thanks"), session=SESSION, **ASKS))


def embedded(
    store: Path,
    output_format: Format = Format.JSON,
    *,
    follow: bool = False,
    since: int | None = None,
    interval: float = 1.0,
    sleep: Callable[[float], None] | None = None,
    monotonic: Callable[[], float] = lambda: 0.0,
    **environ: str,
) -> Ended:
    settings = {
        "SEMANTIC_MODEL": str(TINY),
        "SEMANTIC_CACHE": str(store.parent / "cache"),
        "RUVECTOR_DEADLINE_S": "1",
        **environ,
    }
    command = EmbedCommand(follow, since, interval, sleep or Waiting(), monotonic)
    return ran(command, store, output_format, at=terminal(environ=settings))


def counts(ended: Ended, code: ExitCode = ExitCode.OK) -> dict[str, int]:
    assert ended[0] == code, ended
    return dict(json.loads(ended[1]))


def files(store: Path) -> VectorFiles:
    return VectorFiles(store.parent / "cache", MODEL)


def filed(store: Path, session: str = SESSION) -> list[str]:
    return [each.turn_id for each in files(store).of(session).read().filed]


def test_the_turns_of_events_that_asked_are_filed_and_no_others(store: Path) -> None:
    expected = {"events": 2, "embedded": 3, "known": 0, "blank": 1, "erased": 0, "position": 3}
    assert counts(embedded(store)) == expected
    assert sorted(filed(store)) == [turn_id(1), turn_id(2), turn_id(4)]
    assert list(files(store).sessions()) == [SESSION]


def test_a_reader_finds_what_it_filed_and_computes_nothing(store: Path) -> None:
    embedded(store)
    turns: list[Any] = []
    with_store(store, lambda filling: turns.extend(filling.get(f"/v1/sessions/{SESSION}/turns")["turns"]))
    messages = [
        SessionTurn(
            each["turn_id"], each["seq"], each["conversation_id"], None, each["role"], each["content"], False, each
        )
        for each in turns
    ]
    reader = Semantic(Embedder(MODEL), files(store), most_new=0)
    scores = reader.rank(messages, "where is my parcel", session_id=SESSION)
    assert scores[0] == max(scores) > 0.8
    assert [score > 0 for score in scores] == [True, True, False, True]


def test_the_next_run_goes_on_where_the_last_one_ended(store: Path) -> None:
    embedded(store)
    nothing = {"events": 0, "embedded": 0, "known": 0, "blank": 0, "erased": 0, "position": 3}
    assert counts(embedded(store)) == nothing
    with_store(store, lambda filling: filling.capture(payload(turn(6, "hello"), session=OTHER, **ASKS)))
    assert counts(embedded(store)) == {**nothing, "events": 1, "embedded": 1, "position": 4}


def test_from_a_position_that_is_said_everything_is_looked_at_and_what_is_known_is_left(store: Path) -> None:
    embedded(store)
    again = counts(embedded(store, since=0))
    assert (again["events"], again["embedded"], again["known"]) == (2, 0, 3)
    assert counts(embedded(store, since=2))["events"] == 1


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"position": "3", "execution_ref": "x"}', '{"position": 3, "execution_ref": "x"}']
)
def test_a_position_that_is_none_or_of_another_store_starts_from_the_first_event(store: Path, text: str) -> None:
    embedded(store)
    (files(store).folder / "position.json").write_text(text)
    assert counts(embedded(store))["known"] == 3


def test_the_vectors_of_an_erased_turn_are_gone_from_the_files_at_the_next_run(store: Path) -> None:
    embedded(store)
    path = files(store).of(SESSION).path
    digest = files(store).of(SESSION).read().filed[0].digest
    erased = files(store).of(SESSION).read().filed[0].turn_id
    with_store(store, lambda filling: filling.erase("turn", erased))
    assert counts(embedded(store))["erased"] == 1
    assert erased not in filed(store)
    assert digest not in path.read_bytes()
    assert counts(embedded(store))["erased"] == 0


def test_what_a_late_reader_files_of_an_erased_turn_is_found_too(store: Path) -> None:
    embedded(store)
    late = files(store).of(SESSION).read().filed[0]
    with_store(store, lambda filling: filling.erase("turn", late.turn_id))
    embedded(store)
    files(store).of(SESSION).append([late])
    assert counts(embedded(store))["erased"] == 1
    assert late.turn_id not in filed(store)


def test_nothing_is_left_of_an_erased_session_and_one_that_the_store_does_not_have(store: Path) -> None:
    embedded(store)
    stray = files(store).of(OTHER.replace("b", "c"))
    stray.append(list(files(store).of(SESSION).read().filed))
    with_store(store, lambda filling: filling.erase("session", SESSION))
    embedded(store)
    assert list(files(store).sessions()) == []
    # What was erased is not embedded from the log either.
    assert counts(embedded(store, since=0))["embedded"] == 0
    assert list(files(store).sessions()) == []


def test_a_session_that_goes_on_is_looked_at_from_where_it_was_looked_at_last(store: Path) -> None:
    embedded(store)
    with_store(store, lambda filling: filling.capture(payload(turn(7, "boat"), session=SESSION)))
    embedded(store)
    assert files(store).of(SESSION).read().unchecked == 4
    assert set(filed(store)) == {turn_id(1), turn_id(2), turn_id(4)}


def test_new_events_are_embedded_as_they_come_until_ctrl_c(store: Path) -> None:
    def commit() -> None:
        assert set(filed(store)) == {turn_id(1), turn_id(2), turn_id(4)}
        with_store(store, lambda filling: filling.capture(payload(turn(6, "hello"), session=OTHER, **ASKS)))

    code, out, err = embedded(store, follow=True, interval=0.5, sleep=Waiting([commit]))
    assert (code, err) == (ExitCode.INTERRUPTED, "memory-graph: stopped\n")
    assert json.loads(out)["position"] == 4
    assert filed(store, OTHER) == [turn_id(6)]


def test_erasures_are_looked_for_from_time_to_time_while_nothing_is_new(store: Path) -> None:
    hours = iter(range(100))

    def erase() -> None:
        with_store(store, lambda filling: filling.erase("turn", turn_id(1)))

    def look() -> None:
        assert turn_id(1) not in filed(store)

    waiting = Waiting([erase, look])
    ended = embedded(store, follow=True, sleep=waiting, monotonic=lambda: 3600.0 * next(hours))
    assert counts(ended, ExitCode.INTERRUPTED)["erased"] == 1


@pytest.mark.parametrize("output_format", [Format.TABLE, Format.YAML])
def test_people_are_told_the_counts(store: Path, output_format: Format) -> None:
    code, out, err = embedded(store, output_format)
    assert (code, err) == (ExitCode.OK, "")
    assert out.split()[:4] in (["events", "2", "embedded", "3"], ["events:", "2", "embedded:", "3"])


@pytest.mark.parametrize(
    ("environ", "variable"),
    [
        ({"SEMANTIC_MODEL": ""}, "SEMANTIC_MODEL"),
        ({"SEMANTIC_MODEL": "no/such/folder"}, "SEMANTIC_MODEL"),
        ({"SEMANTIC_CACHE": ""}, "SEMANTIC_CACHE"),
        ({"SEMANTIC_CACHE": str(TINY / "model.onnx")}, "SEMANTIC_CACHE"),
    ],
)
def test_without_a_model_or_a_folder_it_is_said_which_setting_is_missing(
    store: Path, environ: dict[str, str], variable: str
) -> None:
    code, out, err = embedded(store, Format.TABLE, **environ)
    assert (code, out) == (ExitCode.USAGE, "")
    assert err.startswith(f"memory-graph: {variable}: ")
    assert ("make semantic" in err) is (variable == "SEMANTIC_MODEL")


def test_a_folder_that_cannot_be_written_ends_it_and_the_next_run_does_it_again(store: Path) -> None:
    files(store).folder.mkdir(parents=True)
    (files(store).folder / SESSION[:2]).write_text("a file")
    code, _, err = embedded(store, Format.TABLE)
    assert code == ExitCode.USAGE
    assert "SEMANTIC_CACHE: cannot be used" in err
    (files(store).folder / SESSION[:2]).unlink()
    assert counts(embedded(store))["embedded"] == 3


@pytest.mark.parametrize("interval", [0.0, 3601.0, float("nan")])
def test_an_interval_out_of_range_is_wrong_usage(store: Path, interval: float) -> None:
    code, _, err = embedded(store, Format.TABLE, interval=interval)
    assert (code, "--interval" in err) == (ExitCode.USAGE, True)


def test_a_store_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    code, out, _ = embedded(tmp_path / "absent.db")
    assert (code, out) == (ExitCode.NOT_POSSIBLE, "")
    assert not (tmp_path / "absent.db").exists()


def test_that_no_event_asked_is_said_with_how_one_does(tmp_path: Path) -> None:
    quiet = with_store(
        tmp_path / "quiet.db", lambda filling: filling.capture(payload(turn(1, "rain today"), session=OTHER))
    )
    code, out, err = embedded(quiet)
    assert (code, json.loads(out)["events"]) == (ExitCode.OK, 0)
    assert err == (
        "memory-graph: no event asked for embeddings, of 1 that are new: "
        "a capture does with capture_options.compute_embeddings true\n"
    )
    # Nothing is new: that is no news.
    assert embedded(quiet)[2] == ""


def test_nothing_is_said_where_one_asked(store: Path) -> None:
    assert embedded(store)[2] == ""
