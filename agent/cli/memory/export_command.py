"""``export``: a session in a format that others read.

Nothing but Typer is imported before a command runs, as in ``agent.cli.commands``.
"""
