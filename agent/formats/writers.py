"""The formats that a session is written in, each found by its name."""

from __future__ import annotations

from collections.abc import Callable

from agent.formats import MARKDOWN, NATIVE, TEXT, WRITES, format_named
from agent.formats.writing import Session, Written

Writer = Callable[[Session], Written]


def writer(name: str) -> Writer:
    """The ``write`` of the format ``name``. Raises LookupError for a format that nobody writes."""
    if name in WRITES:
        return format_named(name).write
    # Late, as readers are: one export needs one format.
    if name == NATIVE:
        from agent.formats.native_out import write
    elif name == MARKDOWN:
        from agent.formats.markdown import write
    elif name == TEXT:
        from agent.formats.text import write
    else:
        raise LookupError(name)
    return write
