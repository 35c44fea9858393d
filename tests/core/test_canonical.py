"""The canonical form is RFC 8785, by whichever of the two writers it is made."""

import hashlib
import json
import math
import random
import tracemalloc

import jiter
import orjson
import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.core.canonical import canonical, encode, inputs_hash, is_plain, sha256_hex, stored_inputs_hash
from tests.live.payloads import BASE_HASH, BASE_TEXT
from tests.strategies import json_values, reordered

# Appendix B of RFC 8785, and the edges of IEEE 754.
NUMBERS = {
    0.0: b"0",
    5e-324: b"5e-324",
    1.7976931348623157e308: b"1.7976931348623157e+308",
    9007199254740992.0: b"9007199254740992",
    295147905179352830000.0: b"295147905179352830000",
    1e21: b"1e+21",
    1e-7: b"1e-7",
    0.000001: b"0.000001",
    333333333.33333329: b"333333333.3333333",
    1e23: b"1e+23",
}


@pytest.mark.parametrize(("number", "text"), NUMBERS.items())
def test_numbers_are_written_as_rfc_8785_has_them(number, text):
    assert canonical(number) == text


def test_minus_zero_is_zero():
    assert canonical(-0.0) == b"0"


def test_integers_beyond_two_to_the_53_keep_every_digit():
    number = 123456789012345678901234567890
    assert canonical({"n": number, "m": 2**53 + 1}) == b'{"m":9007199254740993,"n":123456789012345678901234567890}'
    assert canonical(-number) == b"-123456789012345678901234567890"


def test_keys_are_sorted_by_utf_16_code_units():
    # RFC 8785 3.2.3: U+1F600 is D83D DE00 in UTF-16 and stands before U+FB33.
    assert canonical({"\ufb33": 1, "\U0001f600": 2, "\u20ac": 3}) == '{"\u20ac":3,"\U0001f600":2,"\ufb33":1}'.encode()


def test_unicode_is_never_normalised():
    assert canonical("Zo\u00eb") != canonical("Zoe\u0308")


def test_booleans_are_not_integers():
    assert canonical([True, False, None, 1, 1.5, {}, []]) == b"[true,false,null,1,1.5,{},[]]"


def test_the_base_payload_of_the_field_cases_has_the_hash_that_they_give():
    payload = json.loads(BASE_TEXT)
    assert len(canonical(payload)) == 474
    assert inputs_hash(payload) == BASE_HASH


@pytest.mark.parametrize("value", [math.nan, math.inf, [-math.inf], {"k": "\ud83d"}, {"\ude80": 1}])
def test_what_is_not_json_is_refused(value):
    with pytest.raises(ValueError, match=r"JSON|UTF-8"):
        canonical(value)


def test_what_is_no_json_type_is_refused():
    with pytest.raises(TypeError):
        canonical({"k": {1, 2}})


def test_nesting_that_orjson_refuses_is_still_written():
    deep: list = []
    for _ in range(300):
        deep = [deep]
    assert canonical(deep) == b"[" * 301 + b"]" * 301


@given(json_values)
@settings(deadline=None)
def test_the_fast_writer_and_the_walk_agree(value):
    if is_plain(value):
        assert canonical(value, plain=True) == canonical(value, plain=False)
    assert canonical(value) == canonical(value, plain=False)


@given(json_values)
@settings(deadline=None)
def test_rfc8785_agrees_where_it_decides(value):
    try:
        oracle = rfc8785.dumps(value)
    except rfc8785.IntegerDomainError:
        return  # RFC 8785 leaves integers beyond 2^53-1 open; the contract does not
    assert canonical(value) == oracle


@given(json_values, st.randoms())
@settings(deadline=None)
def test_key_order_white_space_and_escapes_do_not_change_the_hash(value, random):
    sent_otherwise = json.dumps(reordered(value, random.shuffle), indent=4, ensure_ascii=True).encode()
    assert inputs_hash(jiter.from_json(sent_otherwise)) == inputs_hash(value)


@given(json_values)
@settings(deadline=None)
def test_encoded_values_read_back_as_they_were(value):
    assert canonical(jiter.from_json(encode(value))) == canonical(value)


def test_encode_keeps_key_order_where_it_can_and_digits_always():
    assert encode({"b": 1, "a": 2}) == b'{"b":1,"a":2}'
    assert orjson.loads(encode({"b": 1})) == {"b": 1}
    assert encode({"n": 2**70, "b": 1.0, "a": [-0.0, 1e16]}) == b'{"n":1180591620717411303424,"b":1.0,"a":[-0.0,1e+16]}'


def test_sha256_is_lower_case_hex():
    assert sha256_hex(b"") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@given(json_values)
@settings(deadline=None)
def test_one_large_integer_changes_neither_the_order_nor_the_form_of_the_rest(value):
    assert encode([value, 2**64]) == encode([value, 0])[:-2] + b"18446744073709551616]"


def test_many_small_strings_take_little_more_memory_than_their_text():
    # Each piece kept apart would take a hundred times its text.
    value = [1.5, *(f"{number:038d}" for number in range(20_000))]
    tracemalloc.start()
    try:
        text = canonical(value)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 * len(text)


@pytest.mark.parametrize("size", [0, 1, 2046, 2047, 2048, 10_000, 65_536, 65_537, 200_000])
def test_sha256_is_the_same_in_pieces_and_at_once(size):
    data = random.Random(size).randbytes(size)
    assert sha256_hex(data) == hashlib.sha256(data).hexdigest()


@given(json_values)
def test_the_hash_of_stored_inputs_is_that_of_sent_ones_however_the_parser_keeps_numbers(value):
    text = json.dumps(value).encode()
    exact = jiter.from_json(text, float_mode="lossless-float")
    assert stored_inputs_hash(value) == stored_inputs_hash(exact, exact_numbers=True) == inputs_hash(value)


@pytest.mark.parametrize("name", ["\U0001f680", "\ufffe", "z"])
def test_stored_keys_beyond_the_basic_plane_are_sorted_as_rfc_8785_has_them(name):
    value = {name: 1, "\uffff": 2, "a": "\U0001f680"}
    assert stored_inputs_hash(value, exact_numbers=True) == inputs_hash(value)


@pytest.mark.parametrize("value", [float("inf"), "\ud800", {"\udc00": 1}, object(), [float("nan")]])
def test_what_no_json_text_can_hold_has_no_hash(value):
    assert stored_inputs_hash({"a": value}) is None


def test_nesting_beyond_all_bounds_has_no_hash():
    value = []
    for _ in range(100_000):
        value = [value]
    assert stored_inputs_hash(value, exact_numbers=True) is None
    while value:
        value = value.pop()
