"""The console script: starts the command line and turns whatever is left into an exit code.

Light on purpose: the libraries are imported inside, so that Ctrl-C during the start ends as cleanly as later.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line with ``arguments``, by default the process's; returns the exit code."""
    try:
        from agent.cli.commands import run

        return run(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:
        # Without a standard error the code has to tell.
        with suppress(OSError, AttributeError):
            sys.stderr.write("memory-graph: interrupted before anything was done\n")
        return 130
