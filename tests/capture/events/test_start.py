"""The function behind a queue starts with its own settings, and costs the capture's start nothing."""

import json
import subprocess
import sys

import flask
import pytest

from agent.bootstrap import event_function, target_function
from tests.capture.events.envelopes import pubsub
from tests.closed_clients import clients_closed  # noqa: F401 - a fixture of every test here
from tests.conftest import REPOSITORY
from tests.live.payloads import BASE_TEXT


@pytest.fixture
def lines(capsys):
    return lambda: [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_it_starts_under_its_target_and_says_so(lines, tmp_path):
    host = flask.Flask("capture_event")
    target_function({"RUVECTOR_SERVICE_URL": f"embedded:{tmp_path / 'm.db'}"}, host)
    [line] = lines()
    assert (line["message"], line["store"], line["keys"]) == ("event function ready", "embedded", False)
    assert host.test_client().get("/").status_code == 405
    assert not (tmp_path / "m.db").exists()


def test_the_function_by_itself_answers_as_the_host_does(tmp_path, lines):
    function = event_function({"RUVECTOR_SERVICE_URL": f"embedded:{tmp_path / 'm.db'}"})
    posted = pubsub(BASE_TEXT.encode())
    with flask.Flask("any").test_request_context("/", method="POST", data=posted.body, headers=posted.headers):
        answer = function(flask.request._get_current_object())
    assert (answer.status_code, json.loads(answer.get_data())["receipt"]["turns"]["new"]) == (200, 2)


@pytest.mark.parametrize("variable", ["CAPTURE_API_KEYS", "CAPTURE_API_KEY"])
def test_keys_that_would_guard_nothing_stop_the_start(lines, variable):
    with pytest.raises(SystemExit):
        event_function({variable: "CANARY-0123456789"}, flask.Flask("capture_event"))
    [line] = lines()
    assert line["message"].startswith("the function does not start: CAPTURE_API_KEYS: ")
    assert "CANARY" not in json.dumps(line)


def test_a_wrong_setting_stops_the_start(lines):
    with pytest.raises(SystemExit):
        event_function({"RUVECTOR_DEADLINE_S": "soon"})
    assert lines()[0]["message"].startswith("the function does not start: RUVECTOR_DEADLINE_S: ")


@pytest.mark.slow
def test_the_capture_function_loads_nothing_of_it():
    script = (
        "import functions_framework, json, sys\n"
        "functions_framework.create_app('handler', 'main.py')\n"
        "print(json.dumps([name for name in sys.modules if name.startswith('agent.capture.events')]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=REPOSITORY, capture_output=True, text=True, timeout=60, check=True
    )
    assert json.loads(done.stdout) == []
