"""What Google's numbering plans say of digits: the one module that asks ``phonenumbers``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def is_possible(written: str) -> bool:
    """Whether ``written``, with its plus and its country's code, is as long as the numbers of that country."""
    return _holds(lambda plans: plans.is_possible_number(plans.parse(written, None)))


def is_valid_in(region: str, digits: str) -> bool:
    """Whether ``digits``, as dialled at home, are a number of ``region``."""
    return _holds(lambda plans: plans.is_valid_number_for_region(plans.parse(digits, region), region))


def _holds(says: Callable[[Any], bool]) -> bool:
    """What ``says`` has the plans say; whatever they raise says that they have no such number."""
    # Late: 30 ms and several MiB, and few texts hold a number.
    import phonenumbers

    try:
        return says(phonenumbers)
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - beside NumberParseException nobody says what a foreign plan raises, and no text may stop a capture
        return False
