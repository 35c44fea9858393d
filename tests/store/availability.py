"""What a store says while its database cannot do it, and how one sees that it is well again."""

import httpx

from tests.store.surface import Surface, envelope, payload, turn


def refused(answer: httpx.Response, message: str, retry_after: str = "5") -> None:
    assert (answer.status_code, answer.headers["retry-after"]) == (503, retry_after)
    assert (answer.json()["error"], answer.json()["message"]) == ("unavailable", message)


def unavailable(surface: Surface, message: str, retry_after: str = "5") -> None:
    """A write and the health answer are 503, both with the reason."""
    refused(surface.post(envelope(payload(turn(99)))), message, retry_after)
    health = surface.client.get("/health")
    refused(health, message, retry_after)
    assert (health.json()["status"], health.json()["kind"]) == ("unavailable", surface.kind)


def well(surface: Surface, events: int) -> None:
    """Health is 200, a capture is taken, and what was refused before was not kept."""
    assert surface.client.get("/health").status_code == 200
    assert surface.capture(payload(turn(100)))["position"] == events + 1
    assert len(surface.get("/v1/decision-events")["events"]) == events + 1
