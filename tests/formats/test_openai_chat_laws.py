"""Laws of the openai-chat reader, for every body that a client might send."""

import copy

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.capture.validation import validate_payload
from agent.errors import ValidationError
from agent.formats import OPENAI_CHAT, reader
from tests.formats.chat_messages import CAPTURED_AT, bodies, check_contract, message_of, messages, same_json
from tests.strategies import json_values, text

LAW = settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.too_slow])
LATER = "2027-01-01T00:00:00.000000Z"


def read(body, captured_at=CAPTURED_AT):
    return reader(OPENAI_CHAT).read(body, captured_at=captured_at)


def compared(turn):
    """A turn as the store compares it: without its id and without what was derived (CONTRACT 10)."""
    derived = turn.get("metadata", {}).get("derived", [])
    return {name: value for name, value in turn.items() if name not in {"turn_id", *derived}}


@given(bodies())
@LAW
def test_every_message_can_be_had_back_from_its_turn_exactly(body):
    turns = read(body).payload["turns"]
    assert len(turns) == len(body["messages"])
    for turn, message in zip(turns, body["messages"], strict=True):
        assert same_json(message_of(turn), message)


@given(bodies())
@LAW
def test_every_field_of_the_body_can_be_had_back_from_the_payload(body):
    payload = read(body).payload
    native = dict(payload["native"])
    assert native.pop("format") == "openai-chat"
    found = {name: value for name, value in payload.items() if name not in {"turns", "native"}}
    for name in ("session_id", "conversation_id"):
        found[name] = found.pop(f"native_{name}", found[name])
    if "conversation_id" not in body:
        del found["conversation_id"]
    if "derive_ids" in native:
        found["capture_options"] = {**found["capture_options"], "derive_ids": native.pop("derive_ids")}
    assert same_json({**found, **native, "messages": body["messages"]}, body)


@given(bodies())
@LAW
def test_the_payload_keeps_the_contract_is_the_same_again_and_the_body_is_not_changed(body):
    before = copy.deepcopy(body)
    payload = read(body).payload
    check_contract(payload)
    validate_payload(payload)
    assert same_json(body, before)
    assert same_json(read(before).payload, payload)


@given(bodies(), st.data())
@LAW
def test_a_grown_list_names_and_reads_its_old_messages_as_before(body, data):
    grown = {**body, "messages": [*body["messages"], *data.draw(st.lists(messages(), max_size=3))]}
    before, after = read(body).payload["turns"], read(grown, LATER).payload["turns"]
    for old, new in zip(before, after, strict=False):
        assert old["turn_id"] == new["turn_id"]
        assert same_json(compared(old), compared(new))


def with_garbage(children):
    return (
        children
        | st.lists(children, max_size=3)
        | st.dictionaries(
            text
            | st.sampled_from(["role", "content", "type", "text", "tool_calls", "function", "id", "audio", "data"]),
            children,
            max_size=4,
        )
    )


anything = st.recursive(
    json_values | st.sampled_from(["user", "tool", "assistant", "delta"]), with_garbage, max_leaves=12
)


FIELDS = ("session_id", "mode", "start_index", "request_id", "model", "context", "capture_options")


def outcome(body):
    """What came of ``body``: the payload, or the refusal; any other exception is the test's failure."""
    try:
        return read(body).payload, None
    except ValidationError as refused:
        return None, refused


@given(
    st.fixed_dictionaries(
        {"messages": st.lists(anything | messages(), max_size=4) | anything},
        optional=dict.fromkeys(FIELDS, anything),
    )
)
@LAW
def test_garbage_is_refused_by_paths_or_read_never_anything_else(body):
    payload, refused = outcome(body)
    if refused is None:
        check_contract(payload)
    else:
        assert refused.problems
        assert all(problem.path.startswith("$.") for problem in refused.problems)
