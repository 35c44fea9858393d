"""From bytes to a document (CONTRACT 2; field cases H01, H03 to H05, H15 to H17)."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.core.canonical import inputs_hash, is_plain
from agent.edge.document import Document, beside_payload, open_wrapper, parse
from agent.edge.json_text import MAX_VALUES
from agent.errors import PayloadTooLarge, Problem, ValidationError
from tests.capture.cases import BASE, body_with, changed
from tests.conftest import REPOSITORY
from tests.strategies import json_values, payloads, reordered, text

BASE_HASH = "ab09df12fae55937dc2b7bb2b5d04b73a3a4e5810e4df8ba19087b8f87fb4fe5"


def rule_of(body: bytes) -> str:
    """The one rule that the refusal of ``body`` names."""
    with pytest.raises(ValidationError) as raised:
        parse(body)
    (problem,) = raised.value.problems
    assert problem.path == "$"
    assert raised.value.status == (413 if problem.rule == "values" else 400)
    return problem.rule


def nested(levels: int) -> bytes:
    """An object with exactly ``levels`` levels; the root is the first."""
    return b'{"a":' * (levels - 1) + b"{}" + b"}" * (levels - 1)


def test_a_payload_is_parsed_with_its_text_as_sent():
    body = json.dumps(BASE, indent=4).encode() + b"\n"
    document = parse(body)
    assert document == Document(BASE, body, plain=True)
    assert inputs_hash(document.value, plain=document.plain) == BASE_HASH


def test_key_order_and_white_space_do_not_change_the_hash():
    backwards = reordered(BASE, lambda items: items.reverse())
    document = parse(json.dumps(backwards, indent=4).encode())
    assert inputs_hash(document.value, plain=document.plain) == BASE_HASH


def test_composed_and_decomposed_letters_stay_apart():
    composed, decomposed = (
        parse(json.dumps(changed("turns", 0, "content", name)).encode()) for name in ("Zo\u00eb", "Zoe\u0308")
    )
    assert composed.value["turns"][0]["content"].encode() == bytes.fromhex("5a6fc3ab")
    assert decomposed.value["turns"][0]["content"].encode() == bytes.fromhex("5a6f65cc88")
    assert inputs_hash(composed.value) != inputs_hash(decomposed.value)


def test_a_byte_order_mark_is_skipped_and_no_part_of_the_text():
    assert parse(b"\xef\xbb\xbf{}") == Document({}, b"{}", plain=True)
    assert rule_of(b"\xef\xbb\xbf\xef\xbb\xbf{}") == "json"


@pytest.mark.parametrize("body", [b"", b" ", b" \r\n\t", b"\xef\xbb\xbf", b"\xef\xbb\xbf  "])
def test_an_empty_body_is_refused_as_empty(body):
    assert rule_of(body) == "empty"


@pytest.mark.parametrize("body", [b"[]", b"null", b"1", b'"a"', b"true", b'[{"a":1}]'])
def test_json_that_is_no_object_is_refused(body):
    assert rule_of(body) == "object"


def test_a_control_character_zero_is_kept_exactly():
    assert parse(b'{"a":"x\\u0000y"}').value == {"a": "x\0y"}


def test_escaped_surrogate_pairs_become_one_character():
    assert parse(body_with('{"sent":"go \\ud83d\\ude80"}')).value["turns"][0]["metadata"] == {"sent": "go \U0001f680"}


@pytest.mark.parametrize(
    ("metadata", "rule"),
    [
        ('{"score":NaN}', "json"),
        ('{"score":-Infinity}', "json"),
        ('{"score":Infinity}', "json"),
        ('{"score":1e400}', "number_range"),
        ('{"score":[[-1e400]]}', "number_range"),
        ('{"sent":"\\ud83d"}', "surrogate"),
        ('{"sent":"\\ude80\\ud83d"}', "surrogate"),
        ('{"\\udc00":1}', "surrogate"),
        ('{"role":"user","role":"system"}', "duplicate_key"),
        ('{"role":"user","r\\u006fle":"system"}', "duplicate_key"),
    ],
)
def test_what_other_parsers_let_through_is_refused_in_metadata_too(metadata, rule):
    assert rule_of(body_with(metadata)) == rule


def test_128_levels_are_accepted_and_129_are_not():
    assert parse(nested(128)).plain
    assert rule_of(nested(129)) == "depth"
    assert rule_of(nested(3000)) == "depth"
    arrays = b'{"a":' + b"[" * 127
    assert parse(arrays + b"1" + b"]" * 127 + b"}").plain
    assert rule_of(arrays + b"[]" + b"]" * 127 + b"}") == "depth"
    assert rule_of(b"[" * 129 + b"]" * 129) == "depth"


@pytest.mark.parametrize("sign", ["", "-"])
def test_an_integer_of_4300_digits_keeps_them_all_and_one_of_4301_is_refused(sign):
    digits = sign + "7" * 4300
    assert str(parse(f'{{"n":{digits}}}'.encode()).value["n"]) == digits
    assert rule_of(f'{{"n":{digits}7}}'.encode()) == "number_range"


def test_the_largest_double_is_accepted_and_the_next_step_is_not():
    assert parse(b'{"n":1.7976931348623158e308}').value == {"n": sys.float_info.max}
    assert rule_of(b'{"n":1.7976931348623159e308}') == "number_range"


@pytest.mark.parametrize("container", ["[]", "{}", "1", '""', '",[{"', "[ ]", "{\n}"])
def test_250_000_values_are_accepted_and_one_more_is_refused(container):
    # The root and the array are two of them.
    items = [container] * (MAX_VALUES - 2)
    assert len(parse(('{"a":[' + ",".join(items) + "]}").encode()).value["a"]) == MAX_VALUES - 2
    assert rule_of(('{"a":[' + ",".join([*items, container]) + "]}").encode()) == "values"


def test_members_count_by_their_values_and_not_by_their_names():
    members = [f'"{place}":{{}}' for place in range(MAX_VALUES - 1)]
    assert len(parse(("{" + ",".join(members) + "}").encode()).value) == MAX_VALUES - 1
    assert rule_of(("{" + ",".join([*members, '"x":0']) + "}").encode()) == "values"


def test_commas_and_brackets_within_strings_are_no_values():
    body = json.dumps({"a": ',[{"\\' * 400_000}).encode()
    assert parse(body).value["a"].startswith(',[{"\\')


def test_too_many_values_are_refused_before_anything_is_built():
    for body in (b"[" * 10_000_000, b'{"a":[' + b"[]," * 3_000_000, b'{"a":[' + b'{"":0},' * 1_000_000):
        with pytest.raises(PayloadTooLarge) as raised:
            parse(body)
        assert raised.value.problems == (Problem("$", "values"),)


@settings(deadline=None)
@given(st.dictionaries(text, json_values, max_size=4), st.booleans())
def test_any_json_object_is_parsed_exactly_and_its_plainness_is_that_of_the_canonical_form(value, ascii_only):
    document = parse(json.dumps(value, ensure_ascii=ascii_only).encode())
    assert document.value == value
    assert document.plain == is_plain(value)


@pytest.mark.parametrize(
    ("metadata", "plain"),
    [
        ('{"\\ud83d\\ude80":1}', False),
        ('{"a":{"\U0001f680":1}}', False),
        ('{"\\u00e9":{"":1}}', True),
        ('{"\uffff":1}', True),
        ('{"a":1.0}', False),
        ('{"a":18446744073709551615}', True),
        ('{"a":18446744073709551616}', False),
        ('{"a":-9223372036854775808}', True),
        ('{"a":-9223372036854775809}', False),
        ('{"a":[true,false,null,"\U0001f680"]}', True),
    ],
)
def test_the_fast_canonical_form_is_allowed_only_where_it_is_exact(metadata, plain):
    document = parse(body_with(metadata))
    assert document.plain is plain is is_plain(document.value)


# The wrapper {"payload": {...}}


@pytest.mark.parametrize(
    "body",
    [
        b'{"turns":[]}',
        b'{"payload":{"turns":[]},"turns":[]}',
        b'{"payload":[1]}',
        b'{"payload":"{}"}',
        b'{"payload":null}',
    ],
)
def test_what_is_no_wrapper_stays_closed(body):
    document = parse(body)
    assert open_wrapper(document) is document


@pytest.mark.parametrize(
    "wrapped",
    [
        b'{"payload":%s}',
        b' \n{ "payload" :\t%s\n}\n ',
        b'{"\\u0070ayload":%s}',
        b'{"payload":%s,"x":1}',
        b'{"x":{"payload":{"}":"]"}},"y":[1,"\\"",{}],"z":-1.5e3,"payload" : %s , "w":null}',
        b'{"x":"\\\\","y":true , "p\\u0061yload"\n:\n%s}',
    ],
)
def test_a_wrapper_is_opened_and_the_text_is_the_exact_slice(wrapped):
    inner = b'{ "turns" : ["}", "\\"]}", {"payload":{}}],"n":1}'
    document = open_wrapper(parse(wrapped % inner))
    assert document.text == inner
    assert document._replace(warnings=()) == parse(inner)
    beside = [f"$.{name}" for name in json.loads(wrapped.replace(b"%s", b"0")) if name != "payload"]
    assert document.warnings == tuple(Problem(path, "ignored") for path in beside)
    assert [f"$.{name}" for name in beside_payload(parse(wrapped % inner))] == beside


def test_options_beside_a_payload_stand_in_it_then_and_nothing_else_of_it_changes():
    inner = b'{"a":1.50, "b":12345678901234567890123}'
    document = open_wrapper(parse(b'{"capture_options":{"content":"none"},"payload":%s}' % inner))
    assert document.value == {**json.loads(inner), "capture_options": {"content": "none"}}
    assert json.loads(document.text) == document.value
    assert (document.plain, document.warnings) == (False, ())
    own = b'{"a":1.50,"capture_options":{"content":"none","derive_ids":true}}'
    for beside in (b'{"content":"redacted"}', b'{"derive_ids":true}', b"{}", b"null"):
        kept = open_wrapper(parse(b'{"payload":%s,"capture_options":%s}' % (own, beside)))
        assert kept == parse(own)
    assert open_wrapper(parse(b'{"payload":{"a":1},"capture_options":null}')) == parse(b'{"a":1}')


def test_a_wrapper_is_opened_once():
    assert open_wrapper(parse(b'{"payload":{"payload":{"a":1}}}')).value == {"payload": {"a": 1}}


def test_what_stands_beside_the_payload_does_not_make_it_less_plain():
    assert open_wrapper(parse(b'{"x":1.5,"payload":{"a":1}}')).plain
    assert not open_wrapper(parse(b'{"x":1.5,"payload":{"a":1.5}}')).plain


@settings(deadline=None)
@given(
    payloads(max_turns=2),
    st.dictionaries(text, json_values, max_size=3),
    st.booleans(),
    st.sampled_from([None, 1]),
    st.randoms(),
)
def test_any_payload_is_found_in_any_wrapper(payload, beside, ascii_only, indent, random):
    members = [
        *((name, value) for name, value in beside.items() if name not in {"payload", "turns"}),
        ("payload", payload),
    ]
    random.shuffle(members)
    document = open_wrapper(parse(json.dumps(dict(members), ensure_ascii=ascii_only, indent=indent).encode()))
    assert document.value == payload
    assert json.loads(document.text) == payload
    assert document.plain == is_plain(payload)


@pytest.mark.parametrize("text_of_another", [b"[]", b'{"a"', b'{"a":}', b'{"a":[1,2,"payload":{}}'])
def test_a_document_whose_text_is_not_its_own_is_a_fault_of_ours(text_of_another):
    with pytest.raises(RuntimeError, match="parsed"):
        open_wrapper(Document({"a": 1, "payload": {}}, text_of_another, plain=True))


# Memory: the whole function has 256 MiB.

MEASURE = """
import sys
from agent.edge.document import open_wrapper, parse
from agent.capture.validation import validate_payload, warnings_for
from agent.errors import ValidationError
body = sys.stdin.buffer.read()
try:
    payload = open_wrapper(parse(body)).value
    validate_payload(payload)
    warnings_for(payload)
    print("accepted")
except ValidationError as error:
    print(error.problems[0].rule)
# Not getrusage: its figure starts with what the parent had when it forked.
print(next(int(line.split()[1]) // 1024 for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""
TEN_MEBIBYTES = 10 * 1024 * 1024
ROOM = TEN_MEBIBYTES - 700
OPEN = json.dumps(BASE).encode()[:-1]
# Ten mebibytes of names, each with a character that makes Python use four bytes for every one of them.
NAMES = b",".join('"\U0001f680{:x}{}":0'.format(place, "k" * 24).encode() for place in range(249_900))
WRONG_TURN = "{" + ",".join(f'"{"k" * 30}{place}":0' for place in range(23)) + "}"
HOSTILE = {
    "one giant string with one emoji": (body_with('{"a":"\U0001f680' + "a" * ROOM + '"}'), "accepted"),
    "a quarter of a million arrays": (body_with('{"a":[' + "[]," * 249_970 + "[]]}"), "accepted"),
    "a quarter of a million objects": (body_with('{"a":[' + '{"a":{}},' * 124_980 + "{}]}"), "accepted"),
    "many names": (OPEN + b',"x":{' + NAMES + b"}}", "accepted"),
    "many names at the root": (OPEN + b"," + NAMES + b"}", "accepted"),
    "many names and a fault behind them": (OPEN + b"," + NAMES + b',"turns":0}', "duplicate_key"),
    "many wrong turns": (f'{{"turns":[{",".join([WRONG_TURN] * 9_999)}]}}'.encode(), "required"),
    "a giant wrong value": (json.dumps(changed("turns", 0, "role", "u" * ROOM)).encode(), "enum"),
}


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of a process is read from Linux's /proc")
@pytest.mark.parametrize(("body", "outcome"), HOSTILE.values(), ids=HOSTILE.keys())
def test_no_body_within_the_bounds_takes_the_memory_of_a_function(body, outcome):
    assert len(body) <= TEN_MEBIBYTES
    ran = subprocess.run([sys.executable, "-c", MEASURE], input=body, capture_output=True, check=True, cwd=REPOSITORY)
    said, peak = ran.stdout.split()
    assert said.decode() == outcome
    assert int(peak) < 200
