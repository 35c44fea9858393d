"""Replays as they are printed: documents, and lines for people. Ids, hashes and counts, and no content."""

from __future__ import annotations

from typing import Any, Final

from agent.core.difference import Difference, Kind, Side
from agent.core.replay import Reason, Replay, Verdict
from agent.recall.replay import Replayed, Replays

# What tells how an event is damaged; of one that is damaged all over, the first will do.
MOST_SHOWN: Final = 100
REASONS: Final = {
    Reason.ERASED: "its content is erased",
    Reason.NO_INPUTS: "it has no inputs",
    Reason.NOT_OURS: "it is of another agent, or of another decision",
    Reason.OTHER_WRITER: "another writer sent it: without a hash of its inputs, and with a graph of its own",
    Reason.NEWER_CONTRACT: "it keeps a later version of the contract than this release knows",
}
_KINDS: Final = {
    Kind.CHANGED: "is another",
    Kind.MISSING: "is missing",
    Kind.UNEXPECTED: "is there, which the inputs do not make",
    Kind.REPEATED: "is there twice",
    Kind.TURNED_ROUND: "is turned round",
    Kind.ORDER: "stand in another order",
    Kind.SHAPE: "is not of the contract's shape",
}


def document(replayed: Replayed) -> dict[str, Any]:
    """What is said of one event, but for what became of its copy."""
    found = replayed.replay
    told: dict[str, Any] = {"execution_ref": replayed.execution_ref, "position": replayed.position}
    told["verdict"] = found.verdict.value
    if found.reason is not None:
        told["reason"] = found.reason.value
    told["difference_count"] = len(found.differences)
    told["differences"] = [difference_document(each) for each in found.differences[:MOST_SHOWN]]
    return told


def difference_document(difference: Difference) -> dict[str, Any]:
    """One difference; ``subject`` where it is about a node or an edge."""
    told: dict[str, Any] = {
        "path": difference.path,
        "kind": difference.kind.value,
        "stored": difference.stored,
        "rebuilt": difference.rebuilt,
    }
    return {**told, "subject": difference.subject} if difference.subject else told


def counts_document(replays: Replays) -> dict[str, Any]:
    """How many events there were, how each kind of replay ended, and how many differences there are in all."""
    return {
        "events": replays.events,
        "verdicts": {verdict.value: replays.verdicts[verdict] for verdict in Verdict},
        "reasons": {reason.value: replays.reasons[reason] for reason in Reason},
        "difference_count": replays.differences,
    }


def verdict_text(found: Replay) -> str:
    """The verdict with its reason, or with the number of differences."""
    if found.verdict is Verdict.DIFFERS:
        count = len(found.differences)
        return f"differs in {count} place{'' if count == 1 else 's'}"
    return found.verdict.value if found.reason is None else f"not possible: {REASONS[found.reason]}"


def difference_text(difference: Difference) -> str:
    """What is the matter, with both sides where there are two."""
    what = f"{difference.subject} {_KINDS[difference.kind]}".lstrip()
    sides = [
        f"{name} {_side(side)}"
        for name, side in (("stored", difference.stored), ("rebuilt", difference.rebuilt))
        if side is not None
    ]
    return f"{what}: {', '.join(sides)}" if sides else what


def _side(side: Side) -> str:
    return "(none)" if side == "" else str(side)
