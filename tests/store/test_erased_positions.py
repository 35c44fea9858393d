"""``store.privacy.erased_positions``: each erasure of the audit has the position that the ledger says."""

import json
import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from store.engines.schema import DEFAULT_TENANT_KEY, event_key
from store.engines.sqlite import SqliteStore
from store.port import Actor
from store.privacy import audit

START = datetime(2026, 5, 1, tzinfo=UTC)
MANY = 2500
INSERT = """
INSERT INTO erasures (erasure_key, tenant, kind, subject, key_name, at_us, sessions, turns, events)
VALUES (?, ?, ?, ?, ?, ?, 0, 0, 0)
"""


def audited(acts: list[tuple[int, datetime, bytes]], *, page: int) -> list[int | None]:
    """What an audit of erasures at these positions and moments, of these users, says of their positions."""
    store = SqliteStore(":memory:")
    with store.engine.writing() as connection:
        for position, at, digest in acts:
            values = (b"user", digest, b"k", audit.microseconds(at))
            connection.execute(INSERT, (event_key(DEFAULT_TENANT_KEY, position), DEFAULT_TENANT_KEY, *values))
            audit.write(connection, DEFAULT_TENANT_KEY, Actor("k", at), "erase_user", digest.hex())
    rows: list[dict[str, Any]] = []
    after: int | None = 0
    while after is not None:
        found, after = store.audit(after=after, limit=page)
        rows += map(json.loads, found)
    store.close()
    return [row.get("position") for row in rows]


def digest(number: int) -> bytes:
    return number.to_bytes(16)


@pytest.mark.parametrize(("count", "page"), [(60, 1), (60, 7), (MANY, 1000)])
def test_on_whichever_page_it_stands(count: int, page: int) -> None:
    acts = [(number * 3 + 1, START + timedelta(minutes=number), digest(number)) for number in range(count)]
    assert audited(acts, page=page) == [position for position, *_ in acts]


@pytest.mark.parametrize("seed", range(8))
def test_also_where_clocks_differ_and_are_set_back(seed: int) -> None:
    source = random.Random(seed)
    at, acts = START, []
    for number in range(40):
        at += timedelta(seconds=source.choice([0, 1, 50, 100, 4000, -30, -5000]))
        acts.append((number * 2 + 1, at, digest(number % 7)))
    # Nobody can say which is which of the same at one moment, unless a page has both.
    expected = [position for position, *_ in acts]
    assert audited(acts, page=100) == expected
    for told, position in zip(audited(acts, page=3), expected, strict=True):
        assert told in (position, None)


def test_the_same_twice_at_one_moment_has_no_position_where_a_page_ends_between() -> None:
    acts = [(position, START, digest(1)) for position in (4, 6)]
    assert audited(acts, page=2) == [4, 6]
    assert audited(acts, page=1) == [None, None]
