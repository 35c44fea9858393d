"""Bodies of up to 10 MiB that take more memory than they look: all legal captures, and the costliest refusals.

A character beyond the Basic Multilingual Plane makes Python hold a string at four bytes a character; a key with one,
or a float, also leaves the fast canonical form. Values are counted to the contract's limit of 250 000.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from typing import NamedTuple

_SIZE = 10 * 1024 * 1024
_VALUES = 249_980  # of 250 000: the payload around them has some of its own
_SESSION = "6f1c1d0e-0b1a-4c56-9a3b-5d1f7b9c0a11"
_CONVERSATION = "0d9a7a53-1f7e-4a38-8f27-3a5f1b2c4d55"
_TIME = "2026-01-01T00:00:00Z"
_ROCKET = "\U0001f680"
_DERIVE = ',"capture_options":{"derive_ids":true}'


class Body(NamedTuple):
    """One request: ``query`` and ``encoding`` as they are sent."""

    name: str
    make: Callable[[], bytes]
    query: str = ""
    encoding: str | None = None


def _capture(turns: str, more: str = "") -> bytes:
    text = f'{{"session_id":"{_SESSION}","conversation_id":"{_CONVERSATION}","turns":[{turns}]{more}}}'
    return text.encode()


def _turn(place: int, more: str = "", content: str = "") -> str:
    return (
        f'{{"turn_id":"00000000-0000-4000-8000-{place:012d}","role":"user","content":"{content}",'
        f'"timestamp":"{_TIME}"{more}}}'
    )


def _metadata(value: str, options: str = "") -> bytes:
    """One turn with ``value`` in its metadata; filled up to 10 MiB by its content."""
    bare = len(_capture(_turn(1, f',"metadata":{{"a":{value}}}'), options))
    return _capture(_turn(1, f',"metadata":{{"a":{value}}}', "x" * max(0, _SIZE - bare)), options)


def _list(item: Callable[[int], str], count: int = _VALUES) -> str:
    return "[" + ",".join(item(place) for place in range(count)) + "]"


def _object(item: Callable[[int], str], count: int = _VALUES) -> str:
    return "{" + ",".join(item(place) for place in range(count)) + "}"


def _nested() -> bytes:
    chain = "[" * 118 + "]" * 118
    return _metadata(_list(lambda _: chain, _VALUES // 118 - 1))


def _minimal_turns() -> bytes:
    room = (_SIZE - len(_capture(",".join(_turn(place) for place in range(10_000))))) // 10_000
    return _capture(",".join(_turn(place, content="x" * room) for place in range(10_000)))


def _turns_with_calls() -> bytes:
    def call(place: int) -> str:
        invocation = f"10000000-0000-4000-8000-{place:012d}"
        return f',"tool_invocations":[{{"tool_name":"t","invocation_id":"{invocation}","arguments":{{"a":1.5}}}}]'

    return _capture(",".join(_turn(place, call(place), "x" * 1700) for place in range(5_000)))


def _derived_turns() -> bytes:
    turns = ",".join(
        f'{{"turn_id":"{place:0200d}","role":"user","content":"{"x" * 740}","timestamp":"{_TIME}"}}'
        for place in range(10_000)
    )
    return _capture(turns, _DERIVE)


def _turns_of_wide_keys() -> bytes:
    keys = _object(lambda place: f'"{_ROCKET}{place:036d}":1.5', 18)
    turns = ",".join(
        f'{{"turn_id":"t{place:06d}","role":"user","content":"x","timestamp":"{_TIME}","metadata":{keys}}}'
        for place in range(10_000)
    )
    return _capture(turns, _DERIVE)


def _huge(text: str, options: str = "") -> bytes:
    room = _SIZE - len(_capture(_turn(1, content=text), options))
    return _capture(_turn(1, content=text + "x" * room), options)


def _messages() -> bytes:
    messages = ",".join(f'{{"role":"user","content":"{"x" * 1000}"}}' for _ in range(10_000))
    return f'{{"session_id":"s","messages":[{messages}]}}'.encode()


def _messages_of_wide_keys() -> bytes:
    keys = ",".join(f'"{_ROCKET}{place:038d}":1.5' for place in range(20))
    return _foreign(",".join(f'{{"role":"user","content":"x",{keys}}}' for _ in range(10_000)))


def _text_in_parts() -> bytes:
    """Joined in ``content`` and kept as parts: twice the body."""
    text = "x" * (_SIZE - 200)
    parts = f'[{{"type":"text","text":"a"}},{{"type":"text","text":"{_ROCKET}{text}"}}]'
    return _foreign(f'{{"role":"user","content":{parts},"n":1.5}}')


def _transcript() -> bytes:
    """Shown as ``content`` and kept with its message, before many short turns."""
    short = ",".join('{"role":"user","content":"x"}' for _ in range(5_000))
    text = "x" * (_SIZE - len(short) - 200)
    spoken = f'{{"role":"assistant","content":null,"audio":{{"id":"a","transcript":"{_ROCKET}{text}"}},"n":1.5}}'
    return _foreign(f"{spoken},{short}")


def _arguments_of_wide_keys() -> bytes:
    """A JSON text in a JSON text that is not written as a client would write it: parsed, and kept as it came."""
    members = ", ".join(f'"{_ROCKET}{place:040d}": 1.5' for place in range(150_000))
    arguments = json.dumps("{" + members + "}", ensure_ascii=False)
    call = f'{{"id":"c","type":"function","function":{{"name":"f","arguments":{arguments}}}}}'
    return _foreign(f'{{"role":"assistant","content":null,"tool_calls":[{call}]}}')


def _foreign(message: str) -> bytes:
    return f'{{"session_id":"s","messages":[{message}]}}'.encode()


def _wide_keys() -> bytes:
    return _metadata(_object(lambda place: f'"{_ROCKET}{place:028d}":1.5'))


ACCEPTED = (
    Body("empty arrays", lambda: _metadata(_list(lambda _: "[]"))),
    Body("empty objects", lambda: _metadata(_list(lambda _: "{}"))),
    Body("one object of distinct keys", lambda: _metadata(_object(lambda place: f'"{place:032d}":null'))),
    Body("one object of wide keys, floats", _wide_keys),
    Body("the same, gzip", lambda: gzip.compress(_wide_keys(), 1), encoding="gzip"),
    Body("the same, ids derived", lambda: _metadata(_object(lambda n: f'"{_ROCKET}{n:028d}":1.5'), _DERIVE)),
    Body("objects of one wide key", lambda: _metadata(_list(lambda n: f'{{"{_ROCKET}{n:066d}":1.5}}', 124_980))),
    Body("objects of one key", lambda: _metadata(_list(lambda n: f'{{"{n:07d}":1.5}}', 124_980))),
    Body("wide strings", lambda: _metadata(_list(lambda n: f'"{_ROCKET}{n:034d}"'))),
    Body("floats", lambda: _metadata(_list(lambda n: f"{n}.12345678901234567890123456789"))),
    Body("integers beyond 64 bits", lambda: _metadata(_list(lambda n: f"1{n:039d}"))),
    Body("one ASCII string", lambda: _huge("x")),
    Body("one string with an emoji", lambda: _huge(_ROCKET)),
    Body("the same, ids derived", lambda: _huge(_ROCKET, _DERIVE)),
    Body("one string of escapes with an emoji", lambda: _huge(_ROCKET + r"\u0001" * 1_700_000)),
    Body("118 levels of arrays", _nested),
    Body("10 000 minimal turns", _minimal_turns),
    Body("5 000 turns with a call each", _turns_with_calls),
    Body("10 000 turns, ids derived", _derived_turns),
    Body("10 000 turns of wide keys, ids derived", _turns_of_wide_keys),
    Body("openai-chat, 10 000 messages", _messages, "?format=openai-chat"),
    Body(
        "openai-chat, one string with an emoji",
        lambda: _foreign(f'{{"role":"user","content":"{_ROCKET}{"x" * (_SIZE - 100)}"}}'),
        "?format=openai-chat",
    ),
    Body(
        "openai-chat, a message with wide keys",
        lambda: _foreign(
            f'{{"role":"user","content":"","more":{_object(lambda n: f""""{_ROCKET}{n:028d}":1.5""", 249_900)}}}'
        ),
        "?format=openai-chat",
    ),
    Body("openai-chat, 10 000 messages of wide keys", _messages_of_wide_keys, "?format=openai-chat"),
    Body("openai-chat, a text in parts with an emoji", _text_in_parts, "?format=openai-chat"),
    Body("openai-chat, a transcript with an emoji", _transcript, "?format=openai-chat"),
    Body("openai-chat, arguments of wide keys", _arguments_of_wide_keys, "?format=openai-chat"),
    Body("unknown fields", lambda: _capture(_turn(1), "," + _object(lambda n: f'"{n:032d}":null')[1:-1])),
)

REFUSED = (
    Body("3.4 million empty arrays", lambda: _metadata(_list(lambda _: "[]", 3_400_000))),
    Body("a syntax error in the last byte", lambda: _wide_keys()[:-1] + b"]"),
    Body("a key twice, at the end", lambda: _wide_keys().replace(b"x" * 20, b"", 1)[:-1] + b',"turns":[]}'),
    Body("10 000 turns of a wrong role", lambda: _minimal_turns().replace(b'"user"', b'"usxr"')),
    Body(
        "10 000 turns with a number", lambda: _minimal_turns().replace(b'"content":"xxxxxxxxxx', b'"content":1,"x":"')
    ),
    Body("60 MiB", lambda: b'{"a":"' + b"x" * (6 * _SIZE) + b'"}'),
    Body("gzip of 600 MiB", lambda: gzip.compress(bytes(60 * _SIZE), 9), encoding="gzip"),
)
