"""Reads the file that INTENTS_CONFIG names: the hints for parameters that are asked for, and which are redacted.

A bad file is refused whole, at start, with the path inside of it and never a value of it: members that nobody knows and
names that stand twice too, so that a typing error is no parameter without its redaction. ``intents`` is let be: the
orchestrator's own part of the same file.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from agent.core.waiting.hint import MAX_ATTEMPTS, Hint, Hints, Listed
from agent.errors import ConfigurationError
from agent.plain_yaml import plain_values, under

VARIABLE: Final = "INTENTS_CONFIG"
_MEMBERS: Final = frozenset({"param_mapping", "redaction", "max_attempts", "intents"})
_TEXTS: Final = ("type", "pattern", "prompt", "description")
_LARGEST: Final = 1 << 17
# In all lists together: one that is referred to counts each time.
_MOST_VALUES: Final = 20_000
_MOST_ATTEMPTS: Final = 100


class Intents(NamedTuple):
    """What the file says: ``hints`` to read answers by, and the parameters whose values are redacted when captured."""

    hints: Hints
    redacted_params: frozenset[str]


NO_INTENTS: Final = Intents(Hints(), frozenset())


def load_intents(path: str | Path) -> Intents:
    """Read the file at ``path``. Raises ConfigurationError, which names the place inside of it."""
    document = _document(Path(path))
    root = _mapping(document, "$", _MEMBERS)
    params = _mapping(root.get("param_mapping", {}), "$.param_mapping")
    hints = _hints(params)
    redaction = _mapping(root.get("redaction", {}), "$.redaction", frozenset({"params"}))
    redacted = _listed(redaction.get("params", []), "$.redaction.params", of_text=True)
    attempts = root.get("max_attempts", MAX_ATTEMPTS)
    if type(attempts) is not int or not 1 <= attempts <= _MOST_ATTEMPTS:
        raise _refused("$.max_attempts", f"must be a whole number from 1 to {_MOST_ATTEMPTS}")
    return Intents(Hints(hints, attempts), frozenset(map(str, redacted)))


def _document(path: Path) -> object:
    try:
        with path.open("rb") as file:
            text = file.read(_LARGEST + 1)
    except (OSError, ValueError):
        raise ConfigurationError(VARIABLE, "the file cannot be read") from None
    if len(text) > _LARGEST:
        raise ConfigurationError(VARIABLE, f"the file is larger than {_LARGEST} bytes")
    return plain_values(text, VARIABLE, left="intents")


def _hints(params: Mapping[str, Any]) -> dict[str, Hint]:
    hints = {}
    count = 0
    for name, member in params.items():
        hints[name] = _hint(name, member, under("$.param_mapping", name))
        count += len(hints[name].values) + len(hints[name].examples)
        if count > _MOST_VALUES:
            raise _refused("$.param_mapping", f"has more than {_MOST_VALUES} values and examples")
    return hints


def _hint(name: str, member: object, path: str) -> Hint:
    given = _mapping(member, path, frozenset((*_TEXTS, "values", "examples")))
    for each in _TEXTS:
        if given.get(each) is not None and not isinstance(given[each], str):
            raise _refused(f"{path}.{each}", "must be text")
    values, examples = (tuple(_listed(given.get(each, []), f"{path}.{each}")) for each in ("values", "examples"))
    try:
        return Hint(name, values=values, examples=examples, **{each: given.get(each) for each in _TEXTS})
    except ValueError as error:
        where, _, problem = str(error).partition(": ")
        raise _refused(f"{path}.{where}", problem) from None


def _listed(member: object, path: str, *, of_text: bool = False) -> list[Listed]:
    if not isinstance(member, list):
        raise _refused(path, "must be a list")
    for place, each in enumerate(member):
        if isinstance(each, bool) or not isinstance(each, str if of_text else str | int | float):
            kinds = "text" if of_text else "text or a number"
            raise _refused(f"{path}[{place}]", f"must be {kinds}; true and false are text in quotes")
    return member


def _mapping(member: object, path: str, members: frozenset[str] | None = None) -> Mapping[str, Any]:
    """``member`` as a mapping with names of text, of ``members`` where they are given."""
    if not isinstance(member, dict):
        raise _refused(path, "must be a mapping")
    for name in member:
        if not isinstance(name, str) or not name:
            raise _refused(path, "must have names of text; numbers and true and false are text in quotes")
        if members is not None and name not in members:
            raise _refused(under(path, name), f"is unknown; there are {', '.join(sorted(members))}")
    return member


def _refused(path: str, problem: str) -> ConfigurationError:
    return ConfigurationError(VARIABLE, f"{path}: {problem}")
