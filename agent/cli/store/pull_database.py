"""A database at one end of ``store pull``: the store over it in this process, met as one tenant.

What is pulled is read and written over CONTRACT 10 here too, by the client that captures go through.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from agent.ambient import new_id, utc_now
from agent.cli.store.database import is_server, opened
from agent.config import Settings
from agent.ruvector.client import RuvectorClient
from agent.ruvector.embedded import EmbeddedTransport
from store.http.edge import Caller, Right
from store.server import create_app

_BASE_URL: Final = "http://embedded.invalid"


@contextmanager
def database_client(
    url: str, settings: Settings, *, tenant: str, key_name: str, may_be_new: bool
) -> Iterator[RuvectorClient]:
    """A client of the store over the database at ``url`` until the block ends.

    Raises StoreConnectionError where no store can be, or where there is none and it may not be made.
    """
    with opened(url, may_be_new=may_be_new) as store:
        if is_server(url):
            # Told at once: the client would take a server that is down for one that is busy.
            store.migrate()
        app = create_app(store, clock=utc_now, new_id=new_id, guard=_OneTenant(_Operator(tenant, key_name)))
        yield RuvectorClient(
            EmbeddedTransport(app, close_store=store.close),
            base_url=_BASE_URL,
            api_key=None,
            kind=store.kind,
            deadline_s=settings.deadline_s,
            at_most_once=settings.at_most_once,
        )


@dataclass(frozen=True, slots=True)
class _Operator:
    """Who may open the database may do everything in it."""

    tenant: str
    key_name: str

    def may(self, right: Right, /) -> bool:  # noqa: ARG002 - the port's signature
        return True

    def spend(self, size: int, /) -> None:
        """A command has no quota."""


@dataclass(frozen=True, slots=True)
class _OneTenant:
    """Lets every request in as ``caller``."""

    caller: Caller

    def check(self, environ: Mapping[str, Any], right: Right, /) -> Caller:  # noqa: ARG002 - the port's signature
        return self.caller

    def check_metrics(self, environ: Mapping[str, Any], /) -> None:
        """Nobody else is there to see them."""
