"""What takes away: ``clear`` and ``prune`` from the view, ``erase`` for good."""
