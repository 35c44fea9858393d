"""``history`` and ``graph``: the commands that show a session.

Nothing but Typer is imported before a command runs, as in ``agent.cli.commands``.
"""
