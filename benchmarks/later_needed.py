"""What a later turn of a conversation needs of an earlier one, as its gold says: for the evaluation of what is dropped.

SGD: a service call uses values of slots; each was told, picked or offered in some turn before it. Where several turns
say the value, the newest of them counts: whoever holds that one has it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from agent.core.turn import SessionTurn
from benchmarks.sgd_dialogs import Dialog, dialogs

_GIVEN: frozenset[str] = frozenset({"INFORM", "SELECT", "OFFER", "CONFIRM"})


class Need(NamedTuple):
    """The call at the place ``by`` needs what the turn at the place ``given`` says."""

    given: int
    by: int


class Needs(NamedTuple):
    """A conversation and what its calls need, in the order of the calls; places are places in ``turns``."""

    turns: tuple[SessionTurn, ...]
    needed: tuple[Need, ...]


def sgd_needs(data: Path) -> Iterator[Needs]:
    """The dialogs of SGD in the folder ``data``, one by one; ones without a call that needs anything are left out."""
    for dialog in dialogs(data):
        needed = tuple(dict.fromkeys(_needs(dialog)))
        if needed:
            yield Needs(dialog.turns, needed)


def _needs(dialog: Dialog) -> Iterator[Need]:
    given: dict[str, int] = {}
    for place, turn in zip(dialog.places, dialog.source, strict=True):
        # The calls stand before what is said of them, two turns each.
        calls = [frame["service_call"] for frame in turn["frames"] if "service_call" in frame]
        for number, call in enumerate(calls):
            by = place - 2 * (len(calls) - number)
            for value in call["parameters"].values():
                if _form(value) in given:
                    yield Need(given[_form(value)], by)
        for frame in turn["frames"]:
            for action in frame["actions"]:
                if action["act"] in _GIVEN:
                    for value in (*action["values"], *action["canonical_values"]):
                        given[_form(value)] = place


def _form(value: Any) -> str:
    return " ".join(str(value).casefold().split())
