"""Asks an embedded store in a file that may not be there yet: until somebody writes, it is an empty store.

A read makes no file. Each looks whether there is one by now: another process may have made it since, or taken it away.
Only a file that is missing in its folder is an empty store; what cannot be looked at is asked, and says why it fails.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from agent.once import Once

if TYPE_CHECKING:
    from agent.ruvector.client import Query, RuvectorClient

T = TypeVar("T")


class FileAsked:
    """Asks ``client``, whose store is in the file ``path``; while there is no such file, one that ``empty`` makes."""

    def __init__(self, path: str, client: RuvectorClient, empty: Callable[[], RuvectorClient]) -> None:
        self._path = path
        self._client = client
        self._open = ExitStack()
        self._open.callback(client.close)
        self._empty = Once(lambda: self._opened(empty()))

    def ask(self, method: str, path: str, query: Query, read: Callable[[bytes], T]) -> T:
        """As the client does."""
        client = self._empty() if is_absent(self._path) else self._client
        return client.ask(method, path, query, read)

    def close(self) -> None:
        """Close both."""
        self._open.close()

    def _opened(self, client: RuvectorClient) -> RuvectorClient:
        self._open.callback(client.close)
        return client


def is_absent(path: str) -> bool:
    """Whether there is no file ``path``, though there is the folder for it."""
    try:
        os.stat(path)  # noqa: PTH116 - a Path costs more than the call, on each read
    except FileNotFoundError:
        # Behind a link: what it leads to is what would be made.
        return Path(os.path.realpath(path)).parent.is_dir()
    except OSError:
        return False
    return False
