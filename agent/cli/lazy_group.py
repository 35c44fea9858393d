"""Groups of commands that are made when one of them is asked for.

Typer makes a command by reading its function's signature, a few milliseconds each. Nobody who asks for the help of
``memory-graph``, or runs one command, should wait for all the others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import typer
from typer.core import TyperGroup
from typer.main import get_command


def lazy_group(load: Callable[[], typer.Typer]) -> type[TyperGroup]:
    """The class of a group whose commands are those of the Typer that ``load`` returns, called once it is needed."""

    class LazyGroup(TyperGroup):
        # Any: the classes of Typer's own arguments are private to it.
        def list_commands(self, ctx: Any) -> list[str]:
            self._fill()
            return super().list_commands(ctx)

        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            self._fill()
            return super().get_command(ctx, cmd_name)

        def _fill(self) -> None:
            if not self.commands:
                self.commands.update(cast("TyperGroup", get_command(load())).commands)

    return LazyGroup
