"""The rows of the table. Each module's ``run`` measures its figures, product and baseline in turn."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from benchmarks.runtime import Runtime


@dataclasses.dataclass(frozen=True, slots=True)
class Stage:
    """What a row works with: the compiled function, a folder on a disk, and whether a fast look is enough."""

    runtime: Runtime
    folder: Path
    quick: bool

    def rounds(self, full: int, quick: int) -> int:
        return quick if self.quick else full
