"""``python -m agent``: the command line, where no console script is installed."""

import sys

from agent.cli.app import main

if __name__ == "__main__":
    sys.exit(main())
