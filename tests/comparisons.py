"""How often keys are compared in constant time: it must not tell where the one that fits stands."""

import hmac
import sys
from collections.abc import Callable
from types import FrameType


def comparisons(during: Callable[[], object]) -> int:
    """How often ``hmac.compare_digest`` is called."""
    count = 0

    def watch(frame: FrameType, event: str, called: object) -> None:
        nonlocal count
        count += event == "c_call" and called is hmac.compare_digest

    sys.setprofile(watch)
    try:
        during()
    finally:
        sys.setprofile(None)
    return count
