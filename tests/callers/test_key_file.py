"""Keys in a file: taken over when it changes, kept when it turns bad, and never forgotten into an open door."""

import json
import logging
import os
import threading

import pytest

from agent.callers.key_file import KeyFile
from agent.errors import ConfigurationError, Unauthorized
from agent.observability import configure_logging
from tests.callers.clock import Clock
from tests.leak_watch import SECRET

VARIABLE = "CAPTURE_API_KEYS_FILE"
OLD, NEW, OTHER = "the-old-key-0123456789", "the-new-key-0123456789", "another-key-0123456789"


class Lines:
    def __init__(self):
        self.texts = []

    def write(self, text):
        self.texts.append(text)

    def flush(self):
        """Nothing is held back."""

    def told(self):
        told = [json.loads(text) for text in self.texts]
        self.texts.clear()
        return [{name: value for name, value in line.items() if name not in ("message", "time")} for line in told]


@pytest.fixture
def lines():
    stream = Lines()
    handler = configure_logging(stream, level="INFO")
    yield stream
    for name in ("agent", "store"):
        logging.getLogger(name).removeHandler(handler)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "keys"
    path.write_text(f"{OLD}\n")
    return path


@pytest.fixture
def keys(path, clock):
    return KeyFile(VARIABLE, str(path), monotonic_ns=clock)


def opens(keys, key):
    try:
        keys.check({"HTTP_AUTHORIZATION": f"Bearer {key}"})
    except Unauthorized:
        return False
    return True


def put(path, text):
    """A new file in the place of the old one, at once."""
    beside = path.with_suffix(".new")
    beside.write_bytes(text if isinstance(text, bytes) else text.encode())
    beside.replace(path)


@pytest.mark.parametrize("text", [f"{OLD},{NEW}", f"{OLD}\n{NEW}\n", f"\r\n {OLD}\r\n\r\n{NEW},\r\n", f"{NEW}\n,{OLD}"])
def test_the_file_holds_keys_between_commas_or_line_ends(path, clock, text):
    path.write_bytes(text.encode())
    keys = KeyFile(VARIABLE, str(path), monotonic_ns=clock)
    assert (opens(keys, OLD), opens(keys, NEW), opens(keys, OTHER)) == (True, True, False)


def test_who_has_a_key_is_told_by_its_digest(keys):
    assert len(keys.check({"HTTP_AUTHORIZATION": f"Bearer {OLD}"})) == 32


def test_a_changed_file_is_taken_over_at_the_next_look_a_second_later_at_most(keys, path, clock, lines):
    put(path, f"{OLD},{NEW}")
    clock.wait(0.99)
    assert (opens(keys, OLD), opens(keys, NEW)) == (True, False)
    clock.wait(0.01)
    assert (opens(keys, OLD), opens(keys, NEW)) == (True, True)
    put(path, NEW)
    clock.wait(1)
    assert (opens(keys, OLD), opens(keys, NEW)) == (False, True)
    said = {"severity": "INFO", "variable": VARIABLE}
    assert lines.told() == [{**said, "keys": 2}, {**said, "keys": 1}]


def test_a_mounted_secret_whose_link_is_set_anew_is_taken_over(tmp_path, clock):
    # As Kubernetes mounts one: keys -> ..data/keys, ..data -> ..1, and then ..data -> ..2.
    for number, text in ((1, OLD), (2, NEW)):
        (tmp_path / f"..{number}").mkdir()
        (tmp_path / f"..{number}" / "keys").write_text(text)
        os.utime(tmp_path / f"..{number}" / "keys", (0, 0))
    (tmp_path / "..data").symlink_to("..1")
    (tmp_path / "keys").symlink_to("..data/keys")
    keys = KeyFile(VARIABLE, str(tmp_path / "keys"), monotonic_ns=clock)
    (tmp_path / "..next").symlink_to("..2")
    (tmp_path / "..next").replace(tmp_path / "..data")
    clock.wait(1)
    assert (opens(keys, OLD), opens(keys, NEW)) == (False, True)


def test_a_change_that_the_file_system_does_not_tell_is_taken_over_a_minute_later(keys, path, clock):
    before = path.stat()
    with path.open("r+") as file:
        file.write(NEW)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    # The kernel tells it by the time of its own, ctime; a file system that tells nothing is one that was looked at.
    keys._stamp = (path.stat().st_dev, path.stat().st_ino, before.st_size, before.st_mtime_ns, path.stat().st_ctime_ns)
    clock.wait(59)
    assert opens(keys, OLD)
    clock.wait(1)
    assert (opens(keys, OLD), opens(keys, NEW)) == (False, True)


def written(text):
    return lambda path: put(path, text)


BAD = {
    "gone": (lambda path: path.unlink(), {"is_there": False}),
    "a folder": (lambda path: (path.unlink(), path.mkdir()), {"is_there": False}),
    "a pipe": (lambda path: (path.unlink(), os.mkfifo(path)), {"is_there": False}),
    "empty": (written(""), {"is_there": True}),
    "white space": (written(" \n\n"), {"is_there": True}),
    "separators": (written(",\n,"), {"is_there": True}),
    "not text": (written(b"\xff" * 20), {"is_there": True}),
    "too large": (written(f"{NEW}\n" * 10_000), {"is_there": True}),
    "a short key": (written(f"{NEW}\n{SECRET}"), {"is_there": True, "entry": 2}),
    "a comment": (written(f"# {SECRET} of the chat\n{NEW}"), {"is_there": True, "entry": 1}),
    "a key twice": (written(f"{NEW},{NEW}"), {"is_there": True, "entry": 2}),
}


@pytest.mark.parametrize("turn", [pytest.param(*each, id=name) for name, (*each, _) in BAD.items()])
def test_a_file_that_is_missing_or_bad_stops_the_start_and_is_named(path, clock, turn):
    turn(path)
    with pytest.raises(ConfigurationError) as refused:
        KeyFile(VARIABLE, str(path), monotonic_ns=clock)
    assert refused.value.variable == VARIABLE
    assert SECRET not in refused.value.message
    assert str(path) not in refused.value.message


@pytest.mark.parametrize(("turn", "said"), [pytest.param(*each, id=name) for name, each in BAD.items()])
def test_a_file_that_turns_bad_keeps_the_last_good_keys_and_is_told_once(keys, path, clock, lines, turn, said):
    turn(path)
    for _ in range(200):
        clock.wait(1)
        assert (opens(keys, OLD), opens(keys, NEW), opens(keys, "")) == (True, False, False)
    assert lines.told() == [{"severity": "WARNING", "variable": VARIABLE, "keys": 1, **said}]


def test_after_a_bad_file_a_good_one_is_taken_over_and_the_next_bad_one_is_told_again(keys, path, clock, lines):
    for text in ("", NEW, "", NEW):
        put(path, text)
        clock.wait(1)
        opens(keys, NEW)
    assert (opens(keys, OLD), opens(keys, NEW)) == (False, True)
    assert [line["severity"] for line in lines.told()] == ["WARNING", "INFO", "WARNING"]


def test_keys_that_came_back_as_they_were_are_no_news(keys, path, clock, lines):
    put(path, OLD)
    clock.wait(1)
    assert opens(keys, OLD)
    assert lines.told() == []


def test_no_valid_key_is_refused_while_the_file_is_swapped_under_many_threads(path):
    both, old, new = f"{OLD}\n{NEW}\n{OTHER}", f"{OTHER}\n{OLD}", f"{NEW},{OTHER}"
    ticks = iter(range(10**9))
    # Every request looks: each tick of this clock is a second.
    keys = KeyFile(VARIABLE, str(path), monotonic_ns=lambda: next(ticks) * 10**9)
    put(path, both)
    refused, done = [], threading.Event()

    def call():
        while not done.is_set():
            if not opens(keys, OTHER):
                refused.append(1)

    opens(keys, OLD)
    callers = [threading.Thread(target=call) for _ in range(4)]
    for each in callers:
        each.start()
    for text in (old, "", new, both) * 10:
        put(path, text)
        opens(keys, OTHER)
    done.set()
    for each in callers:
        each.join()
    assert refused == []


def test_a_look_that_takes_long_holds_up_nobody_else(path, clock):
    keys = KeyFile(VARIABLE, str(path), monotonic_ns=clock)
    put(path, NEW)
    clock.wait(1)
    with keys._looking:
        assert (opens(keys, OLD), opens(keys, NEW)) == (True, False)
    assert (opens(keys, OLD), opens(keys, NEW)) == (False, True)
