"""Each function in its own host: what its server, its framework and Python itself print, of requests that are none.

The helper that starts a host has its log watched: a canary in it fails the test.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.leak_watch import SECRET
from tests.leaks.canaries import ALL, first_found
from tests.leaks.doors import without_paths
from tests.leaks.world import planted
from tests.live.host import FunctionHost, function_host
from tests.live.raw import exchange

pytestmark = pytest.mark.slow

TARGETS = ("handler", "capture_event", "recall", "store")
BODY = json.dumps(planted()).encode()
ASCII = ALL.encode("ascii", "replace").decode().replace("\n", " ")


def request(line: str, *headers: str, body: bytes = b"") -> bytes:
    return "\r\n".join([line, "Host: canary.example", "Connection: close", *headers, "", ""]).encode() + body


NO_HTTP = {
    "words": f"{SECRET} {ASCII}\r\n\r\n".encode(),
    "a method": request(f"{SECRET.replace('-', ' ')} / HTTP/1.1"),
    "a version": request(f"GET / HTTP/{SECRET}"),
    "a scheme": request(f"GET {SECRET}://{SECRET}/ HTTP/1.1"),
    "a header": request("GET / HTTP/1.1", f"{ASCII}"),
    "a header's name": request("GET / HTTP/1.1", f"X {SECRET}: 1"),
    "a header's value": request("GET / HTTP/1.1", f"X-Y: {SECRET}\x00"),
    "a long line": request(f"GET /{SECRET * 1000} HTTP/1.1"),
    "many headers": request("GET / HTTP/1.1", *[f"X-{SECRET}-{number}: {SECRET}" for number in range(300)]),
    "a length": request("POST / HTTP/1.1", f"Content-Length: {SECRET}", body=BODY),
    "two lengths": request("POST / HTTP/1.1", "Content-Length: 1", "Content-Length: 2", body=BODY),
    "a coding": request("POST / HTTP/1.1", f"Transfer-Encoding: {SECRET}", body=BODY),
    "a chunk": request("POST / HTTP/1.1", "Transfer-Encoding: chunked", body=f"{SECRET}\r\n{ASCII}".encode()),
    "no gzip": request("POST / HTTP/1.1", "Content-Encoding: gzip", f"Content-Length: {len(BODY)}", body=BODY),
    "an encoding": request("POST / HTTP/1.1", f"Content-Encoding: {SECRET}", f"Content-Length: {len(BODY)}", body=BODY),
    "half a body": request("POST / HTTP/1.1", f"Content-Length: {len(BODY) + 9}", body=BODY),
    "a path": request(f"GET /{SECRET}/%00/../{SECRET}?{SECRET} HTTP/1.1"),
    "robots": request(f"GET /robots.txt?{SECRET} HTTP/1.1"),
    "an upgrade": request("GET / HTTP/1.1", "Connection: Upgrade", f"Upgrade: {SECRET}"),
    "a capture": request("POST / HTTP/1.1", f"Content-Length: {len(BODY)}", f"traceparent: {SECRET}", body=BODY),
}  # fmt: skip


@pytest.fixture(scope="module", params=TARGETS)
def host(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FunctionHost]:
    folder: Path = tmp_path_factory.mktemp("host")
    variables = {"LOG_LEVEL": "DEBUG", "GUNICORN_LOG_LEVEL": "debug", "RUVECTOR_STORE": f"sqlite:///{folder}/store.db"}
    with function_host(folder, store=f"embedded:{folder}/memory.db", target=request.param, **variables) as running:
        yield running


@pytest.mark.parametrize("sent", NO_HTTP)
def test_a_host_tells_nothing_of_what_it_cannot_read(sent: str, host: FunctionHost) -> None:
    status, headers, body = exchange(host.port, NO_HTTP[sent], shut=True)
    told = repr(headers) + (without_paths(body) if status >= 400 else "")
    assert first_found(told) is None


BROKEN = """
    import importlib
    import sys

    sys.path.insert(0, {repository!r})
    from main import *

    def broken(*arguments, **more):
        content = {content!r}
        try:
            raise KeyError(content)
        except KeyError as error:
            raise RuntimeError(content, arguments, more) from error

    importlib.import_module({module!r}).{name} = broken
"""
# What is called deep inside of a request, of each function.
PARTS = {
    "handler": ("agent.capture.service", "CaptureService.capture"),
    "capture_event": ("agent.capture.service", "CaptureService.capture"),
    "recall": ("agent.recall.source", "Source.of"),
    "store": ("store.engines.sqlite", "SqliteStore.stats"),
}


@pytest.mark.parametrize("target", TARGETS)
def test_a_fault_that_nobody_foresaw_is_told_without_its_text(target: str, tmp_path: Path) -> None:
    module, name = PARTS[target]
    text = BROKEN.format(repository=str(REPOSITORY), content=ALL, module=module, name=name)
    (tmp_path / "broken_main.py").write_text(textwrap.dedent(text))
    variables = {
        "LOG_LEVEL": "DEBUG",
        "GUNICORN_LOG_LEVEL": "debug",
        "RUVECTOR_STORE": f"sqlite:///{tmp_path}/store.db",
    }
    running = function_host(
        tmp_path, store=f"embedded:{tmp_path}/memory.db", target=target, source=tmp_path / "broken_main.py", **variables
    )
    with running as host:
        line = {"recall": "GET /api/conversations", "store": "GET /v1/stats"}.get(target, "POST /")
        sent = request(f"{line} HTTP/1.1", f"Content-Length: {len(BODY)}", body=BODY)
        status, headers, body = exchange(host.port, sent)
        assert status == 500
        assert first_found(repr(headers) + body.decode()) is None
        assert "RuntimeError" in host.log
        assert "broken" in host.log
