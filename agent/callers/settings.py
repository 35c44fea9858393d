"""What an environment says of callers: the keys that they need, in a variable or in a file, and ``RATE_LIMIT``.

Refused are keys in both places at once, a limit that is none, and what is set to nothing. The file is not opened here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from agent.core.guarding_settings import refuse_empty
from agent.errors import ConfigurationError

if TYPE_CHECKING:
    from limits import RateLimitItem

    from agent.callers.callers import Callers
    from agent.core.api_keys import ApiKeys

FILE_SUFFIX: Final = "_FILE"
RATE_LIMIT: Final = "RATE_LIMIT"


class CallerSettings(NamedTuple):
    """What callers of one function meet: ``keys``, or the keys of ``keys_file``, or none; and the ``limits`` of each.

    ``variable`` is the one that the keys came from, or the name of their file.
    """

    variable: str
    keys: ApiKeys | None = None
    keys_file: str | None = None
    limits: tuple[RateLimitItem, ...] = ()

    @property
    def need_a_key(self) -> bool:
        """Whether callers need a key."""
        return self.keys is not None or self.keys_file is not None

    def opened(self, monotonic_ns: Callable[[], int]) -> Callers:
        """The callers of a function that starts. Raises ConfigurationError for a file of keys that does not hold."""
        from agent.callers.callers import Callers  # late: whoever reads settings alone, as a check of them, has none

        return Callers.of(self, monotonic_ns=monotonic_ns)

    def key_names(self, monotonic_ns: Callable[[], int]) -> tuple[str, ...]:
        """What the keys are called, those of a file as it is now. Raises ConfigurationError for a bad one."""
        if self.keys_file is not None:
            from agent.callers.key_file import KeyFile  # late: only where there is one

            return KeyFile(self.variable, self.keys_file, monotonic_ns=monotonic_ns).names
        return () if self.keys is None else self.keys.names


def caller_settings(environ: Mapping[str, str], variable: str) -> CallerSettings | None:
    """The settings of the function whose callers' keys are in ``variable``; None where callers meet nothing.

    Raises ConfigurationError for the first that does not hold.
    """
    refuse_empty(environ, variable, variable + FILE_SUFFIX, RATE_LIMIT)
    text = environ.get(variable, "")
    path = environ.get(variable + FILE_SUFFIX, "").strip()
    limit = environ.get(RATE_LIMIT, "").strip()
    if path and text.strip():
        raise ConfigurationError(variable + FILE_SUFFIX, f"stands beside {variable}: keep one of the two")
    if not (path or text.strip() or limit):
        return None
    return CallerSettings(
        variable=variable + FILE_SUFFIX if path else variable,
        keys=_keys(variable, text),
        keys_file=path or None,
        limits=_limits(limit),
    )


def _keys(variable: str, text: str) -> ApiKeys | None:
    if not text.strip():
        return None
    from agent.core.api_keys import ApiKeys  # late: a start without keys needs none of it

    return ApiKeys.parse(variable, text)


def _limits(text: str) -> tuple[RateLimitItem, ...]:
    if not text:
        return ()
    from agent.callers.rate_limit import limits_of  # late: the library costs 70 ms and 3 MiB (ADR 22)

    return limits_of(RATE_LIMIT, text)
