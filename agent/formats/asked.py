"""Where a foreign document says how it is to be captured: ``capture_options``, at its top or around its conversation.

Its place is the top of the body. People put it beside or into what wraps a conversation, and into the request of a
recorded call, too: there it counts as well, since a request for less content must not get lost. In messages, arguments
and the like it is content.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from agent.core.capture_options import CAPTURE_OPTIONS, CONTENT_MODES, joined, passed_over
from agent.core.json_path import json_path
from agent.errors import Problem
from agent.formats.conversation.recording import INTERACTIONS, body_of
from agent.formats.wrappers import INNER

_BOOLEANS: Final = ("create_lineage", "extract_entities", "compute_embeddings", "derive_ids")
# A body may stand in any of these, and be JSON in a string there.
_AROUND: Final = (*INNER, "request")


class Place(NamedTuple):
    """Options as they were found, whatever they are, and the path to them."""

    path: str
    options: Any


def places(document: Any, way: Sequence[str] = (), at: str = "$") -> Iterator[Place]:
    """All ``capture_options`` of ``document``, the outermost first. Below its top, null is none.

    ``way`` are the names that lead to its conversation, where somebody said so.
    """
    if not isinstance(document, dict):
        return
    if CAPTURE_OPTIONS in document and (at == "$" or document[CAPTURE_OPTIONS] is not None):
        yield Place(f"{at}.{CAPTURE_OPTIONS}", document[CAPTURE_OPTIONS])
    for name in dict.fromkeys((*_AROUND, *way[:1])):
        inner = document.get(name)
        if isinstance(inner, str) and CAPTURE_OPTIONS in inner:
            inner = body_of(inner)
        rest = way[1:] if name in way[:1] else ()
        yield from places(inner, rest, at + json_path((name,)).removeprefix("$"))
    calls = document.get(INTERACTIONS)
    for index, call in enumerate(calls if isinstance(calls, list) else ()):
        yield from places(call, (), f"{at}.{INTERACTIONS}[{index}]")


def asked(document: Any, way: Sequence[str] = ()) -> tuple[Any, list[Problem]]:
    """The options of ``document`` in all, None where it has none; and the warnings about those that give way."""
    options = None
    warnings: list[Problem] = []
    for place in places(document, way):
        warnings += passed_over(options, place.options, place.path)
        options = joined(options, place.options)
    return options, warnings


def wrong_options(document: Any, way: Sequence[str] = ()) -> list[Problem]:
    """What is wrong with the ``capture_options`` of ``document``, by their paths."""
    return [problem for place in places(document, way) for problem in _wrong(place)]


def _wrong(place: Place) -> list[Problem]:
    path, options = place
    if not isinstance(options, dict):
        return [Problem(path, "type")]
    problems = [
        Problem(f"{path}.{name}", "type") for name in _BOOLEANS if not isinstance(options.get(name, False), bool)
    ]
    content = options.get("content", "full")
    if content not in CONTENT_MODES:
        problems.append(Problem(f"{path}.content", "enum" if isinstance(content, str) else "type"))
    return problems
