"""What JSON text is made of (RFC 8259), and how much of it CONTRACT 2 allows.

The patterns are possessive: nothing is ever tried twice, so a match takes linear time whatever the text.
"""

from __future__ import annotations

from typing import Final

MAX_VALUES: Final = 250_000
MAX_DEPTH: Final = 128
MAX_INTEGER_DIGITS: Final = 4300

BLANK: Final = b" \t\n\r"
WHITE: Final = rb"[ \t\n\r]*+"
# A whole string; what stands in it is not looked at. For patterns with re.DOTALL.
STRING: Final = rb'"(?:[^"\\]++|\\.)*+"'
