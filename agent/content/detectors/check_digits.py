"""Whether a number that a state gives checks itself: by python-stdnum, and by rules of our own where that has none.

The one module that asks python-stdnum.
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any, Final

# What people write between the digits, whatever stdnum knows of the marks of that country.
_MARKS: Final = str.maketrans("", "", " .-/")


def checks(module: str, written: str) -> bool:
    """Whether ``written`` is right by ``stdnum.<module>``, or by the rule of our own that is called so.

    Its marks are left out where the module does not know them.
    """
    if module in _OURS:
        return _OURS[module](written.translate(_MARKS))
    is_valid = _module(module).is_valid
    compact = written.translate(_MARKS)
    return _holds(is_valid, written) or (compact != written and _holds(is_valid, compact))


def _holds(is_valid: Any, written: str) -> bool:
    """What ``is_valid`` says; whatever it raises says that the number does not check."""
    try:
        return bool(is_valid(written))
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - stdnum's tables have gaps (KeyError for a Chinese province without counties), and no text may stop a capture
        return False


@cache
def _module(name: str) -> Any:
    """Late, and each by itself: a text asks few of them."""
    return importlib.import_module(f"stdnum.{name}")


def _is_singapore(written: str) -> bool:
    """NRIC and FIN of Singapore: seven weighted digits, four more for T and G."""
    weights = (2, 7, 6, 5, 4, 3, 2)
    total = sum(weight * int(digit) for weight, digit in zip(weights, written[1:8], strict=True))
    total += 4 if written[0] in "TG" else 0
    letters = "JZIHGFEDCBA" if written[0] in "ST" else "XWUTRQPNMLK"
    return letters[total % 11] == written[8]


def _is_taiwan(written: str) -> bool:
    """National id of Taiwan: its letter as two digits, then weights from 8 down to 1."""
    letter = "ABCDEFGHJKLMNPQRSTUVXYWZIO".index(written[0]) + 10
    digits = [letter // 10, letter % 10, *map(int, written[1:])]
    return (
        sum(weight * digit for weight, digit in zip((1, 9, 8, 7, 6, 5, 4, 3, 2, 1, 1), digits, strict=True)) % 10 == 0
    )


def _is_snils(written: str) -> bool:
    """The pension number of Russia: nine digits with weights from 9 down to 1, modulo 101."""
    total = sum(weight * int(digit) for weight, digit in zip(range(9, 0, -1), written[:9], strict=True))
    return len(written) == 11 and total % 101 % 100 == int(written[9:])


_OURS: Final = {"singapore": _is_singapore, "taiwan": _is_taiwan, "snils": _is_snils}
