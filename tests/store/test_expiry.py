"""``store.privacy.expiry``: what had no activity for so long is erased, and nothing else, however often it is
stopped."""

import itertools
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from store.port import Actor
from store.privacy.expiry import Expired, expire
from store.upkeep.verify import verify
from store.urls import open_store
from tests.store.filled import folder_bytes, session
from tests.store.planted import POSTGRESQL, SQLITE
from tests.store.postgres_server import server
from tests.store.surface import OTHER_CONVERSATION, Surface, payload, turn

ACTOR = Actor("command-line", datetime(2026, 5, 1, tzinfo=UTC))


@pytest.fixture(params=[SQLITE, POSTGRESQL])
def surface(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Surface]:
    """A store of its own: expiry is of all tenants."""
    if request.param == SQLITE:
        opened = Surface(open_store(f"sqlite:///{tmp_path}/store.db"))
        yield opened
        opened.close()
        return
    with server().database() as url:
        opened = Surface(open_store(url))
        yield opened
        opened.close()


def day(number: int) -> str:
    return f"2026-03-{number:02}T00:00:00Z"


def day_us(number: int) -> int:
    return int(datetime(2026, 3, number, tzinfo=UTC).timestamp()) * 1_000_000


def captured_on(surface: Surface, *days: int) -> None:
    """A session for each day, of that number."""
    for number in days:
        surface.capture(payload(turn(1, f"secret {number}"), session=session(number)), timestamp=day(number))


def expired(
    surface: Surface, before: int, *, batch: int = 100, dry_run: bool = False, tenant: str | None = None
) -> list[Expired]:
    found = expire(surface.store, before_us=day_us(before), actor=ACTOR, dry_run=dry_run, batch=batch, tenant=tenant)
    return list(found)


def erased_sessions(surface: Surface) -> set[str]:
    return {row["session_id"] for row in surface.sessions() if surface.turns(row["session_id"])[0]["erased"]}


def test_sessions_without_activity_are_erased_the_oldest_first(surface: Surface) -> None:
    captured_on(surface, 5, 3, 9, 7)
    assert expired(surface, 7) == [Expired(session(3), 1), Expired(session(5), 1)]
    assert erased_sessions(surface) == {session(3), session(5)}
    assert "secret 3" not in json.dumps(surface.events())
    assert verify(surface.store, print).findings == 0


def test_the_last_capture_counts_not_the_first(surface: Surface) -> None:
    captured_on(surface, 3)
    later = payload(turn(2), session=session(3), conversation=OTHER_CONVERSATION)
    surface.capture(later, timestamp=day(20))
    assert expired(surface, 20) == []
    assert expired(surface, 21) == [Expired(session(3), 2)]


def test_a_dry_run_says_the_same_and_erases_nothing(surface: Surface) -> None:
    captured_on(surface, 3, 5)
    found = expired(surface, 9, dry_run=True, batch=1)
    assert erased_sessions(surface) == set()
    assert expired(surface, 9, batch=1) == found == [Expired(session(3), 1), Expired(session(5), 1)]


def test_what_is_erased_is_not_found_again(surface: Surface) -> None:
    captured_on(surface, 3, 5)
    surface.capture(payload(turn(9), session=session(6), context={"user_id": "anna"}), timestamp=day(6))
    surface.erase("session", session(3))
    surface.erase("user", "anna")
    assert expired(surface, 9) == [Expired(session(5), 1)]
    assert expired(surface, 9) == []
    assert surface.capture(payload(turn(8)))["position"] == 7, "three captures, three erasures"


def test_a_run_that_is_stopped_is_gone_on_with(surface: Surface) -> None:
    captured_on(surface, *range(1, 8))
    for stop in (1, 2, 1):
        run = expire(surface.store, before_us=day_us(20), actor=ACTOR, dry_run=False, batch=3)
        assert len(list(itertools.islice(run, stop))) == stop
        # The generator ends here, in the middle of a batch.
        del run
    assert [each.session_id for each in expired(surface, 20, batch=2)] == [session(5), session(6), session(7)]
    assert len(erased_sessions(surface)) == 7


def test_what_comes_after_an_expiry_expires_in_its_turn(surface: Surface) -> None:
    captured_on(surface, 3)
    expired(surface, 9)
    surface.capture(payload(turn(2), session=session(3)), timestamp=day(12))
    assert expired(surface, 12) == []
    assert expired(surface, 13) == [Expired(session(3), 1)]


def test_a_session_that_becomes_active_meanwhile_is_left_alone(surface: Surface) -> None:
    captured_on(surface, 3, 5)
    run = expire(surface.store, before_us=day_us(9), actor=ACTOR, dry_run=False, batch=10)
    assert next(run) == Expired(session(3), 1)
    surface.capture(payload(turn(2), session=session(5)), timestamp=day(12))
    assert list(run) == []
    assert erased_sessions(surface) == {session(3)}


def test_each_expiry_is_written_down_as_an_erasure_of_the_session(surface: Surface) -> None:
    captured_on(surface, 3)
    expired(surface, 9)
    rows, _ = surface.store.audit()
    assert [json.loads(row) for row in rows] == [
        {
            "id": 1,
            "at": "2026-05-01T00:00:00.000000Z",
            "key_name": "command-line",
            "action": "erase_session",
            "subject": session(3),
            "position": 2,
        }
    ]


def test_all_tenants_expire_or_one(surface: Surface) -> None:
    captured_on(surface, 3)
    other = Surface(surface.store, tenant="acme")
    captured_on(other, 4)
    assert expired(surface, 9, tenant="nobody") == []
    assert expired(surface, 9, dry_run=True) == [Expired(session(3), 1), Expired(session(4), 1)]
    assert expired(surface, 9, tenant="acme") == [Expired(session(4), 1)]
    assert expired(surface, 9) == [Expired(session(3), 1)]


def test_events_that_make_no_session_do_not_expire(surface: Surface) -> None:
    plan = {"outputs": {"session_id": session(3)}}
    surface.post({"type": "plan", "runId": "p", "timestamp": day(3), "payload": plan})
    assert expired(surface, 9) == []


def test_expired_content_is_in_the_files_no_more(tmp_path: Path) -> None:
    with_files = Surface(open_store(f"sqlite:///{tmp_path}/store.db"))
    captured_on(with_files, *range(1, 20))
    assert b"secret 3" in folder_bytes(tmp_path)
    assert len(expired(with_files, 10, batch=4)) == 9
    found = folder_bytes(tmp_path)
    assert [b"secret %d" % number in found for number in range(3, 20)] == [number > 9 for number in range(3, 20)]
    with_files.close()
