"""Which engine a URL names, opened: ``sqlite:///path``, ``sqlite:///:memory:``, ``postgresql+psycopg://...``.

The rest of a URL is checked where settings are read (store.settings); a message never repeats it, since it may hold a
password.
"""

from __future__ import annotations

from typing import Final

from agent.errors import ConfigurationError
from store.log.event_store import EventStore

_SQLITE: Final = "sqlite:///"
_POSTGRESQL: Final = ("postgresql+psycopg://", "postgresql://")


def open_store(url: str) -> EventStore:
    """The store at ``url``; nothing is connected before use. Raises ConfigurationError for another scheme."""
    if url.startswith(_SQLITE) and url != _SQLITE:
        from store.engines.sqlite import SqliteStore

        return SqliteStore(url.removeprefix(_SQLITE))
    for scheme in _POSTGRESQL:
        if url.startswith(scheme):
            from store.engines.postgres import PostgresStore

            return PostgresStore("postgresql://" + url.removeprefix(scheme))
    raise ConfigurationError("RUVECTOR_STORE", "must be sqlite:///PATH or postgresql+psycopg://USER@HOST/DATABASE")
