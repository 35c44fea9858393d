"""An event's body without turns that are erased, or without all that it says beside its turns (CONTRACT 10a).

Own turns keep their places as skeletons, since other events refer to them. References lose what they said of the
turn's derived members. Nodes and edges stay what they were: they go on being made of the inputs where skeletons make
the same, and are put into the rest before the first turn goes where they do not.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Final

from store.log.envelope import encode_sent, parse_kept
from store.log.event_body import OpenBody, Rest, entity_turns, with_graph, without_entities
from store.log.layout import VARIANT, Layout, OwnTurn, Reference
from store.log.skeleton import skeleton
from store.privacy.kept_graph import Place, is_in_doubt, lost_names, same_graph
from store.privacy.reduced import reduced

Texts = Callable[[OpenBody], list[bytes]]

_ENTITIES: Final = b'"entities"'


@dataclass(frozen=True, slots=True)
class Gone:
    """The turns that go, ``turn_ids``: each place of an own text of theirs, with the turn's id.

    ``names``: what their skeletons do not say of the graph, the names of invocations that are no ids.
    """

    turn_ids: frozenset[bytes]
    places: dict[Place, bytes]
    names: dict[Place, frozenset[str]]

    def named_by(self, body: OpenBody, position: int) -> frozenset[Place]:
        """The places of those that the event at ``position`` names."""
        own = ((position, index) for index in range(len(body.own)))
        referred = (turn[:2] for turn in body.layout.turns if turn is not None)
        # (A generator, since a grown snapshot refers to thousands.)
        return frozenset(place for place in chain(own, referred) if place in self.places)


def without_turns(body: OpenBody, position: int, gone: Gone, texts: Texts) -> OpenBody:
    """The body without the turns that go, and without what was found in them; itself where it says nothing of them.

    ``texts`` gives all turns of a body.
    """
    named = gone.named_by(body, position)
    less = _with_skeletons(body, position, named, gone, texts) if named else body
    if _ENTITIES in less.rest.text and less.rest.has_turns:
        less = _without_entities(less, {gone.places[place] for place in named}, gone)
    return less


def _with_skeletons(body: OpenBody, position: int, named: frozenset[Place], gone: Gone, texts: Texts) -> OpenBody:
    own = tuple(emptied(turn) if (position, index) in named else turn for index, turn in enumerate(body.own))
    less = replace(body, own=own, layout=_bare(body.layout, named))
    names = frozenset[str]().union(*(gone.names[place] for place in named if place in gone.names))
    if body.rest.graph_at is not None and (names or is_in_doubt(body.layout)):
        less = _with_same_graph(less, texts(body), _after(less, texts(less), named))
    return _without_nodes(less, names)


def without_all_else(body: OpenBody, texts: Texts) -> OpenBody:
    """The body with the turns that stand elsewhere, and of all else what ``store.privacy.reduced`` leaves.

    What it said of them in words of its own goes too: a form that is not the turn's (a narrower one, CONTRACT 8), and
    the derived members.
    """
    if not body.rest.has_turns:
        return without_payload(body)
    body = _without_words_of_its_own(body, texts)
    if (
        body.rest.graph_at is not None
        and _inputs(body).get("capture_options", {}).get("create_lineage", True) is not True
    ):
        # Whether there is lineage is said by what goes.
        body = replace(body, rest=with_graph(body, texts(body)))
    document = reduced(parse_kept(body.rest.text), makes_turns=True)
    return replace(body, rest=_rest(document, graph_is_made=body.rest.graph_at is not None))


def without_payload(body: OpenBody) -> OpenBody:
    """The same of an event that makes no turns."""
    document = reduced(parse_kept(body.rest.text), makes_turns=False)
    return replace(body, rest=Rest(encode_sent(document), None, has_turns=False))


def _without_words_of_its_own(body: OpenBody, texts: Texts) -> OpenBody:
    layout = _bare(body.layout, None)
    if VARIANT not in layout.kinds and layout is body.layout:
        return body
    variants = [parse_kept(turn.head + turn.tail) for turn in body.own if turn.kind == VARIANT]
    own = tuple(emptied(turn) if turn.kind == VARIANT else turn for turn in body.own)
    less = replace(body, own=own, layout=layout)
    if body.rest.graph_at is not None:
        less = _with_same_graph(less, texts(body), texts(less))
    return _without_nodes(less, frozenset[str]().union(*map(lost_names, variants)))


def _bare(layout: Layout, named: frozenset[Place] | None) -> Layout:
    """The layout without what references to these (None: any) say of derived members; itself where none does."""
    if not any(turn is not None and (turn.without or turn.members) for turn in layout.turns):
        return layout
    turns = (
        Reference(*turn[:2]) if turn is not None and (named is None or turn[:2] in named) else turn
        for turn in layout.turns
    )
    return replace(layout, turns=tuple(turns))


def emptied(turn: OwnTurn) -> OwnTurn:
    """An own turn's skeleton in its place."""
    return OwnTurn(turn.kind, *skeleton(parse_kept(turn.head + turn.tail)))


def _after(less: OpenBody, texts: Sequence[bytes], named: frozenset[Place]) -> list[bytes]:
    """The ``texts`` of its turns when those that it refers to are gone too; older events still have them."""
    pairs = zip(texts, less.layout.turns, strict=True)
    return [
        text if turn is None or turn[:2] not in named else b"".join(skeleton(parse_kept(text))) for text, turn in pairs
    ]


def _with_same_graph(less: OpenBody, before: Sequence[bytes], after: Sequence[bytes]) -> OpenBody:
    """``less`` with the graph of the turns ``before`` in its rest, where those ``after`` would make another."""
    return less if same_graph(_inputs(less), before, after) else replace(less, rest=with_graph(less, before))


def _without_nodes(body: OpenBody, names: frozenset[str]) -> OpenBody:
    """The body without the nodes of these names and their edges, where nodes and edges stand in the rest."""
    if not names or body.rest.graph_at is not None:
        return body
    document = parse_kept(body.rest.text)
    outputs = document["payload"].get("outputs")
    if not isinstance(outputs, dict):
        return body
    for member in ("nodes_created", "edges_created"):
        entries = outputs.get(member)
        if isinstance(entries, list):
            outputs[member] = [entry for entry in entries if names.isdisjoint(_texts_in(entry))]
    return replace(body, rest=_rest(document, graph_is_made=False))


def _texts_in(entry: Any) -> list[str]:
    values = entry.values() if isinstance(entry, dict) else (entry,)
    return [value.lower() for value in values if isinstance(value, str)]


def _inputs(body: OpenBody) -> dict[str, Any]:
    """The inputs beside the turns."""
    inputs: dict[str, Any] = parse_kept(body.rest.text)["payload"]["inputs"]
    return inputs


def _without_entities(body: OpenBody, named: Collection[bytes], gone: Gone) -> OpenBody:
    """Without the entities of the turns that go. ``named`` are those of this event; another writer's may name more."""
    document = parse_kept(body.rest.text)
    payload = document["payload"]
    outputs = payload.get("outputs")
    going = {*named, *(entity_turns(outputs) & gone.turn_ids)}
    less = without_entities(outputs, going)
    if less is outputs:
        return body
    payload["outputs"] = less
    return replace(body, rest=_rest(document, graph_is_made=body.rest.graph_at is not None))


def _rest(document: dict[str, Any], *, graph_is_made: bool) -> Rest:
    """The rest of a capture as ``store.log.event_body`` lays it out: outputs last but one, inputs last."""
    payload = document["payload"]
    others = {name: value for name, value in payload.items() if name not in ("inputs", "outputs")}
    members = {name: value for name, value in document.items() if name != "payload"}
    text = encode_sent({**members, "payload": others})[:-2] + (b"," if others else b"")
    graph_at = None
    if "outputs" in payload:
        text += b'"outputs":' + encode_sent(payload["outputs"])
        graph_at = len(text) - 1 if graph_is_made else None
        text += b","
    return Rest(text + b'"inputs":' + encode_sent(payload["inputs"]) + b"}}", graph_at, has_turns=True)
