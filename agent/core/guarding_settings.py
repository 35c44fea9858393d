"""Settings that guard something: one that is set to nothing is no setting, and opens nothing."""

from __future__ import annotations

from collections.abc import Mapping

from agent.errors import ConfigurationError


def refuse_empty(environ: Mapping[str, str], *variables: str) -> None:
    """Raise ConfigurationError for the first of ``variables`` that is set and holds nothing but white space.

    That is what a secret becomes that was not there (``CAPTURE_API_KEYS=${SECRET}``). Taken for unset, it would let
    everybody in, or store what must not be stored, and nobody would hear of it.
    """
    for variable in variables:
        if variable in environ and not environ[variable].strip():
            raise ConfigurationError(variable, "is set to nothing: give it its value, or unset it")
