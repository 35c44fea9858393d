"""Objects of other libraries that a window changes: what cannot copy itself comes back as its document."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from agent.sdk.handed_back import handed_back
from agent.sdk.listed import listed
from tests.sdk.test_foreign_messages import HUMAN

CALLS = [{"name": "track", "args": {"n": 4471}, "id": "call_7", "type": "tool_call"}]


class Copied:
    """As LangChain's message objects dump and copy themselves."""

    def __init__(self, **members: Any) -> None:
        self.__dict__.update(members)

    def model_dump(self, **_: Any) -> dict[str, Any]:
        return dict(self.__dict__)

    def model_copy(self, *, update: dict[str, Any]) -> Copied:
        return Copied(**{**self.__dict__, **update})


def cut(given: object) -> Any:
    found = listed([given])
    (back,) = handed_back(found, [replace(found.turns[0], content="wh...")])
    return back


def without_calls(given: object) -> Any:
    found = listed([given])
    (turn,) = found.turns
    assert turn.invocations
    fields = {name: value for name, value in turn.fields.items() if name != "tool_invocations"}
    (back,) = handed_back(found, [replace(turn, fields=fields)])
    return back


def test_an_object_that_cannot_copy_itself_is_cut_as_its_document():
    assert cut(HUMAN) == {**HUMAN.model_dump(mode="json", warnings=False), "content": "wh..."}
    assert cut(SimpleNamespace(role="user", content="where is it?")) == {"role": "user", "content": "wh..."}


def test_an_object_that_copies_itself_loses_its_calls_by_its_own_way():
    given = Copied(type="ai", content="I look", tool_calls=CALLS)
    back = without_calls(given)
    assert isinstance(back, Copied)
    assert (back.content, back.tool_calls, given.tool_calls) == ("I look", [], CALLS)


def test_an_object_that_cannot_copy_itself_loses_its_calls_as_a_document():
    given = SimpleNamespace(type="ai", content="I look", tool_calls=CALLS)
    assert without_calls(given) == {"type": "ai", "content": "I look"}


def test_text_beside_calls_stays_where_calls_go():
    block = {"type": "tool_use", "id": "call_7", "name": "track", "input": {"n": 4471}}
    given = {"type": "ai", "content": ["I look", block], "tool_calls": CALLS}
    assert without_calls(given) == {"type": "ai", "content": ["I look"]}
