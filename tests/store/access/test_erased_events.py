"""An event that another store erased: what it names is remembered as erased, which is an admin's to say."""

import json

import httpx
import pytest

from agent.ruvector.embedded import EmbeddedTransport
from store.server import create_app
from store.urls import open_store
from tests.store.access.callers import ADMIN, WRITER, guard
from tests.store.surface import clock, envelope, payload, turn


@pytest.mark.parametrize(("key", "status"), [(WRITER, 403), (ADMIN, 201)])
def test_an_erased_event_is_taken_from_an_admin_key_alone(key: str, status: int) -> None:
    store = open_store("sqlite:///:memory:")
    app = create_app(store, clock=clock, new_id=lambda: "id", guard=guard())
    body = {**envelope(payload(turn(1), {**turn(2), "erased": True})), "erased": True}
    with httpx.Client(
        transport=EmbeddedTransport(app, close_store=store.close), base_url="http://store.invalid"
    ) as client:
        answer = client.post(
            "/v1/decision-events", content=json.dumps(body), headers={"Authorization": f"Bearer {key}"}
        )
    assert answer.status_code == status
    if status == 201:
        assert answer.json()["turns"]["erased"] == 1
    else:
        assert answer.json()["error"] == "forbidden"
