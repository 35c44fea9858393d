"""The lines for pg_dump and pg_restore can be pasted into a shell, and hold no password."""

import shlex

import pytest

from agent.cli.store.postgresql_tools import dump_line, restore_line


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("postgresql+psycopg://ann:SECRET@db.example:5433/store", "postgresql://ann@db.example:5433/store"),
        ("postgresql+psycopg://db/store?sslmode=verify-full", "postgresql://db/store?sslmode=verify-full"),
        ("postgresql://ann:S%40CRET@[::1]/store", "postgresql://ann@[::1]/store"),
        ("postgresql+psycopg://ann@/store?host=/run/pg&password=SECRET", "postgresql://ann@/store?host=%2Frun%2Fpg"),
        ("postgresql+psycopg://:SECRET@db/store", "postgresql://@db/store"),
    ],
)
def test_an_address_is_as_libpq_takes_it_without_a_password(url, address):
    assert shlex.split(dump_line(url, "a b.dump")) == [
        "pg_dump",
        "--format=custom",
        "--file=a b.dump",
        f"--dbname={address}",
    ]
    words = shlex.split(restore_line(url, "a b.dump"))
    assert (words[0], words[-2], words[-1]) == ("pg_restore", f"--dbname={address}", "a b.dump")
    assert "CRET" not in dump_line(url, "f") + restore_line(url, "f")
