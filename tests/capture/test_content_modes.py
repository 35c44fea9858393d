"""What a capture stores of its content: policy, what the caller asks, what the event says of it (CONTRACT 6, 8)."""

import json

import pytest

from agent.capture.request import CaptureRequest
from agent.content.policy import ContentPolicy
from agent.core.canonical import inputs_hash
from agent.core.replay import IDENTICAL, replay
from agent.edge.document import parse
from agent.entities.entities import MOST_READ
from agent.errors import ValidationError
from tests.capture.cases import BASE, changed
from tests.capture.fakes import ACCEPTED, EXECUTION_REF, NOW_TEXT, FakeSpans, FakeStore, service
from tests.content.found_texts import find
from tests.published import check_answer

SPOKEN = "write to ann@example.org"
REDACTED = "write to [redacted:email]"
OMITTED = "[omitted:24]"
CHAT = {"session_id": "s-1", "messages": [{"role": "user", "content": SPOKEN}]}
MODES = ("full", "redacted", "none")


def payload(**options):
    sent = changed("turns", 0, "content", SPOKEN)
    return {**sent, "capture_options": options} if options else sent


def captured(sent, *, mode="full", form="native", entities=None):
    """The event as it is stored, and the answer."""
    store = FakeStore()
    named = {} if entities is None else {"entities": entities}
    capturing = service(store, content=ContentPolicy(mode), detect=find, **named)
    body = json.dumps(sent).encode()
    answer = json.loads(capturing.capture(CaptureRequest(body, form, None, EXECUTION_REF), FakeSpans()).body)
    check_answer(answer)
    assert replay(store.appended[0]) == IDENTICAL
    return store.appended[0]["payload"], answer


def stored(sent, **more):
    return captured(sent, **more)[0]["inputs"]["turns"][0]["content"]


@pytest.mark.parametrize(
    ("mode", "asked", "content"),
    [
        ("full", None, SPOKEN),
        ("full", "full", SPOKEN),
        ("full", "redacted", REDACTED),
        ("full", "none", OMITTED),
        ("redacted", None, REDACTED),
        ("redacted", "full", REDACTED),
        ("redacted", "none", OMITTED),
        ("none", "full", OMITTED),
        ("none", "redacted", OMITTED),
    ],
)
def test_the_narrower_of_policy_and_option_holds(mode, asked, content):
    assert stored(payload(content=asked) if asked else payload(), mode=mode) == content


@pytest.mark.parametrize("form", ["openai-chat", "anthropic"])
def test_a_foreign_format_may_ask_too(form):
    sent = {**CHAT, "capture_options": {"content": "none"}}
    event, _ = captured(sent, form=form)
    assert event["inputs"]["turns"][0]["content"] == OMITTED
    assert event["inputs"]["capture_options"] == {"content": "none"}
    assert "ann" not in json.dumps(event)


def test_a_foreign_format_that_asks_for_what_there_is_not_is_refused():
    with pytest.raises(ValidationError) as refused:
        captured({**CHAT, "capture_options": {"content": "some"}}, form="openai-chat")
    assert [problem.as_dict() for problem in refused.value.problems] == [
        {"path": "$.capture_options.content", "rule": "enum"}
    ]


@pytest.mark.parametrize("mode", MODES)
def test_one_hash_is_of_what_was_sent_and_one_of_what_is_stored(mode):
    sent = payload()
    event, answer = captured(sent, mode=mode)
    assert event["inputs_hash"] == inputs_hash(sent)
    assert event["stored_inputs_hash"] == inputs_hash(event["inputs"])
    assert (event["inputs_hash"] == event["stored_inputs_hash"]) is (mode == "full")
    assert answer["decision_event"]["stored_inputs_hash"] == event["stored_inputs_hash"]


@pytest.mark.parametrize(("mode", "constraint"), [("redacted", "content_redacted"), ("none", "content_omitted")])
def test_the_mode_that_held_stands_last_among_the_constraints(mode, constraint):
    options = {"compute_embeddings": True, "extract_entities": True, "derive_ids": True}
    event, answer = captured(payload(**options), mode=mode, entities=lambda _: [])
    assert event["constraints_applied"] == [
        "lineage_creation_enabled",
        "entity_extraction_enabled",
        "embedding_computation_deferred",
        "ids_derived",
        constraint,
    ]
    assert answer["decision_event"]["constraints_applied"] == event["constraints_applied"]


@pytest.mark.parametrize(
    ("mode", "sent", "redactions"),
    [
        ("full", payload(), None),
        ("none", payload(), None),
        ("redacted", payload(), {"email": 1}),
        ("redacted", BASE, {}),
        ("redacted", changed("turns", 0, "content", "sk-0123456789 a@b.c d@e.f"), {"email": 2, "vendor_token": 1}),
    ],
)
def test_telemetry_says_what_was_redacted_where_something_could_be(mode, sent, redactions):
    event, answer = captured(sent, mode=mode)
    for telemetry in (event["telemetry"], answer["decision_event"]["telemetry"]):
        assert telemetry.get("redactions") == redactions


def test_a_redacted_capture_in_which_nothing_was_found_says_so_and_is_as_sent():
    event, _ = captured(BASE, mode="redacted")
    assert event["constraints_applied"] == ["lineage_creation_enabled", "content_redacted"]
    assert event["inputs"] == BASE
    assert event["inputs_hash"] == event["stored_inputs_hash"]


@pytest.mark.parametrize("mode", MODES)
def test_nodes_and_edges_are_those_of_the_full_capture(mode):
    call = {"tool_name": "t", "invocation_id": "cccccccc-0000-4000-8000-000000000001", "arguments": {"to": SPOKEN}}
    sent = payload()
    memory = {"state_only": True, "params": {"a": "b"}}
    state = {
        "turn_id": "bbbbbbbb-0000-4000-8000-00000000000a",
        "role": "system",
        "content": "",
        "timestamp": "2026-03-02T08:15:00Z",
        "metadata": {"memory": memory},
    }
    sent["turns"] = [state, *sent["turns"]]
    sent["turns"][2]["tool_invocations"] = [call]
    full, narrow = captured(sent)[0]["outputs"], captured(sent, mode=mode)[0]["outputs"]
    assert narrow == full


def test_state_that_was_said_without_words_stays_state_without_words():
    state = {"content": "", "role": "system", "metadata": {"memory": {"state_only": True, "params": {"city": "Bern"}}}}
    sent = changed("turns", 0, {**BASE["turns"][0], **state})
    event, _ = captured(sent, mode="none")
    assert event["inputs"]["turns"][0]["content"] == ""
    assert event["inputs"]["turns"][0]["metadata"]["memory"] == {"state_only": True, "params": {"city": "[omitted:4]"}}


@pytest.mark.parametrize("mode", ["redacted", "none"])
def test_what_an_import_keeps_is_narrowed_too(mode):
    store = FakeStore()
    capturing = service(store, content=ContentPolicy(mode), detect=find)
    sent = payload()
    capturing.keep_native(parse(json.dumps(sent).encode()), execution_ref=EXECUTION_REF)
    capturing.keep_translated(sent, "0" * 64, execution_ref=EXECUTION_REF)
    assert [each["payload"]["inputs"]["turns"][0]["content"] for each in store.appended] == [
        {"redacted": REDACTED, "none": OMITTED}[mode]
    ] * 2
    assert "ann" not in json.dumps(store.appended)


def words(stored_payload):
    """Each turn's content as one entity."""
    turns = stored_payload["turns"]
    return [{"turn_id": turn["turn_id"].lower(), "type": "text", "start": 0, "end": len(turn["content"]),
             "text_sha256": "0" * 64, "text": turn["content"]} for turn in turns]  # fmt: skip


def test_entities_are_answered_and_stored_where_they_are_asked_for():
    event, answer = captured(payload(extract_entities=True), entities=words)
    assert [entity["text"] for entity in event["outputs"]["entities"]] == [
        turn["content"] for turn in payload()["turns"]
    ]
    assert answer["output"] == event["outputs"]
    assert "entity_extraction_enabled" in event["constraints_applied"]


@pytest.mark.parametrize("options", [{}, {"extract_entities": False}])
def test_without_being_asked_nothing_is_looked_for(options):
    def never(_):
        raise AssertionError("was looked for")

    event, _ = captured(payload(**options), entities=never)
    assert "entities" not in event["outputs"]


def test_entities_are_those_of_the_content_that_is_stored():
    sent = payload(extract_entities=True)
    assert captured(sent, mode="redacted", entities=words)[0]["outputs"]["entities"][0]["text"] == REDACTED
    assert captured(sent, mode="none", entities=words)[0]["outputs"]["entities"] == []


@pytest.mark.parametrize(("mode", "asked"), [("none", None), ("full", "none")])
def test_who_asks_for_entities_where_no_content_is_stored_is_told_that_nobody_looked(mode, asked):
    def never(_):
        raise AssertionError("was looked for")

    sent = payload(extract_entities=True, **({"content": asked} if asked else {}))
    event, answer = captured(sent, mode=mode, entities=never)
    assert event["outputs"]["entities"] == []
    assert answer["warnings"] == [{"path": "$.capture_options.extract_entities", "rule": "entities_not_read"}]


@pytest.mark.parametrize(("mode", "options"), [("none", {}), ("redacted", {"extract_entities": True})])
def test_nobody_else_is_told_so(mode, options):
    assert captured(payload(**options), mode=mode, entities=words)[1]["warnings"] == []


@pytest.mark.parametrize(("read", "warned"), [(0, []), (1, ["entities_cut"])])
def test_who_asks_for_more_entities_than_are_looked_for_is_told_so(read, warned):
    sent = changed("turns", 0, "content", "a" * (MOST_READ - len(BASE["turns"][1]["content"]) + read))
    sent["capture_options"] = {"extract_entities": True}
    assert len(BASE["turns"]) == 2
    assert [warning["rule"] for warning in captured(sent)[1]["warnings"]] == warned


@pytest.mark.parametrize("mode", ["full", "redacted", "none"])
def test_a_duplicate_says_nothing_of_the_mode_and_the_entities_of_its_own_run(mode):
    first = ACCEPTED._replace(duplicate=True, execution_ref="eeeeeeee-0000-4000-8000-00000000000f", timestamp=NOW_TEXT)
    sent = payload(extract_entities=True)
    capturing = service(FakeStore(receipt=first), content=ContentPolicy(mode), detect=find, entities=words)
    request = CaptureRequest(json.dumps(sent).encode(), "native", None, EXECUTION_REF)
    answer = json.loads(capturing.capture(request, FakeSpans()).body)
    check_answer(answer)
    event = answer["decision_event"]
    assert event["constraints_applied"] == ["lineage_creation_enabled", "entity_extraction_enabled"]
    assert "entities" not in event["outputs"]
    assert answer["output"] == event["outputs"]
