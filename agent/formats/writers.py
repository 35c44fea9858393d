"""The formats that a session is written in, each found by its name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from agent.formats import OPENAI_CHAT
from agent.formats.writing import Session, Written

NATIVE: Final = "native"
MARKDOWN: Final = "markdown"
TEXT: Final = "text"

Writer = Callable[[Session], Written]


def writer(name: str) -> Writer:
    """The ``write`` of the format ``name``. Raises LookupError for a format that nobody writes."""
    # Late, as readers are: one export needs one format.
    if name == NATIVE:
        from agent.formats.native_out import write
    elif name == OPENAI_CHAT:
        from agent.formats.openai_chat_out import write
    elif name == MARKDOWN:
        from agent.formats.markdown import write
    elif name == TEXT:
        from agent.formats.text import write
    else:
        raise LookupError(name)
    return write
