"""What travels encrypted, and to whom it is not sent at all: the store over HTTPS, PostgreSQL by its ``sslmode``."""

from __future__ import annotations

import shutil
import socket
import ssl
import struct
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from store.errors import DatabaseUnreachable
from store.urls import open_store
from tests.cli.streams import EXAMPLE, run_process
from tests.ruvector.peer import Peer, acknowledge

# PostgreSQL's protocol 3.0, 55.7: SSLRequest; and the answers of a server with and without TLS.
_SSL_REQUEST = struct.pack("!ii", 8, 80877103)
_WITH_TLS, _WITHOUT_TLS = b"S", b"N"


@dataclass(frozen=True)
class Authority:
    """An authority of our own: its certificate, and the certificate with key of a server on 127.0.0.1."""

    certificate: Path
    server: Path

    def context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.server)
        return context


@pytest.fixture(scope="module")
def authority(tmp_path_factory) -> Authority:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("no openssl command to make an authority with")
    folder = tmp_path_factory.mktemp("authority")

    def run(*arguments: str) -> None:
        subprocess.run([openssl, *arguments], cwd=folder, check=True, capture_output=True, timeout=60)

    new = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")
    run("req", "-x509", *new, "-subj", "/CN=authority", "-keyout", "ca.key", "-out", "ca.pem")
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1")
    run("req", *new[:-2], "-subj", "/CN=server", "-keyout", "server.key", "-out", "server.csr")
    signing = ("-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "names")
    run("x509", "-req", "-in", "server.csr", *signing, "-out", "server.crt")
    both = folder / "server.pem"
    both.write_text((folder / "server.key").read_text() + (folder / "server.crt").read_text())
    return Authority(folder / "ca.pem", both)


@pytest.mark.parametrize("way", ["SSL_CERT_FILE", "SSL_CERT_DIR"])
def test_a_private_authority_is_trusted_where_the_environment_names_it(way, authority, tmp_path):
    hashed = tmp_path / "hashed"
    hashed.mkdir()
    shutil.copy(authority.certificate, hashed)
    subprocess.run(["openssl", "rehash", str(hashed)], check=True, capture_output=True, timeout=60)
    given = {"SSL_CERT_FILE": str(authority.certificate), "SSL_CERT_DIR": str(hashed)}[way]
    with Peer(acknowledge(), tls=authority.context()) as peer:
        ended = captured(tmp_path, peer.url, **{way: given})
        assert ended.code == 0, ended.err
        assert [request.headers["authorization"] for request in peer.received] == ["Bearer a-key-of-the-store-1"]


def test_a_store_of_an_authority_that_nobody_named_gets_no_key_and_no_capture(authority, tmp_path):
    with Peer(acknowledge(), tls=authority.context()) as peer:
        ended = captured(tmp_path, peer.url, RUVECTOR_DEADLINE_S="1")
        assert ended.code == 1
        assert "RUVECTOR_CONNECTION_ERROR" in ended.err + ended.out.decode()
        assert peer.received == []


def captured(folder: Path, url: str, **variables: str):
    arguments = ("agent", "conversation-memory", "capture", "--input", str(EXAMPLE), "--format", "json")
    given = {"RUVECTOR_SERVICE_URL": url, "RUVECTOR_API_KEY": "a-key-of-the-store-1"}
    unset = {"SSL_CERT_FILE": "", "SSL_CERT_DIR": ""}
    return run_process(folder, *arguments, **{**unset, **given, **variables})


@dataclass
class Database:
    """A server that speaks PostgreSQL as far as a connection's start: what it was sent before TLS, and inside."""

    port: int = 0
    asked: list[bytes] = field(default_factory=list)
    inside: list[bytes] = field(default_factory=list)

    def url(self, query: str) -> str:
        return f"postgresql+psycopg://memory:secret@127.0.0.1:{self.port}/memory?{query}"


@contextmanager
def database(answer: bytes, context: ssl.SSLContext) -> Iterator[Database]:
    made = Database()

    def serve(listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(10)
                try:
                    made.asked.append(connection.recv(1024))
                    if made.asked[-1] != _SSL_REQUEST:
                        continue
                    connection.sendall(answer)
                    if answer == _WITH_TLS:
                        with context.wrap_socket(connection, server_side=True) as secured:
                            made.inside.append(secured.recv(1024))
                    else:
                        made.asked.append(connection.recv(1024))
                except OSError:
                    # A caller who does not trust this server goes away, as it should.
                    continue

    with socket.create_server(("127.0.0.1", 0)) as listener:
        made.port = listener.getsockname()[1]
        thread = threading.Thread(target=serve, args=(listener,), daemon=True)
        thread.start()
        yield made
        listener.shutdown(socket.SHUT_RDWR)
        thread.join(15)


def refused(url: str) -> None:
    store = open_store(url)
    with pytest.raises(DatabaseUnreachable):
        store.ping(timeout_s=5)
    store.close()


def test_with_verify_full_a_database_without_tls_is_told_nothing(authority):
    with database(_WITHOUT_TLS, authority.context()) as made:
        refused(made.url(f"sslmode=verify-full&sslrootcert={authority.certificate}"))
    assert set(made.asked) <= {_SSL_REQUEST, b""}
    assert _SSL_REQUEST in made.asked


def test_with_verify_full_a_database_of_another_authority_is_told_nothing(authority, tmp_path):
    other = tmp_path / "other.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=other",
         "-keyout", str(tmp_path / "key"), "-out", str(other)],
        check=True, capture_output=True, timeout=60,
    )  # fmt: skip
    with database(_WITH_TLS, authority.context()) as made:
        refused(made.url(f"sslmode=verify-full&sslrootcert={other}"))
    assert made.asked
    assert made.inside == []


def test_with_verify_full_and_its_authority_a_database_is_told_who_calls_inside_tls(authority):
    with database(_WITH_TLS, authority.context()) as made:
        refused(made.url(f"sslmode=verify-full&sslrootcert={authority.certificate}"))
    assert any(b"memory" in sent for sent in made.inside)
    assert all(b"memory" not in sent for sent in made.asked)


def test_with_require_a_database_without_tls_is_told_nothing(authority):
    with database(_WITHOUT_TLS, authority.context()) as made:
        refused(made.url("sslmode=require"))
    assert set(made.asked) <= {_SSL_REQUEST, b""}


@pytest.mark.parametrize("query", ["", "sslmode=require"])
def test_short_of_verification_any_authority_will_do(query, authority, monkeypatch, tmp_path):
    # libpq looks for authorities in the home folder, and would then verify.
    monkeypatch.setenv("HOME", str(tmp_path))
    with database(_WITH_TLS, authority.context()) as made:
        refused(made.url(query))
    assert any(b"memory" in sent for sent in made.inside)


def test_without_an_sslmode_a_database_without_tls_is_told_who_calls_in_the_clear(authority):
    with database(_WITHOUT_TLS, authority.context()) as made:
        refused(made.url(""))
    assert any(b"memory" in sent for sent in made.asked)
