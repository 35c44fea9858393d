"""Small sessions with what formats find hard, as native payloads: what each has to carry or to count."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from agent.formats.writing import Session
from tests.formats.sessions import CONVERSATION, SESSION, memory, turn_name

Turn = dict[str, Any]


def calls(*named: tuple[Any, ...]) -> list[dict[str, Any]]:
    """Calls: an id, a name, arguments where there are some."""
    return [
        {"invocation_id": each[0], "tool_name": each[1], **({"arguments": each[2]} if len(each) > 2 else {})}
        for each in named
    ]


def result(call: str, name: str, content: str, *, success: bool | None = None) -> Turn:
    """The result of a call; ``success`` as the tool told it."""
    entry: dict[str, Any] = {"invocation_id": call, "tool_name": name}
    return _turn("tool", content, tool_invocations=[entry if success is None else entry | {"success": success}])


def _turn(role: str, content: str = "", **fields: Any) -> Turn:
    return {"role": role, "content": content, **fields}


def assistant(content: str, *named: tuple[Any, ...]) -> Turn:
    """A turn of the assistant, with its calls."""
    return _turn("assistant", content, **({"tool_invocations": calls(*named)} if named else {}))


def user(content: str) -> Turn:
    """A turn of the user."""
    return _turn("user", content)


SESSIONS: dict[str, list[Turn]] = {
    "a conversation": [_turn("system", "Be brief."), user("Hi"), assistant("Hello."), user("Bye"), assistant("Bye.")],
    "parallel calls, one of which fails": [
        _turn("system", "Be brief."),
        user("Weather in Paris and Rome?"),
        assistant("I look.", ("call_1", "weather", {"city": "Paris"}), ("call_2", "weather", {"city": "Rome"})),
        result("call_1", "weather", "sunny"),
        result("call_2", "weather", "no such city", success=False),
        assistant("Paris is sunny; Rome is unknown."),
        user("Thanks"),
    ],
    "parallel calls of two tools, answered the other way round": [
        user("Both"),
        assistant("", ("call_1", "weather", {"city": "Paris"}), ("call_2", "time", {"city": "Paris"})),
        result("call_2", "time", "noon"),
        result("call_1", "weather", "sunny"),
        assistant("Sunny at noon."),
    ],
    "a result that says that it is none of an error": [
        user("Weather?"),
        assistant("", ("call_1", "weather", {})),
        result("call_1", "weather", "sunny", success=True),
        assistant("Sunny."),
    ],
    "a call id again": [
        user("Look twice"),
        assistant("", ("call_1", "search", {"n": 1})),
        result("call_1", "search", "first"),
        assistant("Again.", ("call_1", "search", {"n": 2})),
        result("call_1", "search", "second"),
        assistant("Done."),
    ],
    "a call id twice in one message": [
        user("Look twice"),
        assistant("", ("call_1", "search", {"n": 1}), ("call_1", "search", {"n": 2})),
        result("call_1", "search", "first"),
        result("call_1", "search", "second"),
        assistant("Done."),
    ],
    "empty texts": [
        user(""),
        assistant(""),
        user("?"),
        assistant("", ("call_1", "wait", {})),
        result("call_1", "wait", ""),
        assistant(""),
    ],
    "text that is hard to carry": [
        user("NUL \x00, escape \x1b[31m, line\nbreaks\r\n\u2028, 日本語, 😀, e\u0301, \ufeff, '\"\\ {} </s>"),
        assistant("\n", ("call_1", "echo", {"\x00": "\x00", "é": ["😀", "\u2029"]})),
        result("call_1", "echo", " \x00 "),
        assistant("```\n# heading\n```\n"),
    ],
    "arguments of every type of JSON": [
        user("All"),
        assistant("", ("call_1", "a", [1]), ("call_2", "b", 7), ("call_3", "c", False), ("call_4", "d", {})),
        *[result(f"call_{number}", name, name) for number, name in enumerate("abcd", 1)],
        assistant("Done."),
    ],
    "arguments that are null": [
        user("Go"),
        assistant("", ("call_1", "a", None)),
        result("call_1", "a", "a"),
        assistant("Done."),
    ],
    "arguments that are text": [
        user("Go"),
        assistant("", ("call_1", "a", "text"), ("call_2", "b", "")),
        result("call_1", "a", "a"),
        result("call_2", "b", "b"),
        assistant("Done."),
    ],
    "arguments that are text which is JSON": [
        user("Go"),
        assistant("", ("call_1", "a", '{"a":1}'), ("call_2", "b", "null"), ("call_3", "c", '"quoted"')),
        *[result(f"call_{number}", name, name) for number, name in enumerate("abc", 1)],
        assistant("Done."),
    ],
    "arguments with much inside": [
        user("Go"),
        assistant("", ("call_1", "a", {"deep": [{"er": [[], {}, None, True, 1.5, 1.0, 12345678901234567890123]}]})),
        result("call_1", "a", "a"),
        assistant("Done."),
    ],
    "a call without arguments": [user("Go"), assistant("", ("call_1", "go")), result("call_1", "go", "gone")],
    "a call that nobody answered": [user("Go"), assistant("", ("call_1", "go", {})), user("Hello?")],
    "a result of no call": [user("Go"), result("call_9", "go", "gone"), assistant("It went.")],
    "several turns of one role": [user("One"), user("Two"), assistant("A"), assistant("B"), _turn("system", "C")],
    "calls in two turns that follow each other": [
        user("Go"),
        assistant("First.", ("call_1", "go", {"n": 1})),
        assistant("Second.", ("call_2", "go", {"n": 2})),
        result("call_1", "go", "one"),
        result("call_2", "go", "two"),
        user("Good"),
        assistant("Yes."),
    ],
    "a turn that answers two calls": [
        user("Both"),
        assistant("", ("call_1", "a", {}), ("call_2", "b", {})),
        _turn("tool", "both done", tool_invocations=calls(("call_1", "a"), ("call_2", "b"))),
        assistant("Done."),
    ],
    "names and ids that no provider gives": [
        user("Go"),
        assistant("", ("ein Anruf/1", "größe messen", {})),
        result("ein Anruf/1", "größe messen", "groß"),
        assistant("Done."),
    ],
}


def payload(turns: list[Turn], session_id: str = SESSION, conversation_id: str = CONVERSATION) -> dict[str, Any]:
    """``turns`` as a capture that derives its ids."""
    return {
        "session_id": session_id,
        "conversation_id": conversation_id,
        "turns": [
            {"turn_id": turn_name(index + 1), "timestamp": f"2026-03-02T08:15:{index:02}Z", **turn}
            for index, turn in enumerate(turns)
        ],
        "capture_options": {"derive_ids": True},
    }


@contextmanager
def small_session(name: str) -> Iterator[Session]:
    """The session of that name, in a store of its own."""
    with memory() as store:
        store.capture(payload(SESSIONS[name]))
        yield store.session(SESSION)
