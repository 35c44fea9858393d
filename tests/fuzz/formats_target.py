"""Documents of every format through everything that is done to them: read, narrowed, drawn, named, written, read again.

An input is a line and a body: the name of its format, as it would be posted with ``?format=``, and behind ``>`` that of
the format that it is written in. Nothing but a typed refusal may come of it, and what was read is a payload like any.
"""

from __future__ import annotations

import copy
import functools
import json
import random
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

from agent.capture.validation import validate_payload, warnings_for
from agent.content.detectors import find
from agent.content.narrowing import narrowed
from agent.content.policy import ContentPolicy
from agent.core.canonical import encode, inputs_hash
from agent.core.decision import Outputs
from agent.core.graph import build_graph
from agent.core.history import history
from agent.core.native import derive_ids
from agent.core.turn import SessionTurn
from agent.edge.answers import failure_document
from agent.edge.document import open_wrapper, parse
from agent.entities.entities import entities_of
from agent.errors import AgentError, PayloadTooLarge, ValidationError
from agent.formats import MARKDOWN, NATIVE, READS, TEXT, WRITES, format_named, reader
from agent.formats.conversation.message import Conversation
from agent.formats.writers import writer
from agent.formats.writing import Capture, Session
from tests.fuzz.corpus import bodies, saved, strings
from tests.fuzz.engine import Target
from tests.fuzz.mutation import keys, mutated, nodes, rearranged
from tests.fuzz.parser_target import LARGEST_ANSWER

CAPTURED_AT = "2026-03-02T08:15:00.000000Z"
EVERY = (*WRITES, NATIVE, MARKDOWN, TEXT)
_POLICIES = {
    "redacted": ContentPolicy("redacted", None, frozenset({"user_id", "name"})),
    "none": ContentPolicy("none", b"a key of sixteen", frozenset()),
}
# What a refusal says in our words; anything longer would have to be the caller's.
_LONGEST_MESSAGE = 600
# Longer bodies are only slower: what is in them is in others, too.
LONGEST_SEED = 16_000
# Shorter texts occur in our own words, and these, too.
_OURS = "several_conversations native_conversation_id additionalProperties completion_tokens 2026-03-02T08:15:00Z"
_TELLING = 12


class Ways(NamedTuple):
    """Whether a payload was translated, and the name of the format that its session is to be written in."""

    is_translated: bool
    form: str


Onward = Callable[[dict[str, Any], Ways], tuple[Hashable, ...]]


def look(case: bytes) -> Hashable:
    """Post ``case``, draw what it says, and write it in every format."""
    return _looked(case, _drawn_and_written)


def look_narrower(case: bytes) -> Hashable:
    """Post ``case``, name what is in it, and narrow it in both ways."""
    return _looked(case, _narrowed)


def _looked(case: bytes, onward: Onward) -> Hashable:
    """The name is what the body in ``case`` was refused for, or what became of its payload."""
    head, _, body = case.partition(b"\n")
    name, _, form = head.decode("latin-1").partition(">")
    try:
        document = open_wrapper(parse(body))
    except (ValidationError, PayloadTooLarge) as error:
        return name, "unread", error.problems
    value = document.value
    _check_detection(value)
    before = encode(value)
    try:
        payload = _payload(name, value)
    except ValidationError as error:
        assert encode(value) == before, "a document was changed by its reader"
        return name, *_refused(error, value)
    assert encode(value) == before, "a document was changed by its reader"
    return name, *onward(payload, Ways(name != NATIVE, form))


def _check_detection(value: dict[str, Any]) -> None:
    for name in READS:
        assert format_named(name).detect(value) in (True, False)


def _payload(name: str, value: dict[str, Any]) -> dict[str, Any]:
    if name == NATIVE:
        validate_payload(value)
        warnings = warnings_for(value)
        assert len(warnings) <= 50
        return derive_ids(value) if value.get("capture_options", {}).get("derive_ids", False) else value
    translation = reader(name).read(value, captured_at=CAPTURED_AT)
    validate_payload(translation.payload)
    assert len(translation.warnings) <= 50
    return translation.payload


def _refused(error: AgentError, value: Any) -> tuple[Hashable, ...]:
    """The refusal's rules; it is small, says where, and none of what."""
    answer = failure_document(error, execution_ref="0" * 36, timestamp=CAPTURED_AT)
    assert len(json.dumps(answer).encode()) < LARGEST_ANSWER, "a refusal of 16 KiB or more"
    assert isinstance(error, ValidationError)
    assert error.problems, "a refusal without a problem"
    assert len(error.message) < _LONGEST_MESSAGE
    said = " ".join([error.message, *(f"{problem.path} {problem.rule}" for problem in error.problems)])
    told = {text for text in strings(value) if len(text) >= _TELLING and text in said and text not in _OURS}
    # A path is of keys, and some formats have ids for keys (CONTRACT 2).
    assert told <= {key for holder in nodes(value) if isinstance(holder, dict) for key in holder}, "a value is repeated"
    assert all(problem.path.startswith("$") for problem in error.problems)
    return "refused", *sorted({problem.rule for problem in error.problems})


def _drawn_and_written(payload: dict[str, Any], ways: Ways) -> tuple[Hashable, ...]:
    inputs_hash(payload)
    graph = build_graph(payload)
    Outputs.of(payload).encode(CAPTURED_AT)
    session = session_of(payload, is_translated=ways.is_translated)
    written = ways.form if ways.form not in EVERY else (ways.form, _written(ways.form, session))
    return "read", min(len(graph.edges), 9), *sorted({turn["role"] for turn in payload["turns"]}), written


def _narrowed(payload: dict[str, Any], _ways: Ways) -> tuple[Hashable, ...]:
    graph = build_graph(payload)
    names = entities_of(payload)
    Outputs.of(payload, entities=names).encode(CAPTURED_AT)
    kinds: set[str] = {f"entity {each['type']}" for each in names}
    for mode, policy in _POLICIES.items():
        stored, redactions = narrowed(payload, mode, policy, find)
        kinds |= {f"redacted {kind}" for kind in redactions or ()}
        try:
            validate_payload(_as_sent(stored))
        except ValidationError as error:
            raise AssertionError(f"a narrowed payload is refused: {error.problems[0].rule}") from None
        assert build_graph(stored) == graph, "a narrowed payload has another graph"
        # A hash that came is not ours the second time, and goes.
        stored = narrowed(stored, mode, policy, find).payload if mode == "none" else stored
        again = narrowed(stored, mode, policy, find).payload
        assert encode(again) == encode(stored), f"narrowed twice ({mode}) is not narrowed once"
        entities_of(stored)
    return "narrowed", *sorted(kinds)


def _as_sent(stored: dict[str, Any]) -> dict[str, Any]:
    """``stored`` without the wish for ids, which it has: with it the native ones would be reserved names."""
    if not stored.get("capture_options"):
        return stored
    options = {name: value for name, value in stored["capture_options"].items() if name != "derive_ids"}
    return {**stored, "capture_options": options}


def session_of(payload: dict[str, Any], *, is_translated: bool) -> Session:
    """The session that the capture of ``payload`` alone becomes, as a store gives it back (CONTRACT 10)."""
    turns: list[SessionTurn] = []
    conversation = payload["conversation_id"].lower()
    for seq, sent in enumerate(payload["turns"], 1):
        before = turns[-1].turn_id if turns else None
        parent = sent["parent_turn_id"].lower() if sent.get("parent_turn_id") else None
        parent = parent if "parent_turn_id" in sent else before
        turn_id = sent["turn_id"].lower()
        record = {"turn_id": turn_id, "seq": seq, "parent_turn_id": parent, "conversation_id": conversation}
        record |= {"captured_at": CAPTURED_AT, "version": 1, "execution_ref": "e", "revisions": 1, "erased": False}
        fields = {**sent, **record}
        turns.append(SessionTurn(turn_id, seq, conversation, parent, sent["role"], sent["content"], False, fields))
    said = {name: value for name, value in payload.items() if name not in {"session_id", "conversation_id", "turns"}}
    without = {turn.turn_id for turn, sent in zip(turns, payload["turns"], strict=True) if "parent_turn_id" not in sent}
    captures = {"e": Capture(conversation, said, is_translated)}
    return Session(payload["session_id"].lower(), None, history(turns), tuple(turns), captures, {}, without)


def _written(form: str, session: Session) -> Hashable:
    """What ``form`` leaves out; what it writes is JSON, and its own reader takes it or refuses it by type."""
    written = writer(form)(session)
    assert written.turns == len(session.all if form == NATIVE else session.shown), f"{form} counts other turns"
    assert all(count > 0 for count in written.lost.values())
    if form in WRITES:
        for text in written.documents:
            document = json.loads(text)
            for found in format_named(form).read(document):
                assert isinstance(found, Conversation | ValidationError)
    return tuple(sorted(written.lost))


@functools.cache
def _values() -> list[Any]:
    """Values of all formats, to stand where others stand: blocks, calls, usage, times."""
    found: list[Any] = []
    for _, body in bodies():
        for holder in nodes(json.loads(body)):
            found += [holder[key] for key in keys(holder)]
    small = {text: value for value in found if len(text := json.dumps(value)) < 500}
    return [small[text] for text in sorted(small)]


def made(pool: Sequence[bytes], rng: random.Random) -> bytes:
    """A document with its values changed, or its bytes, or under the name of another format."""
    head, _, body = rng.choice(pool).partition(b"\n")
    if rng.randrange(10) == 0:
        body = mutated(body, rng)
    else:
        try:
            document = json.loads(body)
        except (ValueError, RecursionError):
            return head + b"\n" + mutated(body, rng)
        for _ in range(rng.choice([1, 1, 1, 4])):
            document = rearranged(document, rng, _values())
        if rng.randrange(8) == 0 and isinstance(document, dict):
            document = _with_options(copy.copy(document), rng)
        body = json.dumps(document, ensure_ascii=bool(rng.randrange(2))).encode("utf-8", "surrogatepass")
    name = head.partition(b">")[0] if rng.randrange(20) else rng.choice([NATIVE, *READS]).encode()
    return name + b">" + rng.choice(EVERY).encode() + b"\n" + body


def _with_options(document: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """``document`` with what every posted body may say of itself (CONTRACT 3a)."""
    said = rng.choice(
        [
            {"mode": "delta", "request_id": "r"},
            {"start_index": rng.choice([0, 1, 2**63 - 1, 2**63, -1, 1.0])},
            {"model": "m"},
            {"conversation_id": rng.choice(["c", "", "x" * 257, "\u0000"])},
            {"context": {"agent_id": "a", "user_id": "u", "tags": ["t", "t"]}},
            {"capture_options": {"derive_ids": True, "extract_entities": True, "content": "none"}},
            {"capture_options": {"create_lineage": False}},
        ]
    )
    return {**document, **said}


def formats() -> Target:
    """Documents of all formats, and native payloads."""
    return Target("formats", [*saved("formats"), *_seeds()], made, look, share=3)


def narrowing() -> Target:
    """The same, on their way into a store that may not have all of them."""
    return Target("narrowing", [*saved("narrowing"), *_seeds()], made, look_narrower, share=2)


def _seeds() -> list[bytes]:
    some = [(name, body) for name, body in bodies() if len(body) < LONGEST_SEED]
    return [f"{name}>{EVERY[place % len(EVERY)]}\n".encode() + body for place, (name, body) in enumerate(some)]
