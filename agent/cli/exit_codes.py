"""The exit codes of the command line: stable, part of its interface."""

from __future__ import annotations

from enum import IntEnum

from agent.errors import AgentError, ConfigurationError, RateLimitExceeded, StoreError, ValidationError


class ExitCode(IntEnum):
    """What a script may rely on. 3 to 5 belong to commands that compare, erase and export."""

    OK = 0
    STORE = 1
    """The store could not be reached, or did not acknowledge."""
    USAGE = 2
    """The command line, a setting or the input was refused; nothing was written."""
    DIFFERS = 3
    PARTLY = 4
    NOT_POSSIBLE = 5
    INTERNAL = 70
    """A fault of ours (EX_SOFTWARE of sysexits.h)."""
    NOT_WRITTEN = 74
    """Standard output took no more: a full disk, a closed descriptor (EX_IOERR of sysexits.h)."""
    INTERRUPTED = 130
    """128 + SIGINT, as a shell reports it."""
    CLOSED_PIPE = 141
    """128 + SIGPIPE, as a shell reports it: the reader of the results went away."""


def exit_code_of(error: AgentError) -> ExitCode:
    """The exit code that ``error`` ends a command with."""
    if isinstance(error, StoreError | RateLimitExceeded):
        return ExitCode.STORE
    if isinstance(error, ValidationError | ConfigurationError):
        return ExitCode.USAGE
    return ExitCode.INTERNAL
