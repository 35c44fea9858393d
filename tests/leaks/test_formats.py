"""Canaries in every string of real documents in every format: taken or refused, nothing is told of them."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from agent.formats import READS
from tests.formats.corpus import OURS, documents
from tests.leaks.canaries import ALL, first_found
from tests.leaks.doors import without_paths
from tests.leaks.world import SESSION, World

# One string at a time says which; where a document has more, those at even distances.
PLACES = 40

Place = tuple[str | int, ...]


def smallest(form: str, world: World) -> Any:
    """The smallest document of tests/data in a format that a capture takes: one conversation."""
    found = [each.document for each in documents(OURS, form)]
    # A file of several conversations is cut before it is posted.
    found += [document[:1] for document in found if isinstance(document, list)]
    return next(
        document
        for document in sorted(found, key=lambda document: len(json.dumps(document)))
        if posted(world, form, document) == 200
    )


def strings(value: Any, place: Place = ()) -> Iterator[Place]:
    """Where the strings of a document are."""
    if isinstance(value, str):
        yield place
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from strings(each, (*place, name))
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from strings(each, (*place, number))


def planted(document: Any, places: list[Place]) -> Any:
    """``document`` with all canaries behind the strings in ``places``."""
    whole = {"whole": copy.deepcopy(document)}
    for place in places:
        *way, last = ("whole", *place)
        holder: Any = whole
        for step in way:
            holder = holder[step]
        holder[last] += f" {ALL}"
    return whole["whole"]


def renamed(value: Any) -> Any:
    """``value`` with a member more in each object, whose name is all canaries."""
    if isinstance(value, dict):
        return {**{name: renamed(each) for name, each in value.items()}, ALL: ALL}
    return [renamed(each) for each in value] if isinstance(value, list) else value


def posted(world: World, form: str, document: Any) -> int:
    members = document if isinstance(document, dict) else {"conversation": document}
    body = {"session_id": f"{SESSION} {form}"} | members
    answer = world.post(body, query=f"format={form}")
    told = without_paths(answer.get_data()) if answer.status_code >= 400 else ""
    assert first_found(told + repr(dict(answer.headers))) is None
    return answer.status_code


@pytest.mark.parametrize("form", READS)
def test_a_document_tells_nothing_of_what_stands_in_it(form: str, world: World) -> None:
    document = smallest(form, world)
    places = list(strings(document))
    chosen = places[:: max(1, len(places) // PLACES)]
    statuses = [posted(world, form, planted(document, [place])) for place in chosen]
    statuses += [posted(world, form, planted(document, places)), posted(world, form, renamed(document))]
    assert set(statuses) <= {200, 400}, statuses
    assert 200 in statuses
