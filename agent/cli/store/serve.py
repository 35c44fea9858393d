"""``store serve``: runs the store's HTTP server in this process until a signal ends it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from agent.bootstrap import store_app
from agent.cli.exit_codes import ExitCode
from agent.cli.invocation import Invocation
from agent.cli.store.database import is_in_memory, name_of, opened, store_environ, store_settings
from agent.cli.store.listening import address_of, listening_socket
from agent.errors import ConfigurationError
from store.http.access import Key
from store.settings import StoreSettings

_CODES: Final = frozenset(ExitCode)
# ``store keys`` lists them all.
_MOST_NAMED: Final = 20


@dataclass(frozen=True, slots=True)
class ServeCommand:
    """One server on ``host`` and ``port`` (0: a free one), with ``workers`` processes of ``threads`` each."""

    host: str
    port: int
    threads: int
    workers: int

    interrupted = "interrupted: the server has ended; what was acknowledged is stored"

    def __call__(self, invocation: Invocation) -> ExitCode:
        """Serve. Raises ConfigurationError and StoreConnectionError for what keeps it from starting."""
        settings = store_settings(invocation)
        if self.workers > 1 and is_in_memory(settings.url):
            raise ConfigurationError("--workers", "must be 1 for a store in memory, which is one process's own")
        bound = listening_socket(self.host, self.port, keyless=not settings.keys)
        with bound:
            # Told before a request waits for it, and closed again before the workers are forked.
            with opened(settings.url, may_be_new=True) as store:
                store.migrate()
                kind = store.kind
            # Late: loaded when everything before has held.
            from agent.cli.store.gunicorn_server import Serving, serve

            line = f"store on {address_of(bound)} ({kind}, {name_of(settings.url)}), {_callers(settings)}"
            environ = store_environ(invocation)
            serving = Serving(
                bound,
                threads=self.threads,
                workers=self.workers,
                make=lambda: store_app(environ),
                ready=lambda: invocation.terminal.say(line),
            )
            code = serve(serving)
        # In a worker it is for the server, which reads some of gunicorn's own codes.
        return ExitCode(code) if code in _CODES else ExitCode.INTERNAL


def _callers(settings: StoreSettings) -> str:
    if not settings.keys:
        return "no keys: programs on this host alone may call it"
    named = [_named(key) for key in settings.keys[:_MOST_NAMED]]
    more = len(settings.keys) - len(named)
    return "keys: " + ", ".join(named) + (f" and {more} more" if more else "")


def _named(key: Key) -> str:
    return f"{key.name} ({', '.join(sorted(key.rights))})"
