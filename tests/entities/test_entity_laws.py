"""What holds of the entities of every text: where they are, in which order, and how much is looked at for them."""

import json
from hashlib import sha256
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.entities.entities import MOST, entities_of, mentions
from agent.entities.known import Known
from agent.entities.pieces import LONGEST, pieces, without_placeholders
from tests.formats.corpus import OURS, documents
from tests.formats.whole_sessions import captures

PARTS = [
    *(
        "My name is ",
        "Mia Li",
        " and ",
        "Dr. ",
        "Anna's",
        "in Paris",
        "movie ",
        "Green Book",
        ", ",
        ". ",
        "\n",
        " ",
        "```",
    ),
    *(
        "order ",
        "#W2378156",
        "ABC123",
        "flight HAT136",
        "yusuf_rossi_9620",
        "2024-05-15",
        "7:30 pm",
        "$5",
        "5%",
        "8 km",
    ),
    *("a@b.com", "https://a.io/x)", "/etc/x.conf", "127.0.0.1", "+49 30 901820", "[redacted:email]", "[omitted:12]"),
    *(
        "[omitted:4:ab12]",
        "[redacted:",
        "{",
        '"first_name": "',
        '"',
        "王先生",
        "田中さん",
        "İ",
        "ß",
        "😀",
        "\x00",
        "e\u0301",
        "1",
        "-",
    ),
]
texts = st.lists(st.sampled_from(PARTS), max_size=25).map("".join) | st.text(max_size=60)

HOSTILE = [
    *(
        "a",
        "1",
        "@",
        "a@",
        "a@a.",
        "http://",
        "://a:b@",
        "+1 ",
        "1-",
        "1 ",
        "1:",
        "Aa ",
        "Aa Bb and ",
        "Mr Aa ",
        "A'",
        "A-a-",
    ),
    *(
        '{"first_name": "A",',
        "first_name: ",
        "order ",
        "order 1",
        "/a",
        "~/a/",
        "[redacted:",
        "a_a_1",
        "yusuf_",
        "www.a.",
        "$",
    ),
    *(
        "1,1",
        "1.1.",
        "::",
        "1::1:",
        "12345678-1234-",
        "eyJ",
        "sk-aaaa",
        "DE89 3704",
        "4111 1111 ",
        "```",
        "\n",
        "İ",
        "(((((",
        ")",
    ),
]


def payload(contents):
    return {"turns": [{"turn_id": f"A{place}", "content": each} for place, each in enumerate(contents)]}


def check(contents, found):
    for one, other in pairwise(found):
        assert (int(one["turn_id"][1:]), one["end"]) <= (int(other["turn_id"][1:]), other["start"]) or (
            one["turn_id"] != other["turn_id"]
        )
        assert int(one["turn_id"][1:]) <= int(other["turn_id"][1:])
    for each in found:
        content = contents[int(each["turn_id"][1:])]
        assert 0 <= each["start"] < each["end"] <= len(content)
        assert content[each["start"] : each["end"]] == each["text"]
        assert each["text_sha256"] == sha256(each["text"].encode()).hexdigest()
        # Whatever stands for something that was taken out has line breaks there, and no entity has one.
        assert without_placeholders(content)[each["start"] : each["end"]] == each["text"]
        assert "\n" not in each["text"]
        assert each["type"]


@given(st.lists(texts, max_size=4))
def test_each_entity_stands_where_it_says_in_order_without_overlaps_and_outside_placeholders(contents):
    check(contents, entities_of(payload(contents)))


@given(st.lists(texts, max_size=3))
def test_the_same_payload_has_the_same_entities(contents):
    assert entities_of(payload(contents)) == entities_of(payload(contents))


@given(texts, texts)
def test_a_later_turn_changes_nothing_in_an_earlier_one(first, second):
    alone = entities_of(payload([first]))
    assert entities_of(payload([first, second]))[: len(alone)] == alone


@given(st.lists(st.sampled_from(PARTS), max_size=60).map("".join), st.integers(8, 64))
def test_pieces_are_the_whole_text_in_order_and_none_is_too_long(text, longest):
    found = list(pieces(text, longest))
    assert "".join(each.text for each in found) == without_placeholders(text)
    assert all(0 < len(each.text) <= longest for each in found)
    assert [each.offset for each in found] == [
        sum(len(one.text) for one in found[:place]) for place in range(len(found))
    ]


def test_a_number_that_a_cut_would_tear_is_not_told_in_part():
    (entry,) = entities_of(payload(["x" * (LONGEST - 10) + " me@example.com"]))
    assert entry["text"] == "me@example.com"
    blob = "x" * (LONGEST - 3) + "@example.com"
    assert entities_of(payload([blob])) == []


@pytest.mark.parametrize("part", HOSTILE)
def test_of_a_long_string_of_anything_no_rule_sees_more_than_one_piece(part):
    text = part * (3 * LONGEST // len(part))
    assert all(len(each.text) <= LONGEST for each in pieces(text))
    found = entities_of(payload([text]))
    assert len(found) <= MOST
    check([text], found)


def test_a_name_is_kept_for_later_only_so_often():
    known = Known()
    for place in range(20_000):
        known.add(f"n{place}", "PERSON")
    assert len(known.names) == 10_000
    for place in range(200):
        list(mentions(f"order AB{place}CD", known))
    assert len(known.codes) == 64


@pytest.mark.parametrize("form", ["openai-chat", "claude-code", "swe-agent", "codex", "chatgpt-export", "gemini"])
def test_the_laws_hold_of_real_conversations(form):
    count = 0
    for found in documents(OURS, form):
        for capture in (each for captured in captures(form, found.document) for each in captured):
            contents = [turn["content"] for turn in capture["turns"]]
            check(contents, entities_of(payload(contents)))
            count += 1
    assert count


@pytest.mark.parametrize("form", ["swe-agent", "claude-code", "codex"])
def test_code_and_its_output_do_not_become_people(form):
    told = [
        each["text"]
        for found in documents(OURS, form)
        for captured in captures(form, found.document)
        for capture in captured
        for each in entities_of(capture)
        if each["type"] in ("PERSON", "LOCATION", "WORK_OF_ART")
    ]
    # "Hello, Alice!" is what a program says there, and a name.
    assert set(told) <= {"Alice"}


def test_of_an_airline_chat_the_traveller_the_flight_and_the_booking_are_told():
    path = OURS / "tau-bench-airline__3.jsonl"
    messages = [each for line in path.read_text().splitlines() for each in json.loads(line)["traj"]]
    contents = [each["content"] for each in messages if each["content"]]
    told = {(each["type"], each["text"]) for each in entities_of(payload(contents))}
    expected = {
        ("USER_ID", "emma_kim_9957"),
        ("FLIGHT_NUMBER", "HAT278"),
        ("PERSON", "Yara Garcia"),
        ("LOCATION", "JFK"),
    }
    expected |= {("REFERENCE_CODE", "HXDUBJ"), ("DATE", "2024-05-18")}
    assert expected <= told
