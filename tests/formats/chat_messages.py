"""What the tests of the openai-chat format share: an independent way back, strict checks, and message strategies."""

import base64
import hashlib
import json
from typing import Any

import orjson
from hypothesis import strategies as st

from agent.core.ids import is_uuid
from agent.core.timestamps import is_date_time
from tests.strategies import json_values, text

CAPTURED_AT = "2026-03-02T08:15:00.000000Z"


def same_json(one: Any, other: Any) -> bool:
    """Equal as JSON text with sorted keys: 1, 1.0 and true are three things."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def message_of(turn: dict[str, Any]) -> dict[str, Any]:
    """The message that a turn came from, from the turn alone."""
    metadata = turn.get("metadata", {})
    native = dict(metadata.get("native", {}))
    if "answer" in metadata.get("derived", []):
        del native["answer"]
    message: dict[str, Any] = {"role": turn["role"], "content": turn["content"]}
    if "timestamp" not in metadata.get("derived", []):
        message["timestamp"] = turn["timestamp"]
    invocations = turn.get("tool_invocations", [])
    if turn["role"] != "tool":
        count = len(invocations) - isinstance(native.get("function_call"), dict)
        if count:
            kept = native.pop("tool_calls", [None] * count)
            message["tool_calls"] = [
                _call(invocation) if call is None else call
                for call, invocation in zip(kept, invocations[:count], strict=True)
            ]
    message.update(native)
    for name in metadata.get("native_absent", []):
        del message[name]
    return message


def _id(invocation: dict[str, Any]) -> str:
    return invocation.get("native_id", invocation["invocation_id"])


def _call(invocation: dict[str, Any]) -> dict[str, Any]:
    arguments = invocation["arguments"]
    if not isinstance(arguments, str):
        arguments = compact(arguments)
    return {
        "id": _id(invocation),
        "type": "function",
        "function": {"name": invocation["tool_name"], "arguments": arguments},
    }


def compact(value: Any) -> str:
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # an integer beyond 64 bits, which has no second spelling
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def check_contract(payload: dict[str, Any]) -> None:
    """CONTRACT 1 by hand, as narrow as it is there."""
    assert is_uuid(payload["session_id"])
    assert is_uuid(payload["conversation_id"])
    turns = payload["turns"]
    assert turns
    turn_ids = [turn["turn_id"].lower() for turn in turns]
    assert len(set(turn_ids)) == len(turn_ids)
    taken = {payload["session_id"].lower(), *turn_ids}
    assert len(taken) == len(turn_ids) + 1
    assert len(turns) + sum(len(turn.get("tool_invocations", [])) for turn in turns) <= 10_000
    for turn in turns:
        assert is_uuid(turn["turn_id"])
        assert turn["role"] in {"user", "assistant", "system", "tool"}
        assert isinstance(turn["content"], str)
        assert is_date_time(turn["timestamp"])
        assert isinstance(turn.get("model", ""), str)
        assert isinstance(turn.get("metadata", {}), dict)
        known = {"turn_id", "role", "content", "timestamp", "parent_turn_id", "model", "tool_invocations", "metadata"}
        assert turn.keys() <= known
        assert turn.get("tool_invocations", [0])
        for invocation in turn.get("tool_invocations", []):
            assert isinstance(invocation["tool_name"], str)
            assert invocation["tool_name"]
            assert is_uuid(invocation["invocation_id"])
            assert invocation["invocation_id"].lower() not in taken
            assert isinstance(invocation.get("native_id", ""), str)
            assert invocation.keys() <= {"tool_name", "invocation_id", "native_id", "arguments"}


def digest(data: bytes, media_type: str | None = None) -> dict[str, Any]:
    told = {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
    return told if media_type is None else {**told, "media_type": media_type}


def base64_text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def optional(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=fields)


call_ids = st.sampled_from(["", "a", "b", "call_1", "x" * 300, "7B3F0D6E-0000-4000-8000-00000000000A"])
names = st.sampled_from(["", "track", "weather", "a"])
odd_names = names | st.none() | st.integers()
argument_texts = (
    st.sampled_from(
        [
            '{"n":1}',
            '{"n": 1}',
            "{}",
            "",
            "null",
            "nope",
            '"text"',
            '{"a":1,"a":2}',
            "NaN",
            "1e400",
            '"\\ud83d"',
            "[1.0]",
            "-0",
            "é",
            "{",
        ]
    )
    | json_values.map(json.dumps)
    | json_values.map(compact)
)
functions = optional(name=odd_names, arguments=argument_texts | json_values, strict=st.booleans())
plain_calls = st.fixed_dictionaries(
    {
        "id": call_ids,
        "type": st.just("function"),
        "function": st.fixed_dictionaries({"name": names, "arguments": argument_texts}),
    }
)
odd_calls = st.one_of(
    optional(id=call_ids | st.none(), type=text, function=functions, index=st.integers()),
    optional(id=call_ids, type=st.just("custom"), custom=optional(name=odd_names, input=text | st.none())),
    optional(id=call_ids, name=odd_names, arguments=argument_texts | json_values),
)
parts = st.one_of(
    text,
    optional(type=st.sampled_from(["text", "output_text"]), text=text | st.none(), annotations=json_values),
    st.fixed_dictionaries({"type": st.just("refusal"), "refusal": text}),
    st.fixed_dictionaries(
        {
            "type": st.just("image_url"),
            "image_url": st.sampled_from(["https://x.test/a", {"url": "data:image/png;base64,AAAA"}]),
        }
    ),
    st.fixed_dictionaries({"type": st.just("input_audio"), "input_audio": st.just({"data": "AAAA", "format": "wav"})}),
    st.fixed_dictionaries({"type": text, "x": json_values}).filter(
        lambda part: part["type"] not in {"text", "refusal"}
    ),
)
contents = text | st.none() | st.lists(parts, max_size=3)


@st.composite
def messages(draw: st.DrawFn) -> dict[str, Any]:
    """A message as a client might hold it, with every oddity that is accepted."""
    message: dict[str, Any] = draw(
        optional(
            content=contents,
            name=odd_names,
            refusal=text | st.none(),
            audio=st.none() | optional(id=text, transcript=text | st.none()),
            annotations=json_values,
            timestamp=st.sampled_from(["2026-01-01T00:00:00Z", "yesterday", "", 1767200000.5, None]),
            id=text,
            tool_call_id=call_ids,
            tool_calls=st.none() | st.lists(plain_calls | odd_calls, max_size=3),
            function_call=st.none() | functions,
        )
    )
    message["role"] = draw(st.sampled_from(["system", "developer", "user", "assistant", "tool", "function"]))
    if draw(st.booleans()):
        message["x_" + draw(text)] = draw(json_values)
    return message


@st.composite
def bodies(draw: st.DrawFn) -> dict[str, Any]:
    body: dict[str, Any] = draw(
        st.fixed_dictionaries(
            {
                "session_id": st.sampled_from(["s", "é" * 256, "6F1D2C3A-8B4E-4F70-9A51-0C2D3E4F5A61"]),
                "messages": st.lists(messages(), min_size=1, max_size=6),
            },
            optional={
                "conversation_id": st.sampled_from(["c", "b7a1e0d4-5c39-4e82-8f16-2d7c9b0a4e13"]),
                "model": text,
                "context": optional(agent_id=text, tags=st.lists(text), x=json_values),
                "capture_options": optional(create_lineage=st.booleans(), derive_ids=st.booleans()),
                "temperature": json_values,
                "turns": json_values,
                "native": json_values,
                "native_session_id": json_values,
            },
        )
    )
    if draw(st.booleans()):
        body |= {"mode": "delta", "request_id": draw(text.filter(bool))}
    else:
        body |= draw(
            optional(
                mode=st.just("snapshot"),
                start_index=st.sampled_from([0, 3, 3.0, 2**63 - 1]),
                request_id=text.filter(bool),
            )
        )
    return body
