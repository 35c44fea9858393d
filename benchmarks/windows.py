"""Times windows beside LangChain's ``trim_messages`` and a bare backward walk; run by its rows in .venv-peers.

``window ROUNDS MESSAGES STRATEGY``, ``relevant ROUNDS`` and ``counting ROUNDS`` print samples as JSON, one value a
round. A message has about 400 characters, and one in three is a call or its result. Counts are there already: on
LangChain's side a table as well.
"""

from __future__ import annotations

import json
import sys
import uuid
from collections.abc import Callable
from typing import Any, Final

from agent.core.turn import SessionTurn
from agent.core.window.policy import Policy
from agent.core.window.window import build_window, cut_window, prepare
from agent.recall.relevance.bm25 import Bm25Index
from agent.recall.tokens import counter_for
from benchmarks.pairs import Act, Samples, in_turn
from benchmarks.payloads import conversation

_BUDGET: Final = 4000
_CHARACTERS: Final = 400
_QUERY: Final = "What did the agent say about the refund for the reservation of Amelia Davis?"
_CONVERSATION: Final = "b7a1e0d4-5c39-4e82-8f16-2d7c9b0a4e13"
_A_ROUND: Final = 5
_WITHOUT_SCORES: Final = ("truncate", "rolling_window")
_TEXTS: Final = 200


def messages(count: int) -> list[SessionTurn]:
    """A conversation of so many messages: nine turns with two calls and their results, over and over in other words."""
    # The tenth is a call that nobody answers.
    source = conversation()["turns"][:9]
    return [_message(source[place % 9], place) for place in range(count)]


def _message(source: dict[str, Any], place: int) -> SessionTurn:
    lap = place // 9
    content = f"{lap}: {source['content']}"[:_CHARACTERS] if source["content"] else ""
    turn_id = str(uuid.UUID(int=place + 1))
    fields = {**source, "turn_id": turn_id, "content": content}
    if "tool_invocations" in source:
        fields["tool_invocations"] = [
            {**each, "invocation_id": str(uuid.uuid5(uuid.UUID(each["invocation_id"]), str(lap)))}
            for each in source["tool_invocations"]
        ]
    parent = str(uuid.UUID(int=place)) if place else None
    return SessionTurn(turn_id, place + 1, _CONVERSATION, parent, source["role"], content, erased=False, fields=fields)


def window(rounds: int, count: int, strategy: str) -> Samples:
    """A window of ``_BUDGET`` tokens: ours from a conversation that is held, LangChain's, and a walk from the end."""
    turns = messages(count)
    counting = counter_for("gpt-4o")
    prepared = prepare(turns, counting)
    policy = Policy(strategy=strategy, max_tokens=_BUDGET)
    cut_window(prepared, policy)
    tokens = {turn.turn_id: counting(turn) for turn in turns}

    def ours() -> Act:
        return lambda: [cut_window(prepared, policy) for _ in range(_A_ROUND)]

    def from_a_list() -> Act:
        return lambda: [build_window(turns, policy, counting) for _ in range(_A_ROUND)]

    def bare() -> Act:
        return lambda: [_backward(turns, tokens) for _ in range(_A_ROUND)]

    sides = {"ours": ours, "bare": bare, "peer": _langchain(turns, tokens)}
    if strategy in _WITHOUT_SCORES:
        # What a list is scored for takes a hundred times as long, and is measured by nobody's budget.
        sides["list"] = from_a_list
    return in_turn(sides, rounds=rounds, count=_A_ROUND)


def _backward(turns: list[SessionTurn], tokens: dict[str, int]) -> list[SessionTurn]:
    left, place = _BUDGET, len(turns)
    while place and left >= tokens[turns[place - 1].turn_id]:
        place -= 1
        left -= tokens[turns[place].turn_id]
    return turns[place:]


def _langchain(turns: list[SessionTurn], tokens: dict[str, int]) -> Callable[[], Act]:
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage, trim_messages

    def message(turn: SessionTurn) -> Any:
        given: dict[str, Any] = {"content": turn.content or "", "id": turn.turn_id}
        if turn.role == "tool":
            return ToolMessage(tool_call_id=turn.invocations[0]["invocation_id"], **given)
        if turn.role == "user":
            return HumanMessage(**given)
        calls = [
            {"id": call["invocation_id"], "name": call["tool_name"], "args": call["arguments"]}
            for call in turn.invocations
        ]
        return AIMessage(tool_calls=calls, **given)

    said = [message(turn) for turn in turns]

    def count(those: list[Any]) -> int:
        return sum(tokens[each.id] for each in those)

    def trim() -> None:
        for _ in range(_A_ROUND):
            trim_messages(said, max_tokens=_BUDGET, token_counter=count, strategy="last", start_on="human")

    return lambda: trim


def relevant(rounds: int) -> Samples:
    """A window by relevance of 1 000 messages: with the index there already, and with an index made for it."""
    turns = messages(1000)
    counting = counter_for("gpt-4o")
    prepared = prepare(turns, counting)
    policy = Policy(strategy="relevant", max_tokens=_BUDGET, query=_QUERY)
    index = Bm25Index()
    index.extend(turn.content or "" for turn in turns)

    def warm() -> Act:
        return lambda: [
            cut_window(prepared, policy, ranker=lambda _, query: index.rank(query)) for _ in range(_A_ROUND)
        ]

    def with_an_index_of_its_own() -> None:
        fresh = Bm25Index()
        fresh.extend(turn.content or "" for turn in turns)
        cut_window(prepare(turns, counting), policy, ranker=lambda _, query: fresh.rank(query))

    def cold() -> Act:
        return lambda: [with_an_index_of_its_own() for _ in range(_A_ROUND)]

    return in_turn({"warm": warm, "cold": cold}, rounds=rounds, count=_A_ROUND)


def counting(rounds: int) -> Samples:
    """Exact counts of messages of 400 characters, each new to the counter; beside the bare tokenizer."""
    from splintr import Tokenizer

    tokenizer = Tokenizer.from_pretrained("o200k_base")
    base = " ".join(turn["content"] for turn in conversation()["turns"])
    made = 0

    def texts() -> list[SessionTurn]:
        nonlocal made
        found = []
        for _ in range(_TEXTS):
            made += 1
            content = f"{made} {base[made % 500 :]}"[:_CHARACTERS]
            turn_id = str(uuid.UUID(int=made))
            fields = {"role": "user", "content": content}
            found.append(SessionTurn(turn_id, made, _CONVERSATION, None, "user", content, erased=False, fields=fields))
        return found

    count = counter_for("gpt-4o")

    def ours() -> Act:
        said = texts()
        return lambda: [count(turn) for turn in said]

    def bare() -> Act:
        said = [turn.content or "" for turn in texts()]
        return lambda: [len(tokenizer.encode_ordinary(text)) for text in said]

    return in_turn({"ours": ours, "bare": bare}, rounds=rounds, count=_TEXTS)


if __name__ == "__main__":
    row, *given = sys.argv[1:]
    timed: dict[str, Callable[..., Samples]] = {"window": window, "relevant": relevant, "counting": counting}
    print(json.dumps(timed[row](*(int(each) if each.isdigit() else each for each in given))))
