"""The text of a member is found without parsing, whatever stands around it, and nothing but an object has any."""

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.capture.events.members import Span, members
from agent.edge.document import parse
from agent.edge.json_text import MAX_VALUES
from agent.errors import ValidationError
from tests.strategies import json_values, text

objects = st.dictionaries(text, json_values, max_size=6)
spaces = st.sampled_from([None, 1, "\t"])


@given(objects, spaces, st.booleans())
def test_the_text_of_each_member_is_its_value(value, indent, ascii_only):
    written = json.dumps(value, indent=indent, ensure_ascii=ascii_only).encode()
    found = members(written, set(value))
    assert found is not None
    assert {name: json.loads(span.of(written)) for name, span in found.items()} == value


@given(objects, objects)
def test_an_object_inside_another_is_read_where_it_stands(outer, inner):
    written = json.dumps({**outer, "message": inner}).encode()
    outside = members(written, {"message"})
    assert outside is not None
    found = members(written, set(inner), outside["message"])
    assert found is not None
    assert {name: json.loads(span.of(written)) for name, span in found.items()} == inner


@given(objects, st.data())
def test_what_it_cannot_read_no_parser_accepts(value, data):
    written = bytearray(json.dumps(value).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(written) - 1)) if written else 0
        written[place : place + 1] = data.draw(st.sampled_from([b"", b"{", b"}", b"[", b'"', b",", b":", b"\\", b"1"]))
    if members(bytes(written), set(value)) is None:
        with pytest.raises(ValidationError):
            parse(bytes(written))


@pytest.mark.parametrize(
    "written", [b"", b"[]", b"1", b"{", b'{"a":1', b'{"a":1}}', b'{"a" 1}', b'{"a":1,}', b'{"a":[1}']
)
def test_what_is_no_object_has_no_members(written):
    found = members(written, {"a"})
    assert found is None or written == b'{"a":[1}', "brackets are counted, not paired: the parser refuses the rest"


def test_of_two_members_of_one_name_the_first_counts_and_an_escaped_name_is_the_same():
    written = rb'{"d\u0061ta": 1, "data": 2, "\ud800": 3}'
    assert members(written.replace(rb', "\ud800": 3', b""), {"data"}) == {"data": Span(14, 15)}
    assert members(written, {"data"}) is None, "half of a surrogate pair is no name"


def test_as_many_values_as_the_contract_allows_are_read_and_one_more_is_not():
    fits = b'{"a":[' + b",".join([b"[]"] * (MAX_VALUES - 2)) + b"]}"
    assert members(fits, {"a"}) is not None
    parse(fits)
    beyond = b'{"a":[' + b",".join([b"[]"] * MAX_VALUES) + b"]}"
    assert members(beyond, {"a"}) is None
    assert members(b"{" + b",".join([b'"b":1'] * (MAX_VALUES + 1)) + b"}", {"a"}) is None


@given(st.binary(max_size=40))
def test_any_bytes_are_read_or_given_up(written):
    found = members(written, {"a"})
    assert found is None or Counter(map(type, found.values())).keys() <= {Span}
