"""The chatgpt-export format: trees of messages, read whole, with the history that the person saw."""

import copy
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.capture.validation import validate_payload
from agent.errors import ValidationError
from agent.formats import format_named, reader
from agent.formats.chatgpt_export_message import argument_texts
from agent.formats.tool_calls import arguments_text
from tests.formats.block_laws import mutations
from tests.formats.chat_messages import CAPTURED_AT, base64_text, digest, same_json
from tests.formats.every_file import values
from tests.formats.round_trips import captures, conversations, stored
from tests.formats.sessions import memory
from tests.strategies import json_values

FORM = "chatgpt-export"
# cases.md, H23
HIKE = json.loads(
    '{"title":"hike","create_time":1767200000.5,"current_node":"c","mapping":{"r":{"message":null,"parent":null,'
    '"children":["a"]},"a":{"message":{"author":{"role":"user"},"create_time":null,"content":{"content_type":"text",'
    '"parts":["Plan a hike"]}},"parent":"r","children":["b","c"]},"b":{"message":{"author":{"role":"assistant"},'
    '"create_time":1767200001,"content":{"content_type":"text","parts":["Old answer"]}},"parent":"a","children":[]},'
    '"c":{"message":{"author":{"role":"assistant"},"create_time":1767200009,"content":{"content_type":"text",'
    '"parts":["New answer"]}},"parent":"a","children":[]}}}'
)


def node(role, content, parent=None, **message):
    author = {"role": role, "name": message.pop("name", None), "metadata": {}}
    if isinstance(content, str):
        content = {"content_type": "text", "parts": [content]}
    return {"parent": parent, "message": {"author": author, "content": content, **message}}


def code(text, parent=None, recipient="python", **message):
    content = {"content_type": "code", "language": "unknown", "response_format_name": None, "text": text}
    return node("assistant", content, parent, recipient=recipient, **message)


def output(text):
    return {"content_type": "execution_output", "text": text}


def tree(mapping, **beside):
    return {"id": "conv", "title": "t", "create_time": 1767200000, "mapping": mapping, **beside}


def read(document):
    (conversation,) = conversations(FORM, document)
    return conversation


def history(document):
    with stored(FORM, document) as session:
        return [(turn.role, turn.content) for turn in session.shown]


def message_of(turn, arguments=()):
    """The message that a turn came from, from the turn alone, but for what it repeats of its call's ``arguments``."""
    fields = turn.fields
    metadata = fields.get("metadata", {})
    native, absent = copy.deepcopy(metadata.get("native", {})), metadata.get("native_absent", [])
    native.pop("node", None)
    for mark in native.pop("of_call", ()):
        holder = native
        for key in mark["at"][:-1]:
            holder = holder[key]
        assert holder[mark["at"][-1]] is None
        holder[mark["at"][-1]] = argument_texts(arguments)[mark["argument"]]
    calls = [entry for entry in fields.get("tool_invocations", []) if turn.role != "tool"]
    text = turn.content
    if calls:
        text = calls[0]["arguments"]
        text = arguments_text(text)
    message = {
        "id": fields.get("native_id", turn.turn_id),
        "author": {"role": turn.role},
        "content": {"content_type": "text", "parts": [text]},
        **native,
    }
    content = message["content"]
    if isinstance(content, dict):
        content = dict(content)
        if content.get("parts") == [None]:
            content["parts"] = [text]
        if "text" in content and content["text"] is None and "content.text" not in absent:
            content["text"] = text
        message["content"] = content
    return {name: value for name, value in message.items() if name not in absent}


def _answered(turn, made):
    return made.get(turn.invocations[0]["invocation_id"], ()) if turn.role == "tool" and turn.invocations else ()


def check_given_back(document):
    with stored(FORM, document) as session:
        sent = [node["message"] for node in document["mapping"].values() if node.get("message") is not None]
        turns = [turn for turn in session.all if not turn.is_state_only]
        assert len(turns) == len(sent)
        calls = [call for turn in turns for call in turn.invocations]
        made = {call["invocation_id"]: call["arguments"] for call in calls if "arguments" in call}
        found = [message_of(turn, _answered(turn, made)) for turn in turns]
        for message in sent:
            assert any(same_json(each, message) for each in found), message


def test_the_hike_reads_as_it_was_answered_last_and_keeps_the_old_answer():
    with memory() as kept:
        for _ in range(2):
            for payload in captures(FORM, HIKE):
                validate_payload(payload)
                kept.capture(payload)
        session = kept.session(payload["session_id"])
    assert [(turn.role, turn.content) for turn in session.shown] == [
        ("user", "Plan a hike"),
        ("assistant", "New answer"),
    ]
    by_text = {turn.content: turn for turn in session.all if not turn.is_state_only}
    assert len(by_text) == 3
    assert by_text["Old answer"].fields["parent_turn_id"] == by_text["Plan a hike"].turn_id
    assert by_text["Plan a hike"].timestamp == "2025-12-31T16:53:20.500000Z"
    assert by_text["Plan a hike"].fields["metadata"]["derived"] == ["timestamp"]
    assert all(turn.fields["revisions"] == 1 for turn in session.all)
    check_given_back(HIKE)


def test_a_posted_conversation_names_its_session_itself():
    document = tree({"a": node("user", "hi")})
    payload = reader(FORM).read(document, captured_at=CAPTURED_AT).payload
    assert (payload["native_session_id"], payload["native_conversation_id"]) == ("conv", "conv")
    assert payload["native"]["beside"] == {"id": "conv", "title": "t", "create_time": 1767200000}


def test_without_a_current_node_the_newest_end_is_where_it_stands():
    mapping = {
        "a": node("user", "q"),
        "b": node("assistant", "late", "a", create_time=1767200009),
        "c": node("assistant", "early", "a", create_time=1767200001.25),
        "d": node("assistant", "never", "a"),
    }
    assert history(tree(mapping))[-1] == ("assistant", "late")
    assert history(tree(mapping, current_node="nowhere"))[-1] == ("assistant", "late")
    assert history(tree(mapping, current_node="c"))[-1] == ("assistant", "early")
    mapping["e"] = {"message": None, "parent": "d", "children": []}
    assert history(tree(mapping, current_node="e"))[-1] == ("assistant", "never")


def test_nodes_without_a_message_are_gone_through_and_counted():
    mapping = {
        "c": node("user", "second", "b"),
        "b": {"message": None, "parent": "a"},
        "a": node("user", "first", "r"),
        "r": {"message": None, "children": ["a"]},
    }
    conversation = read(tree(mapping))
    assert [(each.native_id, each.parent) for each in conversation.messages] == [("a", None), ("c", "a")]
    assert conversation.ignored.counts == {"nodes without a message": 2}


def test_parents_may_be_told_by_their_children_alone_and_children_keep_their_order():
    mapping = {"late": node("user", "2"), "soon": node("user", "1"), "a": node("user", "0")}
    for each in mapping.values():
        del each["parent"]
    mapping["a"]["children"] = ["soon", "late", "nowhere", 5]
    assert [(each.native_id, each.parent) for each in read(tree(mapping)).messages] == [
        ("a", None),
        ("soon", "a"),
        ("late", "a"),
    ]


def test_a_broken_tree_keeps_every_message_once():
    mapping = {
        "a": node("user", "a", "c"),
        "b": node("user", "b", "a"),
        "c": node("user", "c", "b"),
        "d": node("user", "d", "d"),
        "e": node("user", "e", "nowhere"),
        "f": node("user", "f", 7),
        "g": node("user", "g", "b"),
    }
    messages = read(tree(mapping)).messages
    assert sorted(each.native_id for each in messages) == list("abcdefg")
    seen = set()
    for each in messages:
        assert each.parent is None or each.parent in seen
        seen.add(each.native_id)
    assert history(tree(mapping, current_node="g"))[-1] == ("user", "g")


def test_a_long_conversation_is_no_deeper_than_a_short_one():
    mapping = {str(place): node("user", "", str(place - 1) if place else None) for place in range(5000)}
    messages = read(tree(mapping)).messages
    assert [each.native_id for each in messages] == list(mapping)


def test_code_for_a_tool_is_a_call_and_what_the_tool_says_its_result():
    mapping = {
        "a": node("assistant", "Let me see."),
        "b": code("1 + 1", "a", metadata={"model_slug": "gpt-4"}),
        "c": node("tool", output("2"), "b", name="python", metadata={"aggregate_result": {"status": "success"}}),
        "d": code('{"prompt":"a hill"}', "c", "dalle.text2im"),
        "e": node("tool", "seen", "d", name="dalle.text2im"),
        "f": node("tool", "drawn", "e", name="dalle"),
        "g": node(
            "tool", output("boom"), "f", name="python", metadata={"aggregate_result": {"in_kernel_exception": {}}}
        ),
    }
    with stored(FORM, tree(mapping)) as session:
        told = [
            (
                turn.role,
                turn.content,
                [(e["native_id"], e["tool_name"], e.get("arguments"), e.get("success")) for e in turn.invocations],
            )
            for turn in session.shown
        ]
        ids = [[entry["invocation_id"] for entry in turn.invocations] for turn in session.shown]
    assert told == [
        ("assistant", "Let me see.", []),
        ("assistant", "", [("python", "python", "1 + 1", None)]),
        ("tool", "2", [("python", "python", None, True)]),
        ("assistant", "", [("dalle.text2im", "dalle.text2im", {"prompt": "a hill"}, None)]),
        ("tool", "seen", [("dalle.text2im", "dalle.text2im", None, None)]),
        ("tool", "drawn", [("dalle.text2im", "dalle", None, None)]),
        ("tool", "boom", [("dalle.text2im", "python", None, False)]),
    ]
    assert ids[1] == ids[2]
    assert ids[3] == ids[4] == ids[5]
    check_given_back(tree(mapping))


def test_what_a_tool_repeats_of_its_call_is_kept_with_the_call_alone():
    prompt, snippet = 'a "hill"\nat night', "print('a hill at night')"
    run = {"status": "success", "code": snippet, "run_id": "r", "messages": [{"text": "a hill at night"}]}
    image = {"content_type": "image_asset_pointer", "metadata": {"dalle": {"prompt": prompt, "seed": 5}}}
    mapping = {
        "a": code(snippet),
        "b": node("tool", output("night"), "a", name="python", metadata={"aggregate_result": run, "code": None}),
        "c": code(json.dumps({"z": "a second prompt", "prompts": [prompt, "short"]}), "b", "dalle.text2im"),
        "d": node("tool", {"content_type": "multimodal_text", "parts": [image, "short"]}, "c", name="dalle.text2im"),
    }
    check_given_back(tree(mapping))
    messages = read(tree(mapping)).messages
    assert messages[1].native["of_call"] == [{"at": ["metadata", "aggregate_result", "code"], "argument": 0}]
    assert messages[3].native["of_call"][0]["argument"] == 0
    kept = json.dumps([messages[1].native, messages[3].native])
    assert "print" not in kept
    assert "hill\\" not in kept
    assert "short" in kept


def test_what_a_node_says_beside_its_message_is_kept():
    mapping = {
        "a": {**node("user", "hi"), "id": "a", "weight": 0.5},
        "b": {**node("user", "hi", "a"), "id": "another"},
        "c": {**node("user", "hi", "b", node=1), "weight": 2},
        "d": {**node("user", "hi", "c", node=1), "id": "d"},
        "e": {"message": None, "parent": "d", "weight": 1},
    }
    conversation = read(tree(mapping))
    kept = [(each.native or {}).get("node") for each in conversation.messages]
    assert kept == [{"weight": 0.5}, {"id": "another"}, 1, 1]
    assert conversation.ignored.counts == {"members of nodes": 1, "nodes without a message": 1}


def test_a_tool_that_nobody_called_says_its_name():
    (message,) = read(tree({"a": node("tool", "x", name="bio")})).messages
    assert (message.results[0].native_id, message.results[0].name) == ("bio", "bio")
    (message,) = read(tree({"a": node("tool", "x")})).messages
    assert message.results[0] == (None, None, None)


def test_results_answer_the_calls_of_their_own_branch():
    mapping = {
        "q": node("user", "q"),
        "a": code("one", "q"),
        "b": code("two", "q"),
        "a1": node("tool", output("1"), "a", name="python"),
        "b1": node("tool", output("2"), "b", name="python"),
    }
    with stored(FORM, tree(mapping, current_node="b1")) as session:
        by_id = {turn.fields["native_id"]: turn for turn in session.all if "native_id" in turn.fields}
        for call, result in (("a", "a1"), ("b", "b1")):
            assert by_id[call].invocations[0]["invocation_id"] == by_id[result].invocations[0]["invocation_id"]


IMAGE = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x", "size_bytes": 5}


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ({"content_type": "text", "parts": ["a", "b"]}, "a\nb"),
        ({"content_type": "text", "parts": [""]}, ""),
        ({"content_type": "text", "parts": []}, ""),
        ({"content_type": "text"}, ""),
        ({"parts": ["no type"]}, "no type"),
        ({"content_type": "multimodal_text", "parts": ["see", IMAGE, None]}, "see\n[image]"),
        ({"content_type": "multimodal_text", "parts": [{"type": "image", "asset_pointer": "file-abc"}]}, "[image]"),
        (
            {"content_type": "multimodal_text", "parts": [{"content_type": "audio_transcription", "text": "Hello"}]},
            "Hello",
        ),
        ({"content_type": "execution_output", "text": "out"}, "out"),
        ({"content_type": "code", "language": "json", "text": "x = 1"}, "x = 1"),
        ({"content_type": "code", "text": None}, ""),
        (
            {"content_type": "thoughts", "thoughts": [{"summary": "s", "content": "c"}], "source_analysis_msg_id": "m"},
            "",
        ),
        ({"content_type": "reasoning_recap", "content": "Thought for 8s"}, ""),
        ({"content_type": "tether_quote", "url": "u", "domain": "d", "text": "quoted", "title": "t"}, "quoted"),
        ({"content_type": "tether_browsing_display", "result": "found", "summary": None, "assets": []}, "found"),
        ({"content_type": "user_editable_context", "user_profile": "p", "user_instructions": "i"}, "p\ni"),
        ({"content_type": "model_editable_context", "model_set_context": "m", "repository": None}, "m"),
        ({"content_type": "citable_code_output", "output_str": "o"}, "o"),
        ({"content_type": "system_error", "name": "tool_error", "text": "failed"}, "failed"),
        ({"content_type": "something new", "data": 5}, ""),
        ("a bare text", "a bare text"),
        (None, ""),
        (5, ""),
    ],
)
def test_every_content_type_shows_its_text_and_is_given_back(content, shown):
    document = tree({"a": {"message": {"author": {"role": "user"}, "content": content}}})
    (message,) = read(document).messages
    assert message.content == shown
    check_given_back(document)


def test_an_error_of_the_system_is_a_result_that_failed():
    content = {"content_type": "system_error", "name": "tool_error", "text": "failed"}
    (message,) = read(
        tree({"a": {"message": {"author": {"role": "tool", "name": "python"}, "content": content}}})
    ).messages
    assert message.results[0].success is False


def test_hidden_messages_stay_with_what_hides_them():
    metadata = {"is_visually_hidden_from_conversation": True}
    document = tree({"a": node("system", "", metadata=metadata, weight=0.0), "b": node("user", "hi", "a")})
    assert history(document) == [("system", ""), ("user", "hi")]
    assert read(document).messages[0].native["metadata"] == metadata


def test_binary_is_kept_as_its_digest():
    data = bytes(5000)
    part = {"content_type": "image_asset_pointer", "data": base64_text(data), "mime_type": "image/png"}
    (message,) = read(tree({"a": node("user", {"content_type": "multimodal_text", "parts": [part]})})).messages
    assert message.native["content"]["parts"][0]["data"] == digest(data, "image/png")


def test_the_model_is_the_answers_own():
    mapping = {
        "a": node("assistant", "x", metadata={"model_slug": "gpt-4"}),
        "b": node("user", "y", "a", metadata={"model_slug": "z"}),
    }
    assert [(each.model, each.derived) for each in read(tree(mapping)).messages] == [("gpt-4", ()), (None, ())]


def test_what_is_wrong_is_named_by_its_path():
    bad = {
        "a": {"message": {"author": {"role": "critic"}}},
        "b": {"message": 5},
        "c": {"message": {"author": {}}},
        "d": {"message": {"author": {"role": 5}}},
        "e e": {"message": {}},
    }
    (error,) = format_named(FORM).read(tree(bad))
    assert [tuple(problem) for problem in error.problems] == [
        ("$.mapping.a.message.author.role", "enum"),
        ("$.mapping.b.message", "type"),
        ("$.mapping.c.message.author.role", "required"),
        ("$.mapping.d.message.author.role", "type"),
        ('$.mapping["e e"].message.author.role', "required"),
    ]
    assert "critic" not in str(error)
    (error,) = format_named(FORM).read({"mapping": []})
    assert [tuple(problem) for problem in error.problems] == [("$.mapping", "type")]
    one, other = format_named(FORM).read([{"mapping": {"a": 5}}, HIKE])
    assert [tuple(problem) for problem in one.problems] == [("$[0].mapping.a", "type")]
    assert len(other.messages) == 3


def test_a_conversation_without_a_message_is_empty_and_no_error():
    document = tree({"r": {"message": None, "parent": None, "children": []}}, current_node="r")
    assert format_named(FORM).detect(document)
    assert format_named(FORM).detect(tree({}))
    assert not read(document).messages
    assert not read(tree({})).messages


def test_an_export_that_grew_adds_and_changes_nothing():
    before = captures(FORM, HIKE)[0]["turns"]
    grown = copy.deepcopy(HIKE)
    grown["mapping"]["a"]["children"].append("d")
    grown["mapping"]["d"] = node("assistant", "Newest", "a", create_time=1767200019)
    grown["mapping"]["e"] = node("user", "Thanks", "c", create_time=1767200029)
    grown["mapping"]["c"]["children"].append("e")
    grown["current_node"] = "e"
    with memory() as kept:
        for document in (HIKE, grown):
            for payload in captures(FORM, document):
                kept.capture(payload)
        session = kept.session(payload["session_id"])
    after = {turn.turn_id: turn for turn in session.all}
    assert all(after[turn["turn_id"]].fields["revisions"] == 1 for turn in before)
    assert [turn.content for turn in session.shown] == ["Plan a hike", "New answer", "Thanks"]


@given(mutations([HIKE, tree({"a": code("x"), "b": node("tool", output("2"), "a", name="python")})]))
@settings(deadline=None)
def test_a_real_document_with_anything_wrong_in_it_is_read_or_refused(document):
    form = format_named(FORM)
    assert form.detect(document) in (True, False)
    for each in form.read(document):
        if isinstance(each, ValidationError):
            assert each.problems
        elif each.messages:
            for payload in captures(FORM, document):
                validate_payload(payload)


@given(json_values | st.dictionaries(st.sampled_from(["mapping", "current_node"]), json_values))
def test_any_json_value_is_known_or_not(value):
    form = format_named(FORM)
    assert form.detect(value) in (True, False)
    assert all(each is not None for each in form.read(value))


def exports(shared: Path):
    for path in sorted((shared / "data").glob("chatgpt-export__*.json")):
        yield from ((path.name, document) for document in json.loads(path.read_text()))


def test_it_knows_its_files_and_no_other(shared):
    for name, value in values(shared):
        assert format_named(FORM).detect(value) == name.startswith("chatgpt-export__"), name


def test_every_message_of_the_shared_exports_is_a_turn_and_comes_back(shared):
    nodes = messages = calls = 0
    for _, document in exports(shared):
        check_given_back(document)
        nodes += len(document["mapping"])
        found = read(document).messages
        messages += len(found)
        calls += sum(len(each.calls) for each in found)
    # MANIFEST.md: 45 + 15 + 7 + 6 nodes, of which 1 + 4 + 2 have no message; 11 times code for python.
    assert (nodes, messages, calls) == (73, 66, 11)


def test_the_shared_histories_are_the_paths_to_their_current_nodes(shared):
    for _, document in exports(shared):
        path, name = [], document.get("current_node")
        if name is None:
            continue
        while name is not None:
            each = document["mapping"][name]
            path += [each["message"]["author"]["role"]] if each["message"] else []
            name = each["parent"]
        assert [role for role, _ in history(document)] == path[::-1]


def test_the_shared_branch_point_without_a_current_node_reads_the_newest_answer(shared):
    branching = [document for name, document in exports(shared) if "context-carry" in name][1]
    assert [text[:8] for _, text in history(branching)] == ["Explain ", "MQTT is "]
    with stored(FORM, branching) as session:
        assert sum(not turn.is_state_only for turn in session.all) == 3
