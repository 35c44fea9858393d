"""What a text says of itself, one group of named predicates a file; ``signals_of`` asks them all.

Pure functions of the text and of who said it, so that a reader can keep them beside the turn: the same text has the
same signals for ever. Each file names its languages; a sentence in any other does not fire. Nothing here asks a model.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from agent.core.references import references_earlier
from agent.core.window.signals.casual import is_casual
from agent.core.window.signals.completion import says_complete
from agent.core.window.signals.confirmations import asks_for_more, confirms_done
from agent.core.window.signals.corrections import is_correction
from agent.core.window.signals.directives import is_directive
from agent.core.window.signals.errors import is_error
from agent.core.window.signals.openings import asks, turns_away
from agent.core.window.signals.rule import SPOKEN, Read, read

# The signals of a text, said in a role; a reader that keeps them passes its own.
Signals = Callable[[str, str], frozenset[str]]
_NONE: Final[frozenset[str]] = frozenset()
_REFERENCE: Final = "reference_"
# What a message leans on, it says soon; and that something was said, whatever it was.
_LEANS: Final = 300
_BEFORE: Final = ("",)
# How a message goes on from another without being about it: "yes", "and", "now".
_GOES_ON: Final = frozenset(
    (
        *("yes", "yeah", "yep", "no", "nope", "ok", "okay", "sure", "right", "exactly", "correct", "agreed", "alright"),
        *("actually", "and", "but", "or", "then", "also", "finally", "instead", "there", "how about", "what about"),
    )
)
_OF_ROLES: Final[dict[str, tuple[tuple[str, Callable[[Read], bool]], ...]]] = {
    "user": (
        ("casual", is_casual),
        ("error", is_error),
        ("directive", is_directive),
        ("correction", is_correction),
        ("says_complete", says_complete),
    ),
    "assistant": (
        ("casual", is_casual),
        ("error", is_error),
        ("correction", is_correction),
        ("confirms_done", confirms_done),
        ("asks_for_more", asks_for_more),
    ),
    "system": (("error", is_error), ("directive", is_directive)),
    "tool": (("error", is_error),),
}


def signals_of(text: str, role: str) -> frozenset[str]:
    """The signals of ``text``, said in ``role``: names; ``reference_1`` to ``reference_n`` are those of n references,
    ``leans`` says that one of them is more than a yes, a no or an and.

    References, directives and requests are looked for in what users say. An unknown role has none.
    """
    if not text or text.isspace():
        return _NONE
    seen = read(text)
    found = [name for name, holds in _OF_ROLES.get(role, ()) if holds(seen)]
    if role == "user" and "casual" not in found:
        found += _asked(text, seen)
    return frozenset(found)


def references(signals: frozenset[str]) -> int:
    """How many references to an earlier message ``signals`` count."""
    return sum(name.startswith(_REFERENCE) for name in signals)


def _asked(text: str, seen: Read) -> list[str]:
    """How a user's message hangs together with what was before."""
    words = references_earlier(text[:_LEANS], _BEFORE).words
    found = [f"{_REFERENCE}{number}" for number in range(1, len(words) + 1)]
    if any(word.lower() not in _GOES_ON for word in words):
        found.append("leans")
    if len(text) > SPOKEN or asks(seen):
        found.append("asks")
    return [*found, "turns_away"] if len(text) <= SPOKEN and turns_away(seen) else found
