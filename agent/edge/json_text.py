"""What JSON text is made of (RFC 8259), and how much of it CONTRACT 2 allows.

The patterns are possessive: nothing is ever tried twice, so a match takes linear time whatever the text.
"""

from __future__ import annotations

from typing import Final

from agent.core import json_bounds

MAX_VALUES: Final = json_bounds.MAX_VALUES
MAX_DEPTH: Final = json_bounds.MAX_DEPTH
MAX_INTEGER_DIGITS: Final = 4300

BLANK: Final = b" \t\n\r"
WHITE: Final = json_bounds.WHITE
STRING: Final = json_bounds.STRING
