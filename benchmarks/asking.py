"""How well the message after a question is read as its answer: ``python -m benchmarks.asking [--shared DIR] [--tune]``.

The hints are made by rule from what a schema or a signature says (name, description, values, type), and none is written
for a conversation. The data are not ours to ship: without them this says so and ends. Not a figure of time.

SGD dialogs 1 to 22 are for tuning, 23 to 45 for the figures. Of each:
- asked: the system requests a slot; the user's next message is read for it. Gold is the state after that message.
- offered: the system offers or confirms a value, and the next message is read for that slot. Gold is what the user
  tells or picks there; a message about something else must leave it.
- amiss: every message of a user is read for each slot of its services that it does not tell. All that is filled is
  wrong. No agent asks like that: it shows how far a reading is from a guess.

BFCL: in each conversation the turn without a call is where the agent should ask. What was missing is each argument of
the next turn's calls that the next turn says: those that no earlier turn says, if there are any. In a conversation
without such an argument the value is not in the words, and every argument must be left.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from agent.core.memory import Memory
from agent.core.waiting import Hint, Hints, resolve

DIALOGS = "sgd__dev__45.jsonl"
SCHEMA = "sgd__dev__schema.json"
CALLS = "bfcl__multi_turn_miss_param__20.jsonl"
TUNED_ON = 22
_TRUTHS = {"True", "False"}
_WORD = re.compile(r"[a-z]+")


class Case(NamedTuple):
    """One message, read for one parameter. ``gold`` is what it says for it, each a way to say it; empty: nothing."""

    part: str
    hint: Hint
    text: str
    gold: tuple[str, ...]
    dialog: int

    @property
    def kind(self) -> str:
        return "listed" if self.hint.values else self.hint.type or "none"


class Outcome(NamedTuple):
    """What became of a case: ``right``, ``wrong`` or ``left``; ``value`` is what was filled."""

    case: Case
    verdict: str
    value: Any


def read(case: Case) -> Outcome:
    """Resolve one case as an agent would that had just asked."""
    name = case.hint.name
    resolution = resolve(Memory(waiting_for_param=name), case.text, Hints({name: case.hint}))
    if not resolution.cleared:
        return Outcome(case, "left", None)
    value = resolution.params[name]
    right = any(plain(value) == plain(gold) for gold in case.gold)
    return Outcome(case, "right" if right else "wrong", value)


def plain(value: object) -> str:
    """A value for comparison: without case, quotes and marks around it, and without an article."""
    text = unicodedata.normalize("NFKC", str(value)).casefold().strip(" .,!?'\"@#")
    return text.removeprefix("the ")


def hint_of(slot: Mapping[str, Any]) -> Hint:
    """The hint that a schema's slot makes: its values, or a type by the words of its name and description."""
    values, name, description = slot["possible_values"], slot["name"], slot["description"]
    if slot["is_categorical"] and set(values) == _TRUTHS:
        return Hint(name, "boolean", description=description)
    if slot["is_categorical"] and values:
        return Hint(name, values=tuple(values), description=description)
    return Hint(name, _type_of(_WORD.findall(name), _WORD.findall(description.lower())), description=description)


def _type_of(name: list[str], description: list[str]) -> str:
    if "name" in name or "name" in description[:1]:
        return "string"
    if "date" in name or "day" in name:
        return "date"
    if "time" in name:
        return "time"
    if "phone" in name:
        return "digits"
    if {"number", "count"} & {*name, *description[:1]}:
        return "integer"
    amounts = {"price", "cost", "amount", "rating", "percentage", "percent", "temperature", "speed", "fare", "balance"}
    return "number" if amounts & {*name, *description} else "string"


def sgd_cases(data: Path) -> Iterator[Case]:
    """The cases of all dialogs, numbered from 1."""
    schema = {service["service_name"]: service for service in json.loads((data / SCHEMA).read_text())}
    hints = {(service, slot["name"]): hint_of(slot) for service, each in schema.items() for slot in each["slots"]}
    for number, line in enumerate((data / DIALOGS).read_text().splitlines(), 1):
        turns = json.loads(line)["turns"]
        for turn, after in pairwise(turns):
            if turn["speaker"] == "SYSTEM" and after["speaker"] == "USER":
                yield from _after_the_system(turn, after, hints, number)
        for turn in turns:
            if turn["speaker"] == "USER":
                yield from _amiss(turn, schema, hints, number)


def _after_the_system(
    turn: dict[str, Any], after: dict[str, Any], hints: Mapping[tuple[str, str], Hint], number: int
) -> Iterator[Case]:
    for frame in turn["frames"]:
        service = frame["service"]
        told = _told(after, service)
        asked = {each["slot"] for each in frame["actions"] if each["act"] == "REQUEST"}
        offered = {each["slot"] for each in frame["actions"] if each["act"] in {"OFFER", "CONFIRM"}} - asked
        for part, slots in (("asked", asked), ("offered", offered)):
            for slot in sorted(slots):
                hint = hints.get((service, slot))
                if hint is not None:
                    gold = told.get(slot, ()) if part == "asked" or _tells(after, service, slot) else ()
                    yield Case(part, hint, after["utterance"], gold, number)


def _told(turn: dict[str, Any], service: str) -> dict[str, tuple[str, ...]]:
    """The slot values of the state after a user's turn."""
    for frame in turn["frames"]:
        if frame["service"] == service:
            values = frame["state"]["slot_values"]
            return {slot: tuple(each) for slot, each in values.items() if "dontcare" not in each}
    return {}


def _tells(turn: dict[str, Any], service: str, slot: str) -> bool:
    """Whether the user tells or picks a value of the slot in this turn, or agrees to one that is offered."""
    acts = [each for frame in turn["frames"] if frame["service"] == service for each in frame["actions"]]
    return any(each["act"] in {"INFORM", "SELECT"} and each["slot"] in {slot, ""} for each in acts) or any(
        each["act"] == "AFFIRM" for each in acts
    )


def _amiss(
    turn: dict[str, Any], schema: Mapping[str, Any], hints: Mapping[tuple[str, str], Hint], number: int
) -> Iterator[Case]:
    """A message for each slot that an intent of its services takes and that it does not tell."""
    for frame in turn["frames"]:
        service = frame["service"]
        told = {each["slot"] for each in frame["actions"]}
        taken = {
            slot
            for intent in schema[service]["intents"]
            for slot in (*intent["required_slots"], *intent["optional_slots"])
        }
        for slot in sorted(taken - told):
            yield Case("amiss", hints[service, slot], turn["utterance"], (), number)


def bfcl_cases(data: Path) -> Iterator[Case]:
    """For each conversation, the message after the turn that makes no call, for each argument that was missing."""
    for number, line in enumerate((data / CALLS).read_text().splitlines(), 1):
        conversation = json.loads(line)
        said = [" ".join(message["content"] for message in turn) for turn in conversation["question"]]
        place = conversation["ground_truth"].index([])
        arguments = _arguments(conversation["ground_truth"][place + 1])
        text, earlier = said[place + 1], " ".join(said[: place + 1])
        told = [each for each in arguments if _says(text, each[1])]
        missing = [each for each in told if not _says(earlier, each[1])] or told
        for name, value in missing or arguments:
            gold = tuple(map(str, value)) if isinstance(value, list) else (str(value),)
            part = "asked" if missing else "not in the words"
            yield Case(part, _signature_hint(name, value), text, gold if missing else (), number)


def _arguments(calls: list[str]) -> list[tuple[str, Any]]:
    """The named arguments of calls, each once."""
    found: dict[tuple[str, str], tuple[str, Any]] = {}
    for call in calls:
        tree = ast.parse(call, mode="eval").body
        for keyword in tree.keywords if isinstance(tree, ast.Call) else ():
            if keyword.arg is not None:
                value = ast.literal_eval(keyword.value)
                found[keyword.arg, repr(value)] = (keyword.arg, value)
    return list(found.values())


def _says(text: str, value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(_says(text, each) for each in value)
    if isinstance(value, bool):
        return False
    return re.search(rf"(?<!\w){re.escape(plain(value))}(?!\w)", plain(text)) is not None


def _signature_hint(name: str, value: Any) -> Hint:
    """What a signature says: the name and the type."""
    types = {bool: "boolean", int: "integer", float: "number"}
    return Hint(name, types.get(type(value), "string"))


def table(title: str, outcomes: list[Outcome]) -> str:
    """Counts by part and kind of parameter."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for each in outcomes:
        for kind in (each.case.kind, "all"):
            counts[each.case.part, kind, each.verdict] += 1
    lines = [title, f"{'':18}{'kind':9}{'cases':>7}{'right':>7}{'wrong':>7}{'left':>7}{'wrong %':>9}"]
    for part in dict.fromkeys(each.case.part for each in outcomes):
        kinds = sorted({each.case.kind for each in outcomes if each.case.part == part})
        for kind in [*kinds, "all"]:
            right, wrong, left = (counts[part, kind, verdict] for verdict in ("right", "wrong", "left"))
            cases = right + wrong + left
            lines.append(f"{part:18}{kind:9}{cases:7}{right:7}{wrong:7}{left:7}{wrong / cases:9.2%}")
    return "\n".join(lines)


def sgd_outcomes(data: Path, *, tuned: bool) -> list[Outcome]:
    """The outcomes of the dialogs that were tuned on, or of the others."""
    return [read(case) for case in sgd_cases(data) if (case.dialog <= TUNED_ON) is tuned]


def bfcl_outcomes(data: Path) -> list[Outcome]:
    return [read(case) for case in bfcl_cases(data)]


def _line(outcome: Outcome) -> str:
    case = outcome.case
    asked = f"{case.dialog:3} {case.part:8}{case.kind:8}{outcome.verdict:6}{case.hint.name}"
    return f"{asked}: {case.text!r} -> {outcome.value!r}, gold {case.gold}"


def main() -> int:
    """Print the figures; ``--tune`` prints the tuning dialogs case by case, and nothing of the others."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.asking", description=__doc__)
    default = os.environ.get("SHARED_DIR", Path(__file__).resolve().parents[2] / "shared")
    parser.add_argument("--shared", type=Path, default=Path(default), metavar="DIR", help="where the data folder is")
    parser.add_argument("--tune", action="store_true", help="look at the tuning dialogs case by case")
    arguments = parser.parse_args()
    data = arguments.shared / "data"
    absent = [name for name in (DIALOGS, SCHEMA, CALLS) if not (data / name).is_file()]
    if absent:
        print(f"skipped: no {', '.join(absent)} in {data} (--shared or SHARED_DIR names another place)")
        return 0
    tuned = sgd_outcomes(data, tuned=True)
    if arguments.tune:
        for each in tuned:
            if each.case.part != "amiss" or each.verdict == "wrong":
                print(_line(each))
    print(table(f"SGD, dialogs 1 to {TUNED_ON} (tuned on)", tuned))
    if not arguments.tune:
        print()
        print(table(f"SGD, dialogs {TUNED_ON + 1} to 45 (held out)", sgd_outcomes(data, tuned=False)))
        print()
        print(table("BFCL, missing parameters", bfcl_outcomes(data)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
