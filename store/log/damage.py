"""Says which event cannot be read: what opens a body knows what is wrong with it, and not where it stands."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from store.errors import DamagedDatabase, DamagedEvent


@contextmanager
def reading_event(position: int) -> Iterator[None]:
    """Raise DamagedEvent for the event at ``position`` where it cannot be read, or an event that its turns stand in."""
    try:
        yield
    except DamagedEvent as fault:
        if fault.position == position:
            raise
        raise DamagedEvent(fault.message, position, through=fault.position) from fault
    except DamagedDatabase as fault:
        raise DamagedEvent(fault.message, position) from fault
