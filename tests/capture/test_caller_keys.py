"""Who captures where keys are configured: without one 401 and typed, nothing written, nothing of the body read."""

import json
import subprocess
import sys

import pytest

from agent.bootstrap import capture_app
from agent.core.api_keys import ApiKeys
from agent.errors import ConfigurationError
from tests.capture.fakes import EXECUTION_REF, app, environ
from tests.conftest import REPOSITORY
from tests.live.payloads import BASE_TEXT
from tests.published import check_answer

KEY = "caller-key-0123456789"
OTHER = "other-key-01234567890"
BODY = BASE_TEXT.encode()
WRONG = [None, "", f"Bearer {KEY}x", "Bearer", f"Basic {KEY}", KEY]


@pytest.fixture
def handle(store, telemetry):
    return app(store, telemetry, keys=ApiKeys.parse("CAPTURE_API_KEYS", f"{KEY},{OTHER}")).handle


@pytest.mark.parametrize("key", [KEY, OTHER])
@pytest.mark.parametrize("path", ["/", "/conversation-memory", "/v1/memory-graph/conversation"])
def test_a_caller_with_a_key_captures(handle, store, path, key):
    assert handle(environ(path=path, authorization=f"Bearer {key}")).status_code == 200
    assert len(store.appended) == 1


@pytest.mark.parametrize("authorization", WRONG)
@pytest.mark.parametrize("path", ["/", "/conversation-memory", "/v1/memory-graph/conversation"])
def test_a_caller_without_one_is_refused_and_nothing_is_written(handle, store, telemetry, path, authorization):
    response = handle(environ(path=path, authorization=authorization))
    assert (response.status_code, response.headers["WWW-Authenticate"]) == (401, "Bearer")
    assert response.headers["X-Execution-Ref"] == EXECUTION_REF
    body = json.loads(response.get_data())
    check_answer(body)
    assert body["error"]["error_code"] == "VALIDATION_ERROR"
    assert KEY not in json.dumps(body)
    assert store.appended == []
    assert telemetry.spans.steps == []
    assert [name for name, _ in telemetry.reports] == ["begin", "failed", "end"]


def test_nothing_of_the_body_is_read_before_the_refusal_is_answered_and_all_of_it_after(handle):
    request = environ(body=b"A" * (1024 * 1024))
    response = handle(request)
    pieces = iter(response.response)
    assert (response.status_code, next(pieces)[:16]) == (401, b'{"success":false')
    assert request["wsgi.input"].tell() == 0
    assert list(pieces) == []
    assert request["wsgi.input"].read() == b""


def test_who_may_not_capture_is_told_so_before_anything_else_about_the_request(handle, store):
    request = environ(body=b"{", query="format=nonsense", idempotency_key="\xff", content_encoding="nonsense")
    assert handle(request).status_code == 401
    assert handle({**request, "HTTP_AUTHORIZATION": f"Bearer {KEY}"}).status_code == 400
    assert store.appended == []


@pytest.mark.parametrize("path", ["/health", "/conversation-memory/health", "/openapi.json"])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_health_and_the_description_ask_for_no_key(handle, path, method):
    assert handle(environ(method, path, b"")).status_code == 200


@pytest.mark.parametrize(("method", "path", "status"), [("POST", "/nowhere", 404), ("GET", "/", 405)])
def test_what_is_no_capture_is_refused_as_it_is_without_keys(handle, method, path, status):
    assert handle(environ(method, path, b"")).status_code == status


def test_the_function_asks_for_the_keys_of_its_setting_before_there_is_a_client_of_the_store():
    def client():
        raise AssertionError("the store was asked")

    function = capture_app({"CAPTURE_API_KEYS": KEY, "RUVECTOR_SERVICE_URL": "embedded::memory:"}, client)
    assert function.handle(environ()).status_code == 401
    with pytest.raises(ConfigurationError, match=r"^CAPTURE_API_KEYS: the 1st entry has a key that is too short"):
        capture_app({"CAPTURE_API_KEYS": "short"}, client)


@pytest.mark.slow
def test_a_function_without_keys_and_intents_loads_nothing_that_reads_them():
    script = (
        "import json, sys\n"
        "from agent.bootstrap import capture_function\n"
        "capture_function({'LOG_LEVEL': 'ERROR'})\n"
        "late = ('agent.core.api_keys', 'agent.core.setting_entries', 'agent.core.cors', 'agent.intents', 'yaml')\n"
        "print(json.dumps([name for name in late if name in sys.modules]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=REPOSITORY, capture_output=True, text=True, timeout=60, check=True
    )
    assert json.loads(done.stdout) == []
