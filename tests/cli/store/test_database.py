"""Which database a command is about, and what is said of one that cannot be."""

import pytest

from agent.cli.exit_codes import ExitCode
from agent.cli.output_format import Format
from agent.cli.store.database import file_of, is_in_memory, is_server, name_of, opened, store_settings
from agent.cli.store.failures import store_failures
from agent.errors import ConfigurationError, InternalError, StoreConnectionError, ValidationError
from store.errors import BadRequest, Conflict, DatabaseLocked, NewerDatabase, StoreAnswerError
from tests.cli.store.running import run
from tests.cli.streams import invocation, terminal


def url_of(store: str | None, **environ: str) -> str:
    return store_settings(invocation(terminal(environ=environ), store=store)).url


@pytest.mark.parametrize(
    ("store", "environ", "url"),
    [
        (None, {}, "sqlite:///./memory-graph.db"),
        (None, {"RUVECTOR_STORE": "sqlite:///a.db"}, "sqlite:///a.db"),
        (None, {"RUVECTOR_STORE": " ", "RUVECTOR_SERVICE_URL": "embedded:/data/b.db"}, "sqlite:////data/b.db"),
        (None, {"RUVECTOR_STORE": "sqlite:///a.db", "RUVECTOR_SERVICE_URL": "embedded:b.db"}, "sqlite:///a.db"),
        (None, {"RUVECTOR_SERVICE_URL": "https://store.example"}, "sqlite:///./memory-graph.db"),
        ("c.db", {"RUVECTOR_STORE": "sqlite:///a.db"}, "sqlite:///c.db"),
        ("/data/c.db", {}, "sqlite:////data/c.db"),
        ("embedded:c.db", {}, "sqlite:///c.db"),
        ("sqlite:///c.db", {}, "sqlite:///c.db"),
        ("postgresql+psycopg://u@h/d", {}, "postgresql+psycopg://u@h/d"),
    ],
)
def test_the_database_is_the_one_that_is_named_or_that_captures_go_to(store, environ, url):
    assert url_of(store, **environ) == url


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("sqlite:////data/a.db", "/data/a.db"),
        ("postgresql+psycopg://ann:SECRET@db.example:5433/memory?password=SECRET", "db.example:5433/memory"),
        ("postgresql+psycopg://ann@/memory?host=/run/pg", "/run/pg/memory"),
    ],
)
def test_a_database_is_named_without_user_or_password(url, name):
    assert name_of(url) == name


@pytest.mark.parametrize("store", ["", " ", "http://h", "https://h/x", "mysql://h/d", "sqlite:///a?b"])
def test_what_is_no_database_is_refused_by_the_option(store):
    with pytest.raises(ConfigurationError, match="--store") as caught:
        url_of(store)
    assert caught.value.message.startswith("--store")


def test_a_setting_that_does_not_hold_keeps_its_own_name():
    with pytest.raises(ConfigurationError, match=r"^RUVECTOR_STORE: "):
        url_of(None, RUVECTOR_STORE="mysql://h/d")
    with pytest.raises(ConfigurationError, match=r"^RUVECTOR_KEYS: "):
        url_of("a.db", RUVECTOR_KEYS="short")


def test_a_password_is_never_shown():
    code, out, err = run(
        lambda at: store_settings(at) and ExitCode.OK, "postgresql+psycopg://u:SECRET-71b@h h/d", Format.TABLE
    )
    assert (code, out) == (ExitCode.USAGE, "")
    assert "SECRET" not in err


def test_kinds_of_databases_are_told_apart():
    assert (file_of("sqlite:///a.db").name, is_server("sqlite:///a.db")) == ("a.db", False)
    assert (file_of("sqlite:///:memory:"), is_in_memory("sqlite:///:memory:")) == (None, True)
    assert (file_of("postgresql+psycopg://h/d"), is_server("postgresql+psycopg://h/d")) == (None, True)


def test_a_store_is_closed_whatever_ends_the_block(tmp_path):
    url = f"sqlite:///{tmp_path / 's.db'}"
    with opened(url, may_be_new=True) as store:
        store.migrate()

    def interrupted():
        with opened(url) as store:
            store.migrate()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    # What is open has a log beside it.
    assert [path.name for path in tmp_path.iterdir()] == ["s.db"]


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (DatabaseLocked("locked"), StoreConnectionError),
        (NewerDatabase(9, 1), StoreConnectionError),
        (BadRequest("no"), ValidationError),
        (Conflict("no"), ValidationError),
        (StoreAnswerError("fault"), InternalError),
    ],
)
def test_what_the_store_raises_becomes_an_error_of_ours_by_its_type(fault, error):
    with pytest.raises(error) as caught, store_failures():
        raise fault
    assert caught.value.__cause__ is fault
