"""The store behind a conversation memory: opened by its name, with what reads it, writes to it and holds its sessions.

None is what the environment names, as everywhere (``RUVECTOR_SERVICE_URL``, ``RUVECTOR_API_KEY``; by default the
embedded ``./memory-graph.db``). Refuses, by ConfigurationError, an address that is none, and by StoreConnectionError
a path at which no embedded store can be: a client would wait for such a store as for one that is busy.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agent import __version__
from agent.bootstrap import embedded_fault, peak_memory_bytes, store_client
from agent.capture.service import CaptureService
from agent.config import Settings, StoreAddress
from agent.errors import StoreConnectionError, StoreNotFound
from agent.recall.held import HeldSession, HeldSessions
from agent.sdk.kept_views import KeptViews

if TYPE_CHECKING:
    from agent.intents import Intents
    from agent.ruvector.client import RuvectorClient
    from agent.ruvector.reads import StoreReads

IN_MEMORY: Final = ":memory:"
_ADDRESSES: Final = ("http://", "https://", "embedded:")


class OpenedStore:
    """A store until it is closed. ``clock`` gives aware instants, ``new_id`` random UUIDs."""

    def __init__(
        self,
        client: RuvectorClient,
        *,
        intents: Intents,
        clock: Callable[[], datetime],
        new_id: Callable[[], str],
    ) -> None:
        self._client = client
        self._is_closed = False
        self.service = CaptureService(
            lambda: self.client,
            clock=clock,
            elapsed=time.monotonic,
            peak_memory=peak_memory_bytes,
            release=__version__,
        )
        self.held = HeldSessions(client.reads)
        self.intents = intents
        self.clock = clock
        self.new_id = new_id
        self.views = KeptViews()

    @property
    def client(self) -> RuvectorClient:
        """Raises StoreConnectionError once it is closed: an embedded one would open anew, and one in memory empty."""
        if self._is_closed:
            raise _closed()
        return self._client

    @property
    def reads(self) -> StoreReads:
        return self.client.reads

    def close(self) -> None:
        self._is_closed = True
        self._client.close()

    def session(self, session_id: str) -> HeldSession | None:
        """The session (a UUID in lower case) as it is now; None for one that the store never had."""
        if self._is_closed:
            raise _closed()
        try:
            return self.held.session(session_id)
        except StoreNotFound:
            return None


def _closed() -> StoreConnectionError:
    return StoreConnectionError("the conversation memory is closed")


def open_store(
    store: str | os.PathLike[str] | None,
    *,
    api_key: str | None,
    intents: Intents | None,
    environ: Mapping[str, str],
    clock: Callable[[], datetime],
    new_id: Callable[[], str],
) -> OpenedStore:
    """The store that ``store`` names. Nothing is connected, and no database made, before it is read or written."""
    settings = _settings(store, api_key, environ)
    if settings.store.path not in (None, IN_MEMORY):
        _check_path(str(settings.store.path))
    if intents is None:
        intents = settings.intents
    return OpenedStore(
        store_client(settings),
        intents=_none_written() if intents is None else intents,
        clock=clock,
        new_id=new_id,
    )


def _none_written() -> Intents:
    from agent.intents import NO_INTENTS

    return NO_INTENTS


def _settings(store: str | os.PathLike[str] | None, api_key: str | None, environ: Mapping[str, str]) -> Settings:
    named = dict(environ)
    if api_key is not None:
        named["RUVECTOR_API_KEY"] = api_key
    # Who may capture through the function is nothing to a program that has the store.
    named.pop("CAPTURE_API_KEYS", None)
    if store is None:
        return Settings.from_env(named)
    given = os.fspath(store)
    if isinstance(store, str) and given.startswith(_ADDRESSES):
        return Settings.from_env({**named, "RUVECTOR_SERVICE_URL": given})
    # Through the same rule as any address, then the path to the letter: names of files may end with a space.
    if given == IN_MEMORY:
        # It goes with the process wherever that runs, and says so.
        named.pop("K_SERVICE", None)
    settings = Settings.from_env({**named, "RUVECTOR_SERVICE_URL": f"embedded:{given}"})
    return settings._replace(store=StoreAddress(path=given))


def _check_path(path: str) -> None:
    folder = Path(os.path.realpath(path)).parent
    fault = embedded_fault(path) if folder.is_dir() else "its folder does not exist"
    if fault is not None:
        raise StoreConnectionError(f"the embedded store cannot be opened: {fault}")
