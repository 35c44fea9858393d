"""A session of which the store cannot read an event: every read of its turns says so, and which; the others go on."""

from contextlib import closing
from pathlib import Path

import pytest

from agent.bootstrap import store_client
from agent.config import Settings
from store.engines.sqlite import SqliteStore
from tests.recall.http.site import SESSION, Site, error_of, payload, said

OTHER = "0e6f3f0e-1111-4222-8333-444455556666"


def damage(path: Path) -> None:
    store = SqliteStore(str(path))
    with store.engine.writing() as connection:
        key, body = connection.execute("SELECT event_key, body FROM events ORDER BY event_key LIMIT 1").fetchone()
        changed = body[:40] + bytes([body[40] ^ 1]) + body[41:]
        connection.execute("UPDATE events SET body = ? WHERE event_key = ?", (changed, key))
    store.close()


@pytest.mark.parametrize("part", ["", "/state", "/summary", "/context", "/export", "/graph"])
def test_it_is_a_502_with_the_rule_and_the_position_at_once(part: str, tmp_path: Path) -> None:
    settings = Settings.from_env({"RUVECTOR_SERVICE_URL": f"embedded:{tmp_path / 'store.db'}"})
    with closing(store_client(settings)) as client:
        site = Site(client)
        site.capture(payload(said(1, "SECRET-71b " * 200)))
        site.capture(payload(said(2, "Hello."), session=OTHER))
        damage(tmp_path / "store.db")
        response = site.ask(f"/api/conversation/{SESSION}{part}")
        error = error_of(response)
        assert (response.status_code, error["error_code"]) == (502, "RUVECTOR_WRITE_ERROR")
        assert error["details"] == {"upstream_status": 500, "attempts": 1, "rule": "damaged_event", "position": 1}
        assert "Retry-After" not in response.headers
        assert site.history(OTHER) == ["Hello."]
