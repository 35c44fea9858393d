"""``clear``, ``prune`` and ``erase``: the commands that take away.

Nothing but Typer is imported before a command runs, as in ``agent.cli.commands``.
"""
