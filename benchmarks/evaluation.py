"""What windows choose: ``python -m benchmarks.evaluation [--shared DIR] [--semantic DIR]``, or ``make eval``.

LoCoMo: the share of questions whose whole evidence is in the window, the five dialogs one by one and together, the
three that were tuned on and the two that were not; then what of the dropped is needed later, and how many slot spans of
SGD are told as entities. The data are for evaluation only, and a clone has none of them: then it is skipped, with the
reason. Ends with 1 where a bound is missed.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from agent.core.window.cutting import Ranker
from agent.errors import ConfigurationError
from agent.recall.relevance import ranker_for
from benchmarks.entity_spans import table as entity_table
from benchmarks.later_needed_eval import table
from benchmarks.locomo import FILE, TUNED_ON, Dialog, dialogs
from benchmarks.locomo_windows import BUDGETS, found, misses, row, together
from benchmarks.sgd_dialogs import DIALOGS

_REPOSITORY: Final = Path(__file__).resolve().parents[1]
_BY_WORDS: Final = (0.80, 0.86, 0.91, 0.98)
_BY_MEANING: Final = (0.85, 0.90, 0.94, 0.98)
# Without a query, by how much a strategy may be below a rolling window.
_BELOW: Final = 0.02


def main() -> int:
    """Print the tables; 1 where a bound is missed."""
    arguments = _parser().parse_args()
    data = arguments.shared / "data"
    for needed in (FILE, Path(DIALOGS)):
        if not (data / needed).is_file():
            print(f"skipped: no {needed} in {data} (--shared or SHARED_DIR names another place)")
            return 0
    every = dialogs(data)
    print(
        "LoCoMo: share of questions with their whole evidence in the window, by budget in tokens; ! is below its bound"
    )
    print(f"  {'':38}{'asked':>5}" + "".join(f"{budget:>8} " for budget in BUDGETS))
    are_held = _without_query(every)
    are_held &= _relevant("relevant, by words", every, ranker_for, _BY_WORDS)
    are_held &= _semantic(every, arguments.semantic)
    print(f"\n{table(data, every, ranker_for)}")
    print(f"\n{entity_table(data)}")
    return 0 if are_held else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.evaluation", description=__doc__)
    shared = os.environ.get("SHARED_DIR", _REPOSITORY.parent / "shared")
    parser.add_argument("--shared", type=Path, default=Path(shared), metavar="DIR", help="where the data folder is")
    model = os.environ.get("SEMANTIC_MODEL", _REPOSITORY / "build" / "semantic")
    parser.add_argument("--semantic", type=Path, default=Path(model), metavar="DIR", help="what make semantic made")
    return parser


def _without_query(every: Sequence[Dialog]) -> bool:
    bounds: tuple[float, ...] = ()
    are_held = True
    for strategy in ("rolling_window", "truncate", "importance", "hybrid"):
        total = together(found(dialog, strategy, ranker_for) for dialog in every)
        is_bound = strategy in ("importance", "hybrid")
        print(row(f"{strategy}, no query", total, bounds if is_bound else ()))
        are_held &= not is_bound or all(map(float.__ge__, total.shares, bounds))
        bounds = bounds or tuple(share - _BELOW for share in total.shares)
    return are_held


def _relevant(name: str, every: Sequence[Dialog], rankers: Callable[[], Ranker], bounds: Sequence[float]) -> bool:
    each = [found(dialog, "relevant", rankers) for dialog in every]
    total = together(each)
    print(row(name, total, bounds))
    print(row(f"  the {TUNED_ON} tuned on", together(each[:TUNED_ON])))
    print(row(f"  the {len(each) - TUNED_ON} held out", together(each[TUNED_ON:])))
    for dialog, one in zip(every, each, strict=True):
        print(row(f"    {dialog.name}", one))
    missed = misses(name, total, bounds)
    print("\n".join(missed), end="\n" if missed else "")
    return not missed


def _semantic(every: Sequence[Dialog], folder: Path) -> bool:
    try:
        # Late: they are of the extra.
        from agent.recall.semantic.embedder import Embedder
        from agent.recall.semantic.model import SemanticModel
        from agent.recall.semantic.semantic import Semantic

        semantic = Semantic(Embedder(SemanticModel.at(folder)), most_new=None)
    except (ImportError, ConfigurationError) as error:
        print(row(f"relevant, by meaning too: skipped, {error}", None))
        return True
    meaning = semantic.ranker(None)
    return _relevant("relevant, by meaning too", every, lambda: ranker_for(meaning), _BY_MEANING)


if __name__ == "__main__":
    sys.exit(main())
