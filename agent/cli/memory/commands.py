"""All commands of ``memory-graph agent conversation-memory``, in the order that its help lists them."""

from __future__ import annotations

from types import ModuleType
from typing import Final

from agent.cli.memory import (
    capture_commands,
    check_commands,
    event_commands,
    export_command,
    graph_command,
    privacy_commands,
    session_commands,
)
from agent.cli.memory.group import conversation_memory

__all__ = ["conversation_memory"]

# A module adds its commands to the group when it is imported.
MODULES: Final[tuple[ModuleType, ...]] = (
    capture_commands,
    event_commands,
    session_commands,
    graph_command,
    export_command,
    check_commands,
    privacy_commands,
)
