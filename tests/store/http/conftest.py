"""The surface over a fake store."""

from collections.abc import Iterator

import pytest

from tests.store.http.site import Site, filled


@pytest.fixture
def site() -> Iterator[Site]:
    """An empty store behind its surface."""
    opened = Site()
    yield opened
    opened.client.close()


@pytest.fixture
def full() -> Iterator[Site]:
    """A store with something behind every path."""
    opened = Site(filled())
    yield opened
    opened.client.close()
