"""What an error holds besides its words: the frames that it came through, and in them the body that it is about.

An error and the frame that handles it refer to each other. So their memory is free again only when Python's collector
of such circles comes by, and for a body of one long text that is late: the next large one needs it now.
"""

from __future__ import annotations


def let_go(error: BaseException) -> None:
    """Have ``error``, its causes, and what was handled when they were raised, hold no frames. Its last use is over."""
    met: set[int] = set()
    left: list[BaseException | None] = [error]
    while left:
        one = left.pop()
        if one is not None and id(one) not in met:
            met.add(id(one))
            one.__traceback__ = None
            left += (one.__cause__, one.__context__)
