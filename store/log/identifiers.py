"""UUIDs as the 16 bytes that the database keeps, and back."""

from __future__ import annotations

from agent.core.ids import is_uuid


def packed(text: object) -> bytes | None:
    """The 16 bytes of a UUID in any case (CONTRACT 2); None for anything else."""
    return bytes.fromhex(text.replace("-", "")) if is_uuid(text) else None


def unpacked(value: bytes) -> str:
    """The lower-case text of 16 bytes."""
    digits = value.hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def lowered(text: str) -> str:
    """A UUID in lower case; any other string as it is."""
    return text.lower() if is_uuid(text) else text
