"""Who may come in at a function's edge: first the key is asked for, then the limit of who has it.

So a request without a key, or with an unknown one, takes from nobody's limit, and makes none that would take memory.
Where no keys are configured, all callers have one limit together: by IP address there would be as many as somebody
likes to have addresses, and behind a proxy all callers have its address.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Protocol, Self

from agent.callers.settings import CallerSettings
from agent.core.api_keys import name_of

if TYPE_CHECKING:
    from agent.callers.rate_limit import RateLimit

_EVERYBODY: Final = b""


class Keys(Protocol):
    """The keys that callers need."""

    def check(self, environ: Mapping[str, Any]) -> bytes:
        """The digest of the key in ``environ``. Raises Unauthorized."""


class Callers:
    """Lets a request in, or raises Unauthorized or RateLimitExceeded. Safe to use from several threads."""

    def __init__(self, *, keys: Keys | None = None, limit: RateLimit | None = None) -> None:
        self._keys = keys
        self._limit = limit

    @classmethod
    def of(cls, settings: CallerSettings, *, monotonic_ns: Callable[[], int]) -> Self:
        """The callers that ``settings`` speak of. Raises ConfigurationError for a file of keys that does not hold."""
        keys: Keys | None = settings.keys
        if settings.keys_file is not None:
            from agent.callers.key_file import KeyFile  # late: only where there is one

            keys = KeyFile(settings.variable, settings.keys_file, monotonic_ns=monotonic_ns)
        limit = None
        if settings.limits:
            from agent.callers.rate_limit import RateLimit  # late: only where there is one, with its library

            limit = RateLimit(settings.limits, monotonic_ns=monotonic_ns)
        return cls(keys=keys, limit=limit)

    def admit(self, environ: Mapping[str, Any], known: Callable[[str], object] | None = None) -> None:
        """Return if the request in ``environ`` (WSGI) may come in; one request is taken from its caller's limit.

        ``known`` is told the name of the caller's key, where one is needed: before the limit, which its owner may meet.
        """
        caller = _EVERYBODY if self._keys is None else self._keys.check(environ)
        if known is not None and caller != _EVERYBODY:
            known(name_of(caller))
        if self._limit is not None:
            self._limit.spend(caller)
