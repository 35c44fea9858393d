"""What the store client's tests share."""

from collections.abc import Callable, Iterator

import pytest

from agent.ruvector.client import RuvectorClient
from tests.ruvector.fakes import Waits, store_client


@pytest.fixture
def waits() -> Waits:
    return Waits()


@pytest.fixture
def client_of(waits: Waits) -> Iterator[Callable[..., RuvectorClient]]:
    """Makes clients whose waits take no time, and closes them."""
    made: list[RuvectorClient] = []

    def make(base_url: str, **settings: object) -> RuvectorClient:
        made.append(store_client(base_url, waits, **settings))
        return made[-1]

    yield make
    for client in made:
        client.close()
