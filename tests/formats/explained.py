"""In what two sessions differ that should say the same, and which of it a format counted as lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agent.formats.writing import Session
from tests.formats.round_trips import spoken

_ARGUMENTS = frozenset({"arguments", "odd_arguments", "json_texts", "calls_without_arguments", "null_arguments"})
# What may differ where one of these kinds was counted.
EXPLAINED: dict[str, frozenset[str]] = {
    "turns": frozenset({"several_results", "roles", "empty_messages", "system_turns"}),
    "texts": frozenset(),
    "calls": frozenset({"calls_of_others"}),
    "call ids": frozenset({"odd_call_ids", "repeated_call_ids", "results_without_call"}),
    "tool names": frozenset({"odd_tool_names", "results_without_call"}),
    "arguments": _ARGUMENTS,
    "results": frozenset({"several_results", "results_without_call"}),
    "success": frozenset({"success"}),
}
_OF_CALLS = ("call ids", "tool names", "arguments")
_OF_RESULTS = ("call ids", "tool names", "success")


def told(session: Session) -> list[dict[str, Any]]:
    """What is spoken, but for ids of turns: only some formats have them."""
    return [{name: value for name, value in turn.items() if name != "native_id"} for turn in spoken(session)]


def joined(turns: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """``turns`` with those of the assistant that follow one another made one."""
    found: list[dict[str, Any]] = []
    for turn in turns:
        if found and turn["role"] == found[-1]["role"] == "assistant":
            texts = [each["content"] for each in (found[-1], turn) if each["content"]]
            found[-1] = {**found[-1], "content": "\n".join(texts), "calls": [*found[-1]["calls"], *turn["calls"]]}
        else:
            found.append(turn)
    return found


def unexplained(one: Session, other: Session, lost: Mapping[str, int]) -> list[str]:
    """The differences that nothing was counted for.

    Of split turns, what they say together still has to be the same; of calls out of order, the calls.
    """
    turns, others = told(one), told(other)
    if lost.keys() & {"split_turns", "joined_turns"}:
        turns, others = joined(turns), joined(others)
    if "call_order" in lost:
        turns, others = (
            [{**turn, "calls": sorted(turn["calls"], key=repr)} for turn in side] for side in (turns, others)
        )
    return sorted({each for each in differences(turns, others) if not EXPLAINED[each] & lost.keys()})


def differences(one: list[dict[str, Any]], other: list[dict[str, Any]]) -> Iterator[str]:
    """In what two conversations differ, by the names of ``EXPLAINED``."""
    if [turn["role"] for turn in one] != [turn["role"] for turn in other]:
        yield "turns"
        return
    pairs = list(zip(one, other, strict=True))
    if any(a["content"] != b["content"] for a, b in pairs):
        yield "texts"
    for member, names in (("calls", _OF_CALLS), ("results", _OF_RESULTS)):
        if any(len(a[member]) != len(b[member]) for a, b in pairs):
            yield member
            continue
        both = [entries for a, b in pairs for entries in zip(a[member], b[member], strict=True)]
        # repr: 1, 1.0 and true are three things.
        yield from (name for place, name in enumerate(names) if any(repr(x[place]) != repr(y[place]) for x, y in both))
