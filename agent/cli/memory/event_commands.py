"""``inspect``, ``retrieve`` and ``tail``: the commands that show DecisionEvents.

Nothing but Typer is imported before a command runs, as in ``agent.cli.commands``.
"""
