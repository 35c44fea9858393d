"""The file of a session's vectors: what is torn, what several processes write, and what is gone after an erasure."""

import os
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.recall.semantic.session_file import Filed, Looked, SessionFile
from tests.recall.semantic.said_turns import turn_id

ROW = 20


def filed(number: int, *, version: int | None = None, rows: int = 1) -> Filed:
    """The vectors of what turn ``number`` said; the bytes are found in a file by who looks for them."""
    vectors = (b"vector %04d" % number).ljust(ROW, b".") * rows
    return Filed(turn_id(number), b"%016d" % number, number if version is None else version, vectors)


@pytest.fixture
def file(tmp_path: Path) -> SessionFile:
    return SessionFile(tmp_path / "ab" / "session.vectors", ROW)


def test_what_is_appended_is_read_in_its_order(file: SessionFile) -> None:
    assert file.read().filed == ()
    file.append([filed(1), filed(2, rows=3)])
    file.append([filed(3)])
    assert file.read().filed == (filed(1), filed(2, rows=3), filed(3))
    assert file.path.stat().st_mode & 0o777 == 0o600
    assert file.path.parent.stat().st_mode & 0o777 == 0o700


def test_a_file_torn_at_any_byte_gives_its_whole_records_and_takes_more(file: SessionFile) -> None:
    file.append([filed(1), filed(2, rows=2)])
    data = file.path.read_bytes()
    for length in range(len(data)):
        file.path.write_bytes(data[:length])
        whole = file.read().filed
        assert whole == (filed(1), filed(2, rows=2))[: len(whole)]
        file.append([filed(3)])
        assert file.read().filed == (*whole, filed(3))


@given(place=st.integers(0, 200), value=st.integers(0, 255), tail=st.binary(max_size=80))
def test_damaged_bytes_are_never_read_as_vectors(
    tmp_path_factory: pytest.TempPathFactory, place: int, value: int, tail: bytes
) -> None:
    file = SessionFile(tmp_path_factory.mktemp("damaged") / "session.vectors", ROW)
    file.append([filed(1), filed(2)])
    data = bytearray(file.path.read_bytes())
    data[place % len(data)] = value
    file.path.write_bytes(bytes(data) + tail)
    assert set(file.read().filed) <= {filed(1), filed(2)}


def test_a_file_of_another_kind_is_empty_and_written_over(file: SessionFile) -> None:
    file.path.parent.mkdir()
    file.path.write_bytes(b"another kind of file")
    assert file.read().filed == ()
    file.append([filed(1)])
    assert file.read().filed == (filed(1),)


def test_the_vectors_of_erased_turns_are_in_no_file(file: SessionFile) -> None:
    file.append([filed(1), filed(2), filed(3), filed(2, version=9)])
    assert file.forget({turn_id(2), turn_id(7)}) == 2
    assert file.read().filed == (filed(1), filed(3))
    assert [path.name for path in file.path.parent.iterdir()] == [file.path.name]
    assert b"vector 0002" not in file.path.read_bytes()
    assert file.forget({turn_id(1), turn_id(3)}) == 2
    assert not file.path.exists()
    assert file.forget({turn_id(1)}) == 0


def test_what_was_appended_has_to_be_looked_for_from_its_version_on(file: SessionFile) -> None:
    assert file.read().unchecked == 0
    file.append([filed(5), filed(3), filed(9)])
    assert file.read().unchecked == 3
    assert file.forget(set(), looked=Looked(3, 12)) == 0
    assert file.read().unchecked == 12
    file.append([filed(20)])
    assert file.read().unchecked == 12
    file.append([filed(4)])
    assert file.read().unchecked == 4


def test_a_mark_holds_only_where_nothing_older_came_while_it_was_looked_for(file: SessionFile) -> None:
    file.append([filed(10), filed(11)])
    since = file.read().unchecked
    file.append([filed(2)])
    assert file.forget({turn_id(11)}, looked=Looked(since, 15)) == 1
    assert file.read().unchecked == 2
    assert file.read().filed == (filed(10), filed(2))


@given(st.lists(st.tuples(st.integers(1, 5), st.booleans()), max_size=20))
def test_a_file_holds_what_was_appended_after_it_was_forgotten_last(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[int, bool]]
) -> None:
    file = SessionFile(tmp_path_factory.mktemp("steps") / "session.vectors", ROW)
    expected: list[Filed] = []
    for number, is_erased in steps:
        if is_erased:
            file.forget({turn_id(number)})
            expected = [each for each in expected if each.turn_id != turn_id(number)]
        else:
            file.append([filed(number)])
            expected.append(filed(number))
    assert list(file.read().filed) == expected


def test_writers_of_several_processes_lose_nothing(file: SessionFile) -> None:
    children = []
    for writer in range(3):
        child = os.fork()
        if child == 0:
            for number in range(20):
                file.append([filed(100 * writer + number)])
            os._exit(0)
        children.append(child)
    for child in children:
        assert os.waitpid(child, 0)[1] == 0
    found = {each.turn_id for each in file.read().filed}
    assert found == {turn_id(100 * writer + number) for writer in range(3) for number in range(20)}


def test_a_writer_that_waited_while_the_file_was_put_anew_writes_to_the_new_one(file: SessionFile) -> None:
    file.append([filed(number) for number in range(1, 6)])

    def appends() -> None:
        for number in range(100, 130):
            file.append([filed(number)])

    thread = threading.Thread(target=appends)
    thread.start()
    for number in range(1, 5):
        file.forget({turn_id(number)})
    thread.join()
    assert {each.turn_id for each in file.read().filed} == {turn_id(5), *map(turn_id, range(100, 130))}


def test_a_file_that_cannot_be_written_leaves_nothing_beside_it(tmp_path: Path) -> None:
    file = SessionFile(tmp_path / "folder" / "session.vectors", ROW)
    (tmp_path / "folder").write_text("a file")
    with pytest.raises((FileExistsError, NotADirectoryError)):
        file.append([filed(1)])
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
