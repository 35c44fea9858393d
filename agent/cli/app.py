"""The console script: starts the command line and turns whatever is left into an exit code.

Light on purpose: the libraries are imported inside, so that Ctrl-C during the start ends as cleanly as later.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line with ``arguments``, by default the process's; returns the exit code."""
    try:
        from agent.cli.commands import run

        return run(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:
        return 130
