"""What the store client's tests share."""

import shutil
import ssl
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest
import respx

from agent.ruvector.client import RuvectorClient
from agent.ruvector.transport import KeepAliveTransport
from tests.ruvector.fakes import BASE, Waits, store_client


@pytest.fixture
def waits() -> Waits:
    return Waits()


@pytest.fixture
def transport() -> Iterator[KeepAliveTransport]:
    with closing(KeepAliveTransport()) as transport:
        yield transport


@pytest.fixture
def client_of(waits: Waits) -> Iterator[Callable[..., RuvectorClient]]:
    """Makes clients whose waits take no time, and closes them."""
    made: list[RuvectorClient] = []

    def make(base_url: str, **settings: object) -> RuvectorClient:
        made.append(store_client(base_url, waits, **settings))
        return made[-1]

    yield make
    for client in made:
        client.close()


@pytest.fixture
def store():
    with respx.MockRouter(assert_all_mocked=True, assert_all_called=False) as router:
        yield router


@pytest.fixture
def client(store, waits) -> RuvectorClient:
    return store_client(BASE, waits, transport=httpx.MockTransport(store.handler))


@pytest.fixture(scope="session")
def certificate(tmp_path_factory) -> Path:
    """A certificate for 127.0.0.1 that signed itself, with its key in the same file."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("no openssl command to make a certificate with")
    path = tmp_path_factory.mktemp("tls") / "store.pem"
    command = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=store"
    files = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(path), "-out", str(path.with_suffix(".crt"))]
    subprocess.run([openssl, *command.split(), *files], check=True, capture_output=True, timeout=60)
    path.write_text(path.read_text() + path.with_suffix(".crt").read_text())
    return path


@pytest.fixture
def server(certificate) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


@pytest.fixture
def trusting(certificate, waits):
    """A transport that trusts the certificate and counts how often it asks for its context."""
    made: list[ssl.SSLContext] = []

    def context() -> ssl.SSLContext:
        made.append(ssl.create_default_context(cafile=certificate))
        return made[-1]

    transport = KeepAliveTransport(clock=waits.clock, ssl_context=context)
    yield transport
    assert len(made) <= 1
