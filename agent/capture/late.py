"""The capture service of an instance, loaded by its first capture and not by its start.

Parser, schema, hash and graph are most of what a start would import, and health, description and refusals of the host
need none of them (docs/adr/0003).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from agent.once import Once

if TYPE_CHECKING:
    from agent.capture.request import Capture, CaptureAnswer, CaptureRequest, Spans


class LateCapture:
    """A capture whose service ``make`` makes when it is asked for first; threads that come meanwhile wait for it."""

    def __init__(self, make: Callable[[], Capture]) -> None:
        self._service = Once(make)

    def capture(self, request: CaptureRequest, spans: Spans) -> CaptureAnswer:
        """What the service answers; raises what it raises."""
        return self._service().capture(request, spans)
