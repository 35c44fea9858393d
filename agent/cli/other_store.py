"""A second store that an option of a command names: where it is, and which variable holds its key.

By the rules of ``RUVECTOR_SERVICE_URL`` and ``RUVECTOR_API_KEY``, which say where the first one is and which messages
about the second do not name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from agent.cli.invocation import STORE_VARIABLE
from agent.config import StoreAddress, store_address
from agent.errors import ConfigurationError, StoreWriteError
from agent.ruvector.store_key import KEY_VARIABLE

# What is refused for its key: its message names the variable of the first store's.
_OF_KEYS: Final = (401, 403)
_EMBEDDED: Final = "embedded:"


@dataclass(frozen=True, slots=True)
class OtherStore:
    """The store ``given`` with ``option``; its key stands in the variable ``key_variable``."""

    option: str
    given: str
    key_variable: str

    def address(self, environ: Mapping[str, str]) -> StoreAddress:
        """Where it is. Raises ConfigurationError, which names the option or the variable."""
        names = {STORE_VARIABLE: self.option, KEY_VARIABLE: self.key_variable}
        key = environ.get(self.key_variable, "")
        try:
            return store_address({STORE_VARIABLE: self._url(), KEY_VARIABLE: key})
        except ConfigurationError as error:
            problem = error.message.removeprefix(f"{error.variable}: ").replace(KEY_VARIABLE, self.key_variable)
            raise ConfigurationError(names[error.variable], problem) from None

    @contextmanager
    def asked(self) -> Iterator[None]:
        """Whoever asks this store in the block is told of its own key where the store refuses it."""
        try:
            yield
        except StoreWriteError as error:
            if error.upstream_status not in _OF_KEYS:
                raise
            message = error.message.replace(KEY_VARIABLE, self.key_variable)
            raise StoreWriteError(message, upstream_status=error.upstream_status, details=error.details) from error

    def _url(self) -> str:
        """A store as the command line names it: an address, ``embedded:PATH``, or a path alone."""
        given = self.given.strip()
        return given if "://" in given or given.startswith(_EMBEDDED) else _EMBEDDED + given
