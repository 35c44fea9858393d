"""The exit codes of the command line: stable, part of its interface."""

from __future__ import annotations

from enum import IntEnum

from agent.errors import (
    AgentError,
    ConfigurationError,
    NewerContract,
    RateLimitExceeded,
    StoreError,
    StoreNotFound,
    ValidationError,
)


class ExitCode(IntEnum):
    """What a script may rely on."""

    OK = 0
    STORE = 1
    """The store could not be reached, or did not acknowledge."""
    USAGE = 2
    """The command line, a setting or the input was refused; nothing was written."""
    DIFFERS = 3
    """Something that was compared is not what it should be."""
    PARTLY = 4
    """Part was done; what was not is named."""
    NOT_POSSIBLE = 5
    """What was asked for is not there, or cannot be done with what is there."""
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
    if isinstance(error, StoreNotFound | NewerContract):
        return ExitCode.NOT_POSSIBLE
    if isinstance(error, StoreError | RateLimitExceeded):
        return ExitCode.STORE
    if isinstance(error, ValidationError | ConfigurationError):
        return ExitCode.USAGE
    return ExitCode.INTERNAL
