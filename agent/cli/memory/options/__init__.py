"""The options of each command. Nothing here loads more than Typer: ``--help`` costs little more than Python."""
