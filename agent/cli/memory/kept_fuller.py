"""What people are told of turns that the store keeps in a fuller body than a capture brought (CONTRACT 8)."""

from __future__ import annotations


def stay_fuller(count: int) -> str:
    """Why ``count`` turns are not as the mode of this capture would have them, and what to do about it."""
    if count == 1:
        return "1 turn is stored with more than this mode keeps, and stays so: erase it to take that away"
    return f"{count} turns are stored with more than this mode keeps, and stay so: erase them to take that away"
