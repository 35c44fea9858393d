"""The chunks that a Chat Completions answer was streamed as, made the one answer that they are.

A delta only adds to its choice (OpenAI API reference, Chat Completions, streaming): texts grow, objects grow member by
member, lists go on, and the pieces of a call have its ``index``. What a chunk says of the answer or of a choice beside
its delta stands for itself, and may be said again in every chunk. Members that no reference names are merged likewise.

What has no place in the answer is counted: pieces of another type than those before them, second values of what an
answer has one of, and the padding that hides how long a text is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final

OTHER_TYPES: Final = "stream pieces of another type"
OTHER_VALUES: Final = "stream values said otherwise"
PADDINGS: Final = "stream paddings"

_PADDING: Final = "obfuscation"
# What there is one of, in however many pieces it is named.
_SAID_ONCE: Final = frozenset({"role", "type", "id", "name", "format", "object", "index"})
# What grows also by what it was last. Other strings that are always the same were one value, said with every piece.
_GROWING: Final = frozenset(
    {"content", "refusal", "reasoning", "reasoning_content", "thinking", "text"}
    | {"arguments", "input", "transcript", "data"}
)
# The deepest document that anybody takes (CONTRACT 2).
_MAX_DEPTH: Final = 128


def joined(chunks: Iterable[Any], left: Counter[str]) -> dict[str, Any]:
    """The ``chat.completion`` that ``chunks`` make: ``{}`` where they say nothing. Counts in ``left`` what it lacks."""
    said: dict[str, list[Any]] = {}
    choices: dict[int, dict[str, list[Any]]] = {}
    for chunk in _objects(chunks, left):
        _gather(said, {name: value for name, value in chunk.items() if name not in ("choices", _PADDING)})
        left[PADDINGS] += _PADDING in chunk
        listed = chunk.get("choices")
        if not isinstance(listed, list):
            left[OTHER_TYPES] += listed is not None
            continue
        for place, choice in enumerate(listed):
            if isinstance(choice, dict):
                index = choice.get("index")
                _gather(choices.setdefault(index if type(index) is int else place, {}), choice)
            else:
                left[OTHER_TYPES] += 1
    whole = {name: _merged(name, pieces, left, grows=False) for name, pieces in said.items()}
    if choices:
        whole["choices"] = [_choice(choices[index], left) for index in sorted(choices)]
    return whole


def _gather(members: dict[str, list[Any]], piece: Mapping[str, Any]) -> None:
    for name, value in piece.items():
        members.setdefault(name, []).append(value)


def _objects(pieces: Iterable[Any], left: Counter[str]) -> Iterator[dict[str, Any]]:
    for piece in pieces:
        if isinstance(piece, dict):
            yield piece
        else:
            left[OTHER_TYPES] += piece is not None


def _choice(members: dict[str, list[Any]], left: Counter[str]) -> dict[str, Any]:
    deltas = list(_objects(members.pop("delta", ()), left))
    choice = {name: _merged(name, pieces, left, grows=name == "logprobs") for name, pieces in members.items()}
    if deltas:
        grown = _object(deltas, left, 0, grows=True)
        # Who speaks is said in the first delta, or taken for granted.
        message = {**grown, "role": grown.get("role") or "assistant"}
        whole = choice.get("message")
        # Some end with the message as a whole.
        for name, value in whole.items() if isinstance(whole, dict) else ():
            left[OTHER_VALUES] += bool(message.get(name)) and message[name] != value
            if name not in message or (value and not message[name]):
                message[name] = value
        left[OTHER_TYPES] += whole is not None and not isinstance(whole, dict)
        choice["message"] = message
    return choice


def _merged(name: str, pieces: Sequence[Any], left: Counter[str], depth: int = 0, *, grows: bool) -> Any:
    """What ``pieces`` of the member ``name`` are together; ``grows``: each adds to those before, else it says all."""
    said = [piece for piece in pieces if piece is not None]
    # A number where others have a text, a list or an object, is the odd one.
    kind = next((type(piece) for piece in said if isinstance(piece, str | list | dict)), None)
    alike: list[Any] = [piece for piece in said if kind in (None, type(piece))]
    left[OTHER_TYPES] += len(said) - len(alike)
    if kind is list:
        return _list(name, alike, left, depth, grows=grows)
    if len(alike) < 2:
        return alike[0] if alike else None
    if kind is dict:
        return _object(alike, left, depth, grows=grows)
    if kind is str:
        return _text(name, alike, left, grows=grows)
    # Counts of the whole answer may go up with every chunk.
    left[OTHER_VALUES] += sum(piece != alike[-1] for piece in alike) if grows else 0
    return alike[-1]


def _object(pieces: Sequence[Mapping[str, Any]], left: Counter[str], depth: int, *, grows: bool) -> dict[str, Any]:
    if depth > _MAX_DEPTH:
        left[OTHER_VALUES] += len(pieces) - 1
        return dict(pieces[0])
    members: dict[str, list[Any]] = {}
    for piece in pieces:
        _gather(members, piece)
    return {name: _merged(name, each, left, depth + 1, grows=grows) for name, each in members.items()}


def _list(name: str, lists: Sequence[list[Any]], left: Counter[str], depth: int, *, grows: bool) -> list[Any]:
    if grows and name == "tool_calls":
        return list(_calls(_objects(chain.from_iterable(lists), left), left, depth))
    if grows:
        return [*chain.from_iterable(lists)]
    whole: list[Any] = []
    for each in lists:
        # One that begins with all before it says it again.
        whole += each[len(whole) :] if each[: len(whole)] == whole else each
    return whole


def _text(name: str, pieces: Sequence[str], left: Counter[str], *, grows: bool) -> str:
    if grows and name in _GROWING:
        return "".join(pieces)
    values = dict.fromkeys(piece for piece in pieces if piece)
    if len(values) > 1 and grows and (name not in _SAID_ONCE or (name == "name" and not pieces[0])):
        return "".join(pieces)
    first = next(iter(values), "")
    left[OTHER_VALUES] += sum(piece != first for piece in pieces if piece)
    return first


class _Call:
    """The pieces of one call so far, its id, and whether they name its tool."""

    __slots__ = ("id", "is_named", "pieces")

    def __init__(self) -> None:
        self.pieces: list[dict[str, Any]] = []
        self.id: str | None = None
        self.is_named = False


def _calls(pieces: Iterable[dict[str, Any]], left: Counter[str], depth: int) -> Iterator[dict[str, Any]]:
    """The calls that ``pieces`` make, in the order in which they begin.

    Without an ``index`` a piece goes by its id, else to the call before it. Some servers give every call the same
    index: another id and another name there begin another call.
    """
    calls: list[_Call] = []
    by_index: dict[int, _Call] = {}
    by_id: dict[str, _Call] = {}
    for piece in pieces:
        index, call_id = piece.get("index"), piece.get("id")
        index = index if type(index) is int else None
        call_id = call_id if isinstance(call_id, str) and call_id else None
        last = calls[-1] if calls else None
        call = by_index.get(index) if index is not None else last if call_id is None else by_id.get(call_id, last)
        is_named = _names_tool(piece)
        if call is None or _begins_another(call, call_id, is_named=is_named, has_index=index is not None):
            call = _Call()
            calls.append(call)
        if index is not None:
            by_index[index] = call
        if call_id is not None:
            by_id[call_id] = call
            call.id = call.id or call_id
        call.is_named |= is_named
        call.pieces.append(piece)
    for place, call in enumerate(calls):
        whole = _object(call.pieces, left, depth, grows=True)
        # It tells pieces apart; of a whole call its place does.
        yield {name: value for name, value in whole.items() if name != "index" or repr(value) != repr(place)}


def _begins_another(call: _Call, call_id: str | None, *, is_named: bool, has_index: bool) -> bool:
    if call_id is not None and call.id is not None:
        return call_id != call.id and (is_named or not has_index)
    return not has_index and call_id is None and is_named and call.is_named


def _names_tool(piece: Mapping[str, Any]) -> bool:
    bodies = (piece.get("function"), piece.get("custom"))
    return any(isinstance(body, dict) and body.get("name") for body in bodies)
