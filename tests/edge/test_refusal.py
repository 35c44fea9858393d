"""Why a body was refused, and where (CONTRACT 2; field cases H01, H04, H05, H17)."""

import json
import time

import jiter
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agent.edge.document import parse
from agent.edge.refusal import explain, find
from agent.errors import Problem, ValidationError
from tests.capture.cases import BASE, body_with
from tests.conftest import vectors
from tests.strategies import json_values


def refusal(body: bytes) -> ValidationError:
    with pytest.raises(ValidationError) as raised:
        parse(body)
    assert raised.value.__cause__ is None
    return raised.value


@pytest.mark.parametrize(
    ("body", "rule", "line", "column"),
    [
        (b'{"session_id": "6f1d', "json", 1, 21),
        (b'{"a":1', "json", 1, 7),
        (b'{"a"', "json", 1, 5),
        (b'{"a":', "json", 1, 6),
        (b"{", "json", 1, 2),
        (b"[1,", "json", 1, 4),
        (b'{"a":1} x', "json", 1, 9),
        (b'{"a":1}\x00', "json", 1, 8),
        (b'{"a":1,}', "json", 1, 8),
        (b"[1,]", "json", 1, 4),
        (b"[,1]", "json", 1, 2),
        (b"[1 2]", "json", 1, 4),
        (b"[1}", "json", 1, 3),
        (b'{"a" 1}', "json", 1, 6),
        (b"{a:1}", "json", 1, 2),
        (b"{'a':1}", "json", 1, 2),
        (b"\n{\n 'a':1}", "json", 3, 2),
        (b"[01]", "json", 1, 3),
        (b"[1.]", "json", 1, 3),
        (b"[.5]", "json", 1, 2),
        (b"[+1]", "json", 1, 2),
        (b"[1e]", "json", 1, 3),
        (b"[-]", "json", 1, 2),
        (b"[nul]", "json", 1, 2),
        (b"[NaN]", "json", 1, 2),
        (b"[Infinity]", "json", 1, 2),
        (b"[-Infinity]", "json", 1, 2),
        (b'["a\nb"]', "json", 1, 4),
        (b'["\x01"]', "json", 1, 3),
        (b'["\\x"]', "json", 1, 3),
        (b'["\\u00g0"]', "json", 1, 3),
        (b"{}\xc2\xa0", "json", 1, 3),
        (b'{"a":"\xff"}', "utf8", 1, 7),
        (b'{"a":1,\xff', "utf8", 1, 8),
        ('{"é🚀":"'.encode() + b"\xc3", "utf8", 1, 8),
        (b'["\xed\xa0\x80"]', "utf8", 1, 3),
        (b'["\xc0\x80"]', "utf8", 1, 3),
        (b'{"content":"sent \\ud83d"}', "surrogate", 1, 18),
        (b'\n["\\ud83d\\u0041"]', "surrogate", 2, 3),
        (b'["\\udE80"]', "surrogate", 1, 3),
        (b'{"\\ud83d":1}', "surrogate", 1, 3),
        ('["é🚀", 1e400]'.encode(), "number_range", 1, 8),
        (b"[\n  -1E+400]", "number_range", 2, 3),
        (b"[1" + b"0" * 4300 + b"]", "number_range", 1, 2),
        (b"[-1" + b"0" * 4300 + b"]", "number_range", 1, 2),
        (b"[1" + b"0" * 4300 + b"e-4300]", "number_range", 1, 2),
        (b'{"a":1,"a":2}', "duplicate_key", 1, 8),
        (b'{"a":{"b":1},\n"c":[{"b":0}], "\\u0061":2}', "duplicate_key", 2, 16),
        (b'{"":1,"":2}', "duplicate_key", 1, 7),
        (b"[" * 129, "depth", 1, 129),
        (b"[" * 200 + b"]" * 200, "depth", 1, 129),
        (b'{"a":\n' * 150, "depth", 129, 1),
    ],
)
def test_a_refusal_names_its_rule_and_its_line_and_column(body, rule, line, column):
    error = refusal(body)
    assert error.problems == (Problem("$", rule),)
    assert error.message.endswith(f", at line {line}, column {column}")
    assert "not JSON" in error.message or rule != "json"


def test_of_several_faults_the_first_is_named():
    assert refusal(b'{"a":1,"a":1e400}').problems == (Problem("$", "duplicate_key"),)
    assert refusal(b'{"a":1e400,"a":1}').problems == (Problem("$", "number_range"),)


def test_places_are_counted_without_the_byte_order_mark():
    assert refusal(b"\xef\xbb\xbf[1,]").message.endswith("line 1, column 4")


def test_a_duplicate_key_is_named_cut_at_64_characters():
    key = 'a"\U0001f680' + "k" * 100
    error = refusal(json.dumps({"x": 1})[:-1].encode() + b',%s:1,%s:"SECRET"}' % ((json.dumps(key).encode(),) * 2))
    assert json.dumps(key[:64], ensure_ascii=False) in error.message
    assert "k" * 62 not in error.message
    assert "SECRET" not in error.message


def test_the_rule_of_a_duplicated_role_is_named_with_its_place():
    body = json.dumps(BASE).replace('"role": "user"', '"role": "user", "role": "system"').encode()
    error = refusal(body)
    assert error.problems == (Problem("$", "duplicate_key"),)
    assert error.message.startswith('the key "role" stands twice')


SECRET = "SECRET-71b"


@pytest.mark.parametrize(
    "metadata",
    [
        f'{{"a":"{SECRET}\\ud83d"}}',
        f'{{"a":"{SECRET}","b":NaN}}',
        f'{{"a":"{SECRET}\x01"}}',
        f'{{"a":{SECRET}}}',
        f'{{"a":"{SECRET}","a":"{SECRET}"}}',
        f'{{"a":["{SECRET}" "{SECRET}"]}}',
        f'{{"a":"{SECRET}","b":7116e999}}',
    ],
)
def test_a_refusal_never_repeats_a_value(metadata):
    error = refusal(body_with(metadata))
    assert SECRET not in f"{error.message} {error.details}"
    assert "7116" not in error.message


def test_a_refused_text_without_a_fault_is_still_refused():
    assert find(b'{"a":1}') is None
    assert explain(b'{"a":1}').problems == (Problem("$", "json"),)


@pytest.mark.parametrize(
    "text", [b'{"a":[1,-0.5e-3,"\\u00e9\\uD83D\\uDE80\\/"],"b":{}}', b" 1 ", b'"a"', b"[" * 128 + b"]" * 128]
)
def test_a_sound_text_has_no_fault(text):
    assert find(text) is None


# The parser decides, the tokenizer explains: on any bytes they must agree.

REAL = [
    json.dumps(case["input"], ensure_ascii=False, indent=indent).encode() for case in vectors() for indent in (None, 1)
]
TOKENS = [
    *(bytes([byte]) for byte in b'"\\{}[],:019-.eE+/bu \n\t\x00\x1f\x7f\xff\xc3\xa9'),
    *rb"\u \ud83d \udc00 \ud83d\ude80 \u0061 NaN Infinity null nul true 1e400 1e308".split(),
    *(b'"a":1,', b'"a"', b"[" * 130, b"]" * 130, b"9" * 4300, b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xef\xbb\xbf"),
]


def accepts(body: bytes) -> bool:
    """Whether the parser and the walk accept ``body``, whatever its root is."""
    try:
        parse(body)
    except ValidationError as error:
        return error.problems[0].rule == "object"
    return True


@st.composite
def mutated_bodies(draw: st.DrawFn) -> bytes:
    text = bytearray(draw(st.sampled_from(REAL) | json_values.map(lambda value: json.dumps(value).encode())))
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(text)))
        end = start + draw(st.sampled_from([0, 0, 1, 2, 8]))
        text[start:end] = draw(st.sampled_from(TOKENS) | st.binary(max_size=2) | st.just(b""))
    return bytes(text)


@settings(deadline=None, max_examples=800)
@given(mutated_bodies() | st.binary(max_size=20) | st.lists(st.sampled_from(TOKENS), max_size=8).map(b"".join))
@example(b'[1.7976931348623159e308, "\\uDBFF\\uDFFF"]')
@example(b"[1" + b"0" * 4299 + b".0]")
def test_the_parser_and_the_tokenizer_agree_on_any_bytes(body):
    # The mark before the text is the parse function's to skip.
    assert accepts(body) == (find(body.removeprefix(b"\xef\xbb\xbf")) is None)
    in_an_object = b'{"":' + body + b"}"
    assert accepts(in_an_object) == (find(in_an_object) is None)


@settings(deadline=None)
@given(json_values)
def test_every_json_value_is_sound_to_both(value):
    text = json.dumps(value).encode()
    assert find(text) is None
    assert jiter.from_json(text) == value


@pytest.mark.parametrize(
    "body",
    [
        b'["' + b"\\n" * 5_000_000 + b"\\x",
        b'["' + "é".encode() * 5_000_000 + b"\\x",
        b"[" + b" " * 10_000_000 + b"x",
        b"[0." + b"1" * 10_000_000 + b"x",
        b"[" + b"1" * 10_000_000 + b"x",
        b"\n" * 10_000_000 + b"x",
        b'{"' + b"k" * 5_000_000 + b'":0,"' + b"k" * 5_000_000 + b'":0}',
        b'{"a":[' + b'"\\u0061",' * 249_000 + b"x",
        b"{" + b",".join(b'"\\u0061%d":0' % place for place in range(249_000)),
        b'{"a":[' + b"{}," * 249_000 + b"x",
    ],
    ids=[
        "escapes",
        "two-byte characters",
        "white space",
        "fraction",
        "digits",
        "lines",
        "keys",
        "strings",
        "members",
        "objects",
    ],
)
def test_a_hostile_body_is_explained_in_bounded_time(body):
    started = time.process_time()
    assert refusal(body).problems[0].rule in {"json", "number_range", "duplicate_key"}
    assert time.process_time() - started < 15
