"""``store pull`` between databases and their tenants, and targets that refuse the key."""

import json

import pytest

from agent.cli.exit_codes import ExitCode
from agent.cli.output_format import Format
from tests.cli.store.foreign import counting, feeding
from tests.cli.store.pulling import counts, note, pulled, stored
from tests.live.host import Reply, stub_store
from tests.ruvector.peer import Peer


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (401, "the store refuses the key (401): check RUVECTOR_API_KEY"),
        (403, "the store says that the key may not do this (403): check RUVECTOR_API_KEY, it needs the role write"),
    ],
)
def test_a_target_that_refuses_the_key_is_told_by_its_variable(tmp_path, status, message):
    with Peer(feeding(counting([note(1)]))) as peer, stub_store() as target:
        target.reply = lambda _count: Reply(status, b"{}")
        _, _, err = pulled(peer.url, target.url)
        target.writes.clear()
    error = json.loads(err)["error"]
    assert (error["error_code"], error["message"]) == ("RUVECTOR_WRITE_ERROR", message)


def test_an_erased_event_that_needs_an_admin_key_is_refused_alone(tmp_path):
    with Peer(feeding(counting([note(1, erased=True), note(2)]))) as peer, stub_store() as target:
        target.reply = lambda count: Reply(403, b"{}") if count == 1 else Reply()
        code, out, err = pulled(peer.url, target.url)
        target.writes.clear()
    assert (code, counts(out)) == (ExitCode.PARTLY, (2, 1, 0, 1))
    assert "refused r-1: 403, it is erased, and the store takes such an event from an admin key only" in err


@pytest.mark.parametrize("named", ["--store", "RUVECTOR_STORE", "RUVECTOR_SERVICE_URL"])
def test_events_go_to_the_database_that_is_named(tmp_path, named):
    path = tmp_path / "s.db"
    environ = {"RUVECTOR_STORE": f"sqlite:///{path}", "RUVECTOR_SERVICE_URL": "https://not.example"}
    if named != "RUVECTOR_STORE":
        environ = {"RUVECTOR_SERVICE_URL": f"embedded:{path}"}
    target = f"sqlite:///{path}" if named == "--store" else None
    with Peer(feeding(counting([note(1)]))) as peer:
        code, out, err = pulled(peer.url, target, environ=environ)
    assert (code, err, counts(out)) == (ExitCode.OK, "", (1, 1, 0, 0))
    assert len(stored(path)) == 1


def test_a_tenant_of_a_database_is_read_and_written(tmp_path):
    with Peer(feeding(counting([note(1)]))) as peer:
        assert counts(pulled(peer.url, tmp_path / "a.db", tenant="acme")[1]) == (1, 1, 0, 0)
    assert stored(tmp_path / "a.db") == []
    source = f"sqlite:///{tmp_path / 'a.db'}"
    assert counts(pulled(source, tmp_path / "b.db")[1]) == (0, 0, 0, 0)
    assert counts(pulled(source, tmp_path / "b.db", source_tenant="acme")[1]) == (1, 1, 0, 0)
    assert len(stored(tmp_path / "b.db")) == 1


@pytest.mark.parametrize(
    ("source", "target", "options", "message"),
    [
        ("http://localhost:1", "http://localhost:2", {"tenant": "a"}, "--tenant: is for a database"),
        ("http://localhost:1", "s.db", {"source_tenant": "a"}, "--from-tenant: is for a database"),
        ("http://localhost:1", "s.db", {"tenant": "a b"}, "--tenant: must have 1 to 64"),
        ("sqlite:///a?b", "s.db", {}, "--from: "),
    ],
)
def test_a_tenant_or_database_that_cannot_be_is_refused_by_its_option(
    tmp_path, monkeypatch, source, target, options, message
):
    monkeypatch.chdir(tmp_path)
    code, out, err = pulled(source, target, Format.TABLE, **options)
    assert (code, out) == (ExitCode.USAGE, "")
    assert err.startswith(f"memory-graph: {message}")
    assert list(tmp_path.iterdir()) == []
