"""Scores the detectors on the labelled texts as ``labelled/README.md`` says: ``python -m tests.content.scoring``.

Of the half that is held out and of the blind ones it prints figures and the ids of what was missed, never a text.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent.content.detectors import find
from agent.content.found import Found

FOLDER = Path(__file__).parent / "labelled"
HALVES = ("development", "held_out")
# These were made after the detectors, by labellers that had not seen them.
FILES = (*HALVES, "blind", "blind_2", "blind_3")
PAGE = Path(__file__).parents[2] / "docs" / "content-detectors.md"
BEGIN, END = "<!-- scoring: begin -->", "<!-- scoring: end -->"
# More code points than these beside a span make a detection too wide.
SLACK = 4


@dataclass
class Score:
    """Counts over a file; the lists name texts by their ids."""

    spans: Counter[tuple[str, str]] = field(default_factory=Counter)
    found: Counter[tuple[str, str]] = field(default_factory=Counter)
    missed: list[str] = field(default_factory=list)
    wrong_kind: list[str] = field(default_factory=list)
    too_wide: list[str] = field(default_factory=list)
    clean: int = 0
    clean_with_false_hits: list[str] = field(default_factory=list)
    false_hits_elsewhere: list[str] = field(default_factory=list)

    @property
    def recall(self) -> float:
        return self.found.total() / self.spans.total()

    @property
    def false_positives(self) -> float:
        return len(self.clean_with_false_hits) / self.clean


def labelled(half: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / f"{half}.jsonl").read_text(encoding="utf-8").splitlines()]


def score(texts: Iterable[dict[str, Any]], detect: Callable[[str], Sequence[Found]]) -> Score:
    counted = Score()
    for text in texts:
        hits = detect(text["text"])
        for span in text["spans"]:
            _count(counted, text, span, hits)
        strays = [hit.kind for hit in hits if not any(_touches(hit, span) for span in text["spans"])]
        counted.clean += not text["spans"]
        if strays:
            where = counted.false_hits_elsewhere if text["spans"] else counted.clean_with_false_hits
            where.append(f"{text['id']} ({', '.join(strays)})")
    return counted


def _count(counted: Score, text: dict[str, Any], span: dict[str, Any], hits: Sequence[Found]) -> None:
    key = (span["kind"], text["language"])
    counted.spans[key] += 1
    covering = [hit for hit in hits if hit.start <= span["start"] and span["end"] <= hit.end]
    named = [hit for hit in covering if hit.kind == span["kind"]]
    if named:
        counted.found[key] += 1
        if span["start"] - named[0].start > SLACK or named[0].end - span["end"] > SLACK:
            counted.too_wide.append(f"{text['id']} ({span['kind']})")
    elif covering:
        counted.wrong_kind.append(f"{text['id']} ({span['kind']} as {covering[0].kind})")
    else:
        counted.missed.append(f"{text['id']} ({span['kind']})")


def _touches(hit: Found, span: dict[str, Any]) -> bool:
    return bool(hit.start < span["end"] and span["start"] < hit.end)


def by(counted: Score, place: int) -> list[tuple[str, int, int]]:
    """Found and labelled by kind (0) or by language (1)."""
    names = sorted({key[place] for key in counted.spans})
    return [
        (
            name,
            sum(count for key, count in counted.found.items() if key[place] == name),
            sum(count for key, count in counted.spans.items() if key[place] == name),
        )
        for name in names
    ]


def report(half: str, counted: Score) -> str:
    lines = [f"{half}: recall {counted.recall:.3f} ({counted.found.total()} of {counted.spans.total()})"]
    for place in (0, 1):
        lines += [f"  {name:18} {found:3} of {of:3}" for name, found, of in by(counted, place)]
    lines.append(f"false hits in {len(counted.clean_with_false_hits)} of {counted.clean} clean texts")
    for name in ("missed", "wrong_kind", "too_wide", "clean_with_false_hits", "false_hits_elsewhere"):
        lines.append(f"  {name}: {'; '.join(getattr(counted, name)) or 'none'}")
    return "\n".join(lines)


def table(scores: dict[str, Score]) -> str:
    """The figures of the files as Markdown."""
    kinds, languages = _counts(scores, 0), _counts(scores, 1)
    totals = [f"**{each.recall:.3f}** ({each.found.total()} of {each.spans.total()})" for each in scores.values()]
    lists = [
        _row(name.replace("_", " "), [str(len(getattr(each, name))) for each in scores.values()])
        for name in ("wrong_kind", "too_wide", "false_hits_elsewhere")
    ]
    clean = [f"{len(each.clean_with_false_hits)} of {each.clean}" for each in scores.values()]
    head = [half.replace("_", " ") for half in scores]
    rule = f"|---{'|---' * len(scores)}|"
    lines = [_row("kind", head), rule, *kinds, _row("**recall**", totals), *lists]
    lines += [_row("clean texts with a false hit", clean), "", _row("language", head), rule, *languages, ""]
    return "\n".join(lines)


def _counts(scores: dict[str, Score], place: int) -> list[str]:
    cells = [{name: f"{found} of {of}" for name, found, of in by(counted, place)} for counted in scores.values()]
    return [
        _row(name, [each.get(name, "-") for each in cells])
        for name in sorted({name for each in cells for name in each})
    ]


def _row(name: str, cells: list[str]) -> str:
    return f"| {name} | {' | '.join(cells)} |"


def written_into(page: str, figures: str) -> str:
    """``page`` with ``figures`` between its markers."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{figures}\n{END}{after}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.content.scoring", description=__doc__)
    parser.add_argument("files", nargs="*", metavar="|".join(FILES))
    parser.add_argument("--write", action="store_true", help=f"put the figures of all into {PAGE.name}")
    arguments = parser.parse_args()
    if unknown := set(arguments.files) - set(FILES):
        parser.error(f"no such file: {', '.join(sorted(unknown))}")
    files = FILES if arguments.write else arguments.files or FILES
    scores = {file: score(labelled(file), find) for file in files}
    for half, counted in scores.items():
        print(report(half, counted))
    if arguments.write:
        PAGE.write_text(written_into(PAGE.read_text(encoding="utf-8"), table(scores)), encoding="utf-8")


if __name__ == "__main__":
    main()
