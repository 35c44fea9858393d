"""One row of the table: what was measured, against what, and whether the bound holds."""

from __future__ import annotations

import dataclasses
import statistics
from typing import Any, Literal


@dataclasses.dataclass(frozen=True, slots=True)
class Figure:
    """``samples`` has one value a round, in ``unit``; ``decided_by`` says which of them meets the bound or does not.

    Without a ``bound`` the figure is reported, and nothing is missed.

    ``product`` and ``baseline`` are the medians in absolute terms, for people; they depend on the machine.
    """

    name: str
    what: str
    unit: Literal["x", "B", "MB", "MiB", "ms", "us", "/s"]
    limit: Literal["at most", "at least"]
    bound: float | None
    samples: tuple[float, ...]
    decided_by: Literal["median", "max"] = "median"
    product: str = ""
    baseline: str = ""
    notes: tuple[str, ...] = ()

    @property
    def value(self) -> float:
        return max(self.samples) if self.decided_by == "max" else statistics.median(self.samples)

    @property
    def met(self) -> bool:
        if self.bound is None:
            return True
        return self.value <= self.bound if self.limit == "at most" else self.value >= self.bound

    def as_dict(self) -> dict[str, Any]:
        """The figure as JSON, every sample kept."""
        return dataclasses.asdict(self) | {"value": self.value, "met": self.met}


def table(figures: list[Figure]) -> str:
    """The figures as text columns, their notes below."""
    rows = [("figure", "product", "baseline", "median", "min", "max", "bound", "")]
    for figure in figures:
        shown = "{:.2f}" if figure.unit == "x" else "{:.1f} " + figure.unit
        rows.append(
            (
                figure.name,
                figure.product,
                figure.baseline,
                shown.format(statistics.median(figure.samples)),
                shown.format(min(figure.samples)),
                shown.format(max(figure.samples)),
                _bound(figure),
                "reported" if figure.bound is None else "met" if figure.met else "MISSED",
            )
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    lines.insert(1, "  ".join("-" * width for width in widths))
    lines.append("")
    for figure in figures:
        lines.append(f"{figure.name}: {figure.what}")
        lines.extend(f"    {note}" for note in figure.notes)
    return "\n".join(lines)


def _bound(figure: Figure) -> str:
    if figure.bound is None:
        return "none"
    return f"{figure.limit} {figure.bound:g} {figure.unit if figure.unit != 'x' else ''}".rstrip()


def milliseconds(seconds: float) -> str:
    """``seconds`` as text, in the unit that leaves three digits to read."""
    return f"{seconds * 1e6:.0f} us" if seconds < 1e-3 else f"{seconds * 1e3:.1f} ms"
