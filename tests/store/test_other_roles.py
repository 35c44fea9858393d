"""Other roles of the same PostgreSQL: what they hide of themselves does not make an erasure promise too much."""

from collections.abc import Iterator

import psycopg
import pytest

from store.urls import open_store
from tests.store.postgres_server import name_in, server
from tests.store.surface import SESSION, Surface, payload, turn
from tests.store.test_postgresql import files_of

OTHER_SESSION = "6f1d2c3a-8b4e-4f70-9a51-0c2d3e4f5a62"


@pytest.fixture
def url() -> Iterator[str]:
    """An empty database of a role ``keeper``; another, ``stranger``, may connect to it."""
    with server().connect("postgres") as admin, server().database() as url:
        name = name_in(url)
        for statement in (
            "CREATE ROLE keeper LOGIN",
            "CREATE ROLE stranger LOGIN",
            f"ALTER DATABASE {name} OWNER TO keeper",
        ):
            admin.execute(statement)  # type: ignore[call-overload]  # psycopg wants literals
        yield url
        with server().connect(name) as inside:
            inside.execute("REASSIGN OWNED BY keeper TO postgres")
        admin.execute("DROP ROLE keeper")
        admin.execute("DROP ROLE stranger")


def test_a_reader_of_another_role_that_hides_what_it_does_counts_as_well(url: str) -> None:
    surface = Surface(open_store(url.replace("postgres@", "keeper@")))
    surface.capture(payload(turn(1, "secret-4712")))
    stranger = f"postgresql://stranger@/{name_in(url)}?host={server().sockets}"
    with psycopg.connect(stranger, autocommit=True) as reader:
        # Connected alone it keeps nobody from anything.
        surface.capture(payload(turn(2), session=OTHER_SESSION))
        assert surface.erase("session", OTHER_SESSION)["files"] == "rewritten"
        reader.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        reader.execute("SELECT 1 FROM pg_class LIMIT 1")
        assert surface.erase("session", SESSION)["files"] == "pending"
        assert b"secret-4712" in files_of(url)
        reader.execute("COMMIT")
    surface.store.scrub()
    assert b"secret-4712" not in files_of(url)
    surface.close()
