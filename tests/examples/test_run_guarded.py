"""The demo where its function is guarded: it sends a key, waits as it is told to, and shows no key to anybody."""

from __future__ import annotations

import re
import signal
import subprocess
from pathlib import Path

import pytest

from tests.cli.streams import process_environment
from tests.examples.test_run import demo, serving
from tests.live.host import free_port

FIRST, SECOND = "a-key-of-callers-0123456789", "another-key-of-callers-9876543210"

pytestmark = pytest.mark.slow


def shows_no_key(*texts: str) -> bool:
    return not [key for key in (FIRST, SECOND) for text in texts if key in text]


@pytest.mark.parametrize("text", [f"{FIRST},{SECOND}", f"\n {SECOND} \n{FIRST}\n"])
def test_it_captures_with_the_first_of_the_keys(text: str, tmp_path: Path) -> None:
    done = demo(tmp_path, "--once", PORT=str(free_port()), CAPTURE_API_KEYS=text)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Posted again, as a client that retries would: duplicate" in done.stdout
    assert shows_no_key(done.stdout)


def test_it_captures_with_the_first_key_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text(f"{FIRST}\n{SECOND}\n")
    done = demo(tmp_path, "--once", PORT=str(free_port()), CAPTURE_API_KEYS_FILE="keys")
    assert (done.returncode, done.stderr) == (0, "")
    assert shows_no_key(done.stdout)


def test_keys_that_do_not_hold_are_said_by_the_function_that_does_not_start(tmp_path: Path) -> None:
    done = demo(tmp_path, "--once", PORT=str(free_port()), CAPTURE_API_KEYS="short")
    assert done.returncode == 1
    assert "CAPTURE_API_KEYS: the 1st entry has a key that is too short" in done.stderr


def test_it_waits_as_a_limit_tells_it_and_says_so(tmp_path: Path) -> None:
    done = demo(tmp_path, "--once", PORT=str(free_port()), RATE_LIMIT="1/2 seconds")
    assert (done.returncode, done.stderr) == (0, "")
    waited = re.search(
        r"^The function takes no more for now \(429\): trying again in (\d) s\.$", done.stdout, re.MULTILINE
    )
    assert waited is not None
    assert 1 <= int(waited[1]) <= 2
    assert "Posted again, as a client that retries would: duplicate" in done.stdout


def test_it_does_not_wait_for_an_hour(tmp_path: Path) -> None:
    done = demo(tmp_path, "--once", PORT=str(free_port()), RATE_LIMIT="1/hour")
    assert done.returncode == 1
    assert re.fullmatch(
        r"The function answered the capture with 429, to be tried again in 3\d\d\d s\.\n"
        r"The demo waits 60 s at most: set a larger RATE_LIMIT, or none\.\n",
        done.stderr,
    )


@pytest.mark.parametrize("variable", ["CAPTURE_API_KEYS", "CAPTURE_API_KEYS_FILE"])
def test_the_capture_to_try_next_carries_a_key_that_its_reader_sets(variable: str, tmp_path: Path) -> None:
    (tmp_path / "keys").write_text(f"{FIRST},{SECOND}")
    value = f"{FIRST},{SECOND}" if variable == "CAPTURE_API_KEYS" else "keys"
    with serving(tmp_path, **{variable: value}) as (process, _, lines):
        (step,) = [line.strip() for line in lines if "--data-binary" in line]
        assert step.startswith('curl -H "Authorization: Bearer $KEY" --data-binary ')
        assert any(line.startswith("$KEY ") and variable in line for line in lines)
        answers = [typed(step, tmp_path, **more) for more in ({}, {"KEY": FIRST}, {"KEY": SECOND})]
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert ['"error_code"' in answer for answer in answers] == [True, False, False]
    assert shows_no_key(*lines, *answers, err)
    assert err.count('"reason":"missing"') == 1


def typed(step: str, folder: Path, **variables: str) -> str:
    """What ``step`` prints for who types it."""
    done = subprocess.run(
        ["bash", "-c", step],
        cwd=folder,
        env=process_environment(**variables),
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=True,
    )
    return done.stdout
