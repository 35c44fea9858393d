"""What stays of an erased turn, whatever was sent: ids, place, role, and what it does to the history (CONTRACT 10a)."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.log.envelope import parse_kept
from store.log.skeleton import skeleton
from tests.store.surface import turn, turn_id

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)
kept_values = st.sampled_from([True, "all", 0, 2, 2.0, 2**53, turn_id(0xA1).upper()])
memories = st.dictionaries(
    st.sampled_from(["reset", "keep_last", "leaf", "state_only", "params", "pinned"]) | st.text(max_size=8),
    kept_values | anything,
    max_size=6,
)


def kept(**fields: Any) -> dict[str, Any]:
    """The skeleton of a turn that was sent as JSON."""
    sent = {**turn(1, "", role="system"), **fields}
    return parse_kept(b"".join(skeleton(parse_kept(json.dumps(sent).encode()))))


def kept_memory(memory: object, **fields: Any) -> object:
    held = kept(metadata={"agent": "secret", "memory": memory}, **fields)
    return held.get("metadata", {"memory": {}})["memory"]


@given(memories, anything)
def test_nothing_but_what_is_of_the_contracts_shape_stays(memory: dict[str, Any], other: object) -> None:
    held = kept(metadata={"memory": memory, "derived": other, "citations": other}, content=other, model=other)
    metadata = held.pop("metadata", {"memory": {}})
    assert held == {"turn_id": turn_id(1), "erased": True, "role": "system"}
    assert metadata.keys() == {"memory"}
    allowed = {
        "reset": lambda value: value is True or value == "all",
        "keep_last": lambda value: type(value) is int and 0 <= value <= 2**53,
        "leaf": lambda value: value == turn_id(0xA1),
        "state_only": lambda value: value is True,
    }
    for name, value in metadata["memory"].items():
        assert allowed[name](value)
        assert value == (memory[name].lower() if name == "leaf" else memory[name])


@given(memories, st.sampled_from(["user", "system", "robot", None]), st.sampled_from(["", "words"]))
def test_the_skeleton_of_a_skeleton_is_itself(memory: dict[str, Any], role: object, content: str) -> None:
    once = skeleton(parse_kept(json.dumps({**turn(1, content), "role": role, "metadata": {"memory": memory}}).encode()))
    assert skeleton(parse_kept(b"".join(once))) == once


@pytest.mark.parametrize(
    ("memory", "stays"),
    [
        ({"reset": True}, {"reset": True}),
        ({"reset": "all"}, {"reset": "all"}),
        *(({"reset": value}, {}) for value in (False, 1, "All", "a secret", ["all"], None)),
        ({"keep_last": 0}, {"keep_last": 0}),
        ({"keep_last": 2.0}, {"keep_last": 2}),
        ({"keep_last": 2**53}, {"keep_last": 2**53}),
        *(({"keep_last": value}, {}) for value in (2**53 + 1, 10**40, 1e300, -1, 1.5, True, "2", [2], None)),
        ({"leaf": turn_id(0xAB).upper()}, {"leaf": turn_id(0xAB)}),
        *(({"leaf": value}, {}) for value in (f"{turn_id(1)}a secret", "", 7, [turn_id(1)], None)),
        ({"state_only": True}, {"state_only": True}),
        *(({"state_only": value}, {}) for value in (False, 1, "true", None)),
        ({"params": {"a": 1}, "last_result": {"b": 2}, "task": "complete", "pinned": True, "importance": 1}, {}),
        ("reset", {}),
        ([], {}),
    ],
)
def test_what_a_memory_says_of_the_history_stays(memory: object, stays: dict[str, Any]) -> None:
    assert kept_memory(memory) == stays


@pytest.mark.parametrize("fields", [{"content": "words"}, {"role": "user"}, {"role": None}, {"role": ["system"]}])
def test_that_a_message_is_marked_as_state_means_nothing_and_goes(fields: dict[str, Any]) -> None:
    assert kept_memory({"state_only": True, "reset": True}, **fields) == {"reset": True}


def test_a_count_that_is_written_with_a_thousand_digits_is_written_anew() -> None:
    sent = json.dumps({**turn(1), "metadata": {"memory": {"keep_last": 0}}}).replace(": 0}", f": 2.{'0' * 1000}}}")
    (head, tail) = skeleton(parse_kept(sent.encode()))
    assert (head, tail) == (
        f'{{"turn_id":"{turn_id(1)}","erased":true,'.encode(),
        b'"role":"user","metadata":{"memory":{"keep_last":2}}}',
    )


@pytest.mark.parametrize("metadata", [None, 5, "memory", []])
def test_metadata_of_another_shape_goes(metadata: object) -> None:
    assert kept(metadata=metadata) == {"turn_id": turn_id(1), "erased": True, "role": "system"}
