"""Where a foreign document says how it is to be captured: ``capture_options``, at its top or around its conversation.

Its place is the top of the body. People put it beside or into what wraps a conversation, and into the request of a
recorded call, too: there an object counts as well, since a request for less content must not get lost. In messages,
arguments and the like it is content.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from agent.core.capture_options import CAPTURE_OPTIONS, CONTENT_MODES, joined, passed_over
from agent.core.json_bounds import MAX_DEPTH, MAX_VALUES, has_too_many_values, is_too_deep
from agent.core.json_path import json_path
from agent.errors import PayloadTooLarge, Problem, ValidationError
from agent.formats.conversation.recording import INTERACTIONS, body_of
from agent.formats.wrappers import INNER

_BOOLEANS: Final = ("create_lineage", "extract_entities", "compute_embeddings", "derive_ids")
# A body may stand in any of these, and be JSON in a string there.
_AROUND: Final = (*INNER, "request")
_PAYLOAD: Final = "$.payload"
_TOO_DEEP: Final = Problem("$", "depth")


class Place(NamedTuple):
    """Options as they were found, whatever they are, and the path to them."""

    path: str
    options: Any


class _Around(NamedTuple):
    """What may hold options, its path, how many levels are around it, and the names that lead on from it."""

    document: Any
    path: str
    depth: int
    way: Sequence[str]


def places(document: Any, way: Sequence[str] = (), *, is_bounded: bool = True) -> Iterator[Place]:
    """All ``capture_options`` of ``document``, the outermost first, those in JSON texts last.

    ``way`` are the names that lead to its conversation, where somebody said so. At the top, and at that of a payload,
    whatever is called so counts; below, only an object does. Raises ValidationError where they may stand deeper than
    128 levels, those of texts in it counted on; PayloadTooLarge for a text of more than 250 000 values, if bounded.
    """
    texts = deque([_Around(document, "$", 0, way)] if isinstance(document, dict) else ())
    while texts:
        # One tree at a time: of texts within texts none is held while the next is read.
        at = texts.popleft()
        if isinstance(at.document, str):
            at = at._replace(document=_body(at.document, at.path, is_bounded=is_bounded))
        branches = [iter((at,))]
        del at
        while branches:
            inner = next(branches[-1], None)
            if inner is None:
                branches.pop()
            elif isinstance(inner.document, str):
                if CAPTURE_OPTIONS in inner.document:
                    texts.append(inner)
            elif isinstance(inner.document, dict):
                if inner.depth >= MAX_DEPTH:
                    raise ValidationError(f"the body is nested deeper than {MAX_DEPTH} levels", [_TOO_DEEP])
                yield from _own(inner)
                branches.append(_within(inner))


def _own(at: _Around) -> Iterator[Place]:
    options = at.document.get(CAPTURE_OPTIONS)
    if (
        isinstance(options, dict)
        or (at.path == "$" and CAPTURE_OPTIONS in at.document)
        or (at.path == _PAYLOAD and options is not None)
    ):
        yield Place(f"{at.path}.{CAPTURE_OPTIONS}", options)


def _within(at: _Around) -> Iterator[_Around]:
    """The members of ``at`` that a body may stand in."""
    for name in dict.fromkeys((*_AROUND, *at.way[:1])):
        inner = at.document.get(name)
        if isinstance(inner, dict | str):
            rest = at.way[1:] if name in at.way[:1] else ()
            yield _Around(inner, at.path + json_path((name,)).removeprefix("$"), at.depth + 1, rest)
    calls = at.document.get(INTERACTIONS)
    for index, call in enumerate(calls if isinstance(calls, list) else ()):
        if isinstance(call, dict):
            yield _Around(call, f"{at.path}.{INTERACTIONS}[{index}]", at.depth + 2, ())


def _body(text: str, path: str, *, is_bounded: bool) -> Any:
    """The object that ``text`` is; whatever else where it is none, and no reader would take it for one."""
    if not text.lstrip().startswith("{"):
        return None
    encoded = text.encode("utf-8", "surrogatepass")
    if is_bounded and has_too_many_values(encoded):
        raise PayloadTooLarge(f"a text in the body has more than {MAX_VALUES} JSON values", [Problem(path, "values")])
    document = body_of(text)
    if document is text and is_too_deep(encoded):
        # The parser gives up on it, and whoever asks for less in it would not be heard.
        raise ValidationError(f"a text in the body is nested deeper than {MAX_DEPTH} levels", [_TOO_DEEP])
    return None if document is text else document


def asked(said: Iterable[Place]) -> tuple[Any, list[Problem]]:
    """The options of a document in all, None where it has none; and the warnings about those that give way.

    ``said`` are its ``places``, to be read once for this and for ``wrong_options``.
    """
    options = None
    warnings: list[Problem] = []
    for place in said:
        warnings += passed_over(options, place.options, place.path)
        options = joined(options, place.options)
    return options, warnings


def wrong_options(said: Iterable[Place]) -> list[Problem]:
    """What is wrong with the ``capture_options`` of a document at its ``places``, by their paths."""
    return [problem for place in said for problem in _wrong(place)]


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
