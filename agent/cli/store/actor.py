"""Who the audit says it was when the command line acts: no key was sent, and the shell knows its user better."""

from __future__ import annotations

from typing import Final

from agent.cli.invocation import Invocation
from store.port import Actor

_COMMAND_LINE: Final = "command-line"


def actor_of(invocation: Invocation) -> Actor:
    """The command line, now."""
    return Actor(_COMMAND_LINE, invocation.clock())
