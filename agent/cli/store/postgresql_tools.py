"""The command lines that copy a PostgreSQL database out and in: the server's own tools do it, and do it better.

A password is left out of them: the tools take it from ``PGPASSWORD`` or ``~/.pgpass``, and a shell keeps a history.
"""

from __future__ import annotations

import shlex
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit


def dump_line(url: str, file: str) -> str:
    """What copies the database at ``url`` to ``file``."""
    return shlex.join(["pg_dump", "--format=custom", f"--file={file}", f"--dbname={_address(url)}"])


def restore_line(url: str, file: str) -> str:
    """What puts ``file`` in the place of the database at ``url``."""
    words = ["pg_restore", "--clean", "--if-exists", "--no-owner", "--single-transaction", f"--dbname={_address(url)}"]
    return shlex.join([*words, file])


def _address(url: str) -> str:
    """``url`` as libpq takes it: without the driver's name and without a password."""
    parts = urlsplit(url)
    user, at, host = parts.netloc.rpartition("@")
    query = [(name, value) for name, value in parse_qsl(parts.query) if name != "password"]
    return urlunsplit(("postgresql", user.partition(":")[0] + at + host, parts.path, urlencode(query), ""))
