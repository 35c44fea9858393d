"""The formats that results are printed in."""

from __future__ import annotations

from enum import StrEnum


class Format(StrEnum):
    """``table`` for people; ``json`` and ``yaml`` are exactly one document."""

    TABLE = "table"
    JSON = "json"
    YAML = "yaml"
