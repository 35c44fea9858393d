"""Who made an event, by the published contract (CONTRACT 6, 7): three names that every answer and every write carry.

Apart from the event itself, which a start that answers ``/openapi.json`` has no need of.
"""

from __future__ import annotations

from typing import Final

AGENT_ID: Final = "conversation-memory-agent"
# The published contract that an event keeps, not our release.
AGENT_VERSION: Final = "1.0.0"
CLASSIFICATION: Final = "MEMORY_WRITE"
