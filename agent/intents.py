"""Reads the file that INTENTS_CONFIG names: the hints for parameters that are asked for, and which are redacted.

A bad file is refused whole, at start, with the path inside of it and never a value of it: members that nobody knows and
names that stand twice too, so that a typing error is no parameter without its redaction. ``intents`` is let be: the
orchestrator's own part of the same file.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from agent.core.waiting.hint import MAX_ATTEMPTS, Hint, Hints, Listed
from agent.errors import ConfigurationError

if TYPE_CHECKING:
    import yaml

VARIABLE: Final = "INTENTS_CONFIG"
_MEMBERS: Final = frozenset({"param_mapping", "redaction", "max_attempts", "intents"})
_TEXTS: Final = ("type", "pattern", "prompt", "description")
_LARGEST: Final = 1 << 20
_LONGEST_KEY: Final = 64
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
    hints = {name: _hint(name, member, _under("$.param_mapping", name)) for name, member in params.items()}
    redaction = _mapping(root.get("redaction", {}), "$.redaction", frozenset({"params"}))
    redacted = _listed(redaction.get("params", []), "$.redaction.params", of_text=True)
    attempts = root.get("max_attempts", MAX_ATTEMPTS)
    if type(attempts) is not int or not 1 <= attempts <= _MOST_ATTEMPTS:
        raise _refused("$.max_attempts", f"must be a whole number from 1 to {_MOST_ATTEMPTS}")
    return Intents(Hints(hints, attempts), frozenset(map(str, redacted)))


def _document(path: Path) -> object:
    # Late: only a process that has such a file pays for reading YAML.
    import yaml

    try:
        with path.open("rb") as file:
            text = file.read(_LARGEST + 1)
    except OSError:
        raise ConfigurationError(VARIABLE, "the file cannot be read") from None
    if len(text) > _LARGEST:
        raise ConfigurationError(VARIABLE, f"the file is larger than {_LARGEST} bytes")
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        if node is not None:
            _refuse_doubles(node)
        return yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = "" if mark is None else f" at line {mark.line + 1}, column {mark.column + 1}"
        raise ConfigurationError(VARIABLE, f"the file is no YAML{where}") from None
    except (yaml.YAMLError, ValueError, RecursionError):
        raise ConfigurationError(VARIABLE, "the file is no YAML of plain values") from None


def _refuse_doubles(root: yaml.Node) -> None:
    """YAML's own reader keeps the last of two members with one name, and says nothing."""
    from yaml import MappingNode, ScalarNode

    # A node that an alias names again is looked at once.
    seen: set[int] = set()
    nodes: list[tuple[yaml.Node, str]] = [(root, "$")]
    while nodes:
        node, path = nodes.pop()
        if id(node) in seen or not isinstance(node, MappingNode):
            continue
        seen.add(id(node))
        names: set[str] = set()
        for name, member in node.value:
            if isinstance(name, ScalarNode):
                under = _under(path, name.value)
                if name.value in names:
                    raise _refused(under, "stands twice")
                names.add(name.value)
                nodes.append((member, under))


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
            raise _refused(f"{path}[{place}]", f"must be {kinds}; yes, no, on, off and dates are text in quotes")
        if each == "" or (isinstance(each, float) and not isfinite(each)):
            raise _refused(f"{path}[{place}]", "must be neither empty nor infinite")
    return member


def _mapping(member: object, path: str, members: frozenset[str] | None = None) -> Mapping[str, Any]:
    """``member`` as a mapping with names of text, of ``members`` where they are given."""
    if not isinstance(member, dict):
        raise _refused(path, "must be a mapping")
    for name in member:
        if not isinstance(name, str) or not name:
            raise _refused(path, "must have names of text; yes, no, on, off and numbers are text in quotes")
        if members is not None and name not in members:
            raise _refused(_under(path, name), f"is unknown; there are {', '.join(sorted(members))}")
    return member


def _under(path: str, name: str) -> str:
    return f"{path}.{name[:_LONGEST_KEY]}"


def _refused(path: str, problem: str) -> ConfigurationError:
    return ConfigurationError(VARIABLE, f"{path}: {problem}")
