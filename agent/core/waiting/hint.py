"""What is known of a parameter that may be asked for. It refuses a type that nobody reads, and a risky pattern.

A hint that gives no type, no pattern and no values says nothing of the value: nothing is ever read for it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from agent.core.waiting.pattern_risk import refused
from agent.core.waiting.words import FUNCTION_WORDS, MONEY, PEOPLE

Listed = str | int | float
# string: a short answer in words. digits: a number that is a name, as an account's: its leading zeros count.
TYPES: Final = ("string", "integer", "number", "digits", "date", "time", "boolean")
MAX_ATTEMPTS: Final = 3
# So many values or examples are shown when it is asked again.
_SHOWN: Final = 10
_WORD: Final = re.compile(r"[^\W\d_]{2,}")
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_COUNT_OF: Final = re.compile(r"\b(?:(?:number|count|amount) of|how many)\s+(?:the\s+)?(\w+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Hint:
    """One parameter. ``values`` are all that it can be; ``pattern`` is a regular expression for the whole value, or
    for more than it with the value in a group named ``value``. Raises ValueError, which names the member.
    """

    name: str
    type: str | None = None
    pattern: str | None = None
    values: tuple[Listed, ...] = ()
    examples: tuple[Listed, ...] = ()
    prompt: str | None = None
    description: str | None = None
    # The words of its name, and those of its description too, with and without a plural's s: what people call it.
    name_words: frozenset[str] = field(init=False, repr=False, compare=False)
    own_words: frozenset[str] = field(init=False, repr=False, compare=False)
    # What a number for it counts, by its name and by "number of ..." in its description.
    unit_words: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.type is not None and self.type not in TYPES:
            raise ValueError(f"type: must be one of {', '.join(TYPES)}")
        if self.pattern is not None and self.values:
            raise ValueError("pattern: stands beside values, which say already what there can be")
        if self.type == "boolean" and (self.pattern is not None or self.values):
            raise ValueError("type: a boolean is read as yes or no, without values and without a pattern")
        problem = None if self.pattern is None else refused(self.pattern)
        if problem is not None:
            raise ValueError(f"pattern: {problem}")
        for member in ("values", "examples"):
            _refuse_blank(member, getattr(self, member))
        _refuse_doubles(self.values)
        named = _words_of(self.name)
        described = frozenset(word for word in _words_of(self.description or "") if word not in FUNCTION_WORDS)
        object.__setattr__(self, "name_words", named)
        object.__setattr__(self, "own_words", (named - FUNCTION_WORDS) | described)
        counted = frozenset(form for word in _COUNT_OF.findall(self.description or "") for form in _forms(word.lower()))
        object.__setattr__(self, "unit_words", (named | counted) - FUNCTION_WORDS)

    @property
    def is_of_numbers(self) -> bool:
        """Whether its value is a number that is not from a list and has no pattern."""
        return self.type in {"integer", "number"} and not self.values and self.pattern is None

    @property
    def has_numbers(self) -> bool:
        """Whether numbers are among its listed values."""
        return any(not isinstance(value, str) or value.isdecimal() for value in self.values)

    @property
    def counts_people(self) -> bool:
        """Whether it says how many people there are: a price per passenger does not."""
        return bool(self.unit_words & PEOPLE) and not self.own_words & MONEY


def _no_hints() -> Mapping[str, Hint]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Hints:
    """The hints by parameter; from ``max_attempts`` attempts on, a question shows what an answer looks like."""

    params: Mapping[str, Hint] = field(default_factory=_no_hints)
    max_attempts: int = MAX_ATTEMPTS


def question(name: str, hint: Hint | None, *, showing: bool) -> str:
    """The words to ask for ``name`` again; ``showing`` adds the values that there are, or else the examples."""
    prompt = None if hint is None else hint.prompt
    asked = prompt or f"What is the {_spoken(name).strip() or 'value'}?"
    shown = (hint.values or hint.examples) if hint is not None and showing else ()
    if hint is None or not shown:
        return asked
    listed = ", ".join(str(each) for each in shown[:_SHOWN]) + (", ..." if len(shown) > _SHOWN else "")
    return f"{asked} ({listed})" if hint.values else f"{asked} (e.g. {listed})"


def is_one_of(word: str, words: frozenset[str]) -> bool:
    """Whether ``word``, or what it is the plural of, is one of ``words``."""
    return not words.isdisjoint(_forms(word.casefold()))


def _refuse_blank(member: str, listed: tuple[Listed, ...]) -> None:
    for place, each in enumerate(listed):
        if not str(each).strip():
            raise ValueError(f"{member}[{place}]: must not be blank")


def _refuse_doubles(values: tuple[Listed, ...]) -> None:
    """Which of two values that are said in the same words is meant, nobody could tell."""
    seen = set[str]()
    for place, each in enumerate(values):
        said = re.sub(r"[\s,.'&/-]+", " ", str(each).casefold()).strip() if isinstance(each, str) else f"{each:g}"
        said = said or str(each).strip()
        if said in seen:
            raise ValueError(f"values[{place}]: stands twice")
        seen.add(said)


def _words_of(text: str) -> frozenset[str]:
    return frozenset(form for word in _WORD.findall(_spoken(text)) for form in _forms(word))


def _forms(word: str) -> set[str]:
    if len(word) < 4 or not word.endswith("s") or word.endswith("ss"):
        return {word}
    return {word, word[:-1], f"{word[:-3]}y"} if word.endswith("ies") else {word, word[:-1]}


def _spoken(name: str) -> str:
    """``order_id``, ``orderId`` and ``order-id`` as people say it: ``order id``."""
    return re.sub(r"[\s_.-]+", " ", _CAMEL.sub(" ", name)).casefold()
