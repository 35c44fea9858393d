"""For tests that start a function in this process: what it opened is closed when the test ends.

A function keeps its store for the life of its process. Python 3.13 warns of a database that nobody closed, whenever its
collector comes by, and so in a test that has nothing to do with it.
"""

import pytest

from agent import bootstrap


@pytest.fixture(autouse=True)
def clients_closed(monkeypatch):
    made, make = [], bootstrap.store_client

    def kept(settings):
        made.append(make(settings))
        return made[-1]

    monkeypatch.setattr(bootstrap, "store_client", kept)
    yield
    for client in made:
        client.close()
