"""Tenants by name and by the number that their rows carry."""

from __future__ import annotations

from store.engines.engine import Connection
from store.engines.schema import DEFAULT_TENANT_KEY
from store.port import DEFAULT_TENANT


def tenant_key(connection: Connection, name: str) -> int | None:
    """The number of a tenant; None where it never wrote.

    Looked up each time: the database may be another than a moment ago, put back from a backup.
    """
    if name == DEFAULT_TENANT:
        return DEFAULT_TENANT_KEY
    row = connection.execute("SELECT tenant FROM tenants WHERE name = ?", (name.encode(),)).fetchone()
    return None if row is None else int(row[0])


def made_tenant_key(connection: Connection, name: str) -> int:
    """The number of a tenant, which gets one where it has none."""
    key = tenant_key(connection, name)
    if key is not None:
        return key
    (last,) = connection.execute("SELECT max(tenant) FROM tenants").fetchone()
    connection.execute("INSERT INTO tenants (tenant, name) VALUES (?, ?)", (last + 1, name.encode()))
    return int(last) + 1
