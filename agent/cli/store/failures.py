"""What the store raises, as the errors that a command ends with: decided by type, told in the store's own words.

The store's messages hold names, ranges and counts, and no content: people may read them as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus

from agent.errors import InternalError, StoreConnectionError, StoreDamaged, ValidationError
from store.errors import DamagedDatabase, DamagedEvent, StoreAnswerError, Unavailable


@contextmanager
def store_failures() -> Iterator[None]:
    """Raise StoreConnectionError for what the database cannot do now, ValidationError for what it does not take.

    StoreDamaged for what it cannot read.
    """
    try:
        yield
    except Unavailable as fault:
        raise StoreConnectionError(f"the store is not available: {fault.message}") from fault
    except DamagedEvent as fault:
        raise StoreDamaged(
            fault.rule, upstream_status=fault.status, position=fault.position, through=fault.through
        ) from fault
    except DamagedDatabase as fault:
        message = f"the store cannot be read: {fault.message}"
        raise StoreDamaged(fault.rule, upstream_status=fault.status, message=message) from fault
    except StoreAnswerError as fault:
        if fault.status < HTTPStatus.INTERNAL_SERVER_ERROR:
            raise ValidationError(fault.message) from fault
        raise InternalError("the store failed for a reason of ours; --debug shows where") from fault
