"""In the mode redacted, what is found is replaced by its kind, a named parameter's value whole (CONTRACT 8)."""

import json

import pytest

from agent.content.found import Found
from agent.content.redacted import Redacting
from tests.content.found_texts import find

PARAMS = frozenset({"ssn", "größe"})


def redacted(text, params=PARAMS, detect=find):
    rule = Redacting(detect, params)
    return rule.text(text), dict(rule.counts)


def test_what_is_found_in_a_content_is_replaced_by_its_kind_and_counted():
    assert redacted("write to ann@example.org or bob@example.org, 4111111111111111") == (
        "write to [redacted:email] or [redacted:email], [redacted:card]",
        {"email": 2, "card": 1},
    )


@pytest.mark.parametrize("text", ["", "nothing here", "[redacted:email]", "[omitted:12]", 'a "quoted" \\ word'])
def test_what_nothing_is_found_in_stays(text):
    assert redacted(text) == (text, {})


def test_what_becomes_visible_by_a_replacement_is_replaced_too():
    def only_at_the_start(text):
        place = text.find("@")
        return [Found(place, place + 1, "email")] if place >= 0 else []

    assert redacted("@@@", detect=only_at_the_start) == ("[redacted:email]" * 3, {"email": 3})


def test_what_lies_in_a_placeholder_is_not_found_again():
    def every_word(text):
        start = text.index("redacted")
        return [Found(start, start + 8, "url_password")]

    assert redacted("x [redacted:email] y", detect=every_word) == ("x [redacted:email] y", {})


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ({"to": "ann@example.org", "n": 1}, {"to": "[redacted:email]", "n": 1}),
        ({"card": 4111111111111111}, {"card": "[redacted:card]"}),
        ({"lines": "one\nann@example.org\n"}, {"lines": "one\n[redacted:email]\n"}),
        (
            [["sk-0123456789"], {"a": '"sk-0123456789"'}],
            [["[redacted:vendor_token]"], {"a": '"[redacted:vendor_token]"'}],
        ),
        (
            {"inner": json.dumps({"ssn": "12", "q": 'a"b'})},
            {"inner": json.dumps({"ssn": "[redacted:param]", "q": 'a"b'})},
        ),
        ({"größe": 12, "b": None}, {"größe": "[redacted:param]", "b": None}),
    ],
)
@pytest.mark.parametrize("spelling", [{}, {"ensure_ascii": False}, {"indent": 1}])
def test_a_text_that_is_json_stays_json(said, left, spelling):
    text, _ = redacted(json.dumps(said, **spelling))
    assert json.loads(text) == left


def test_an_escape_hides_nothing_in_a_text_that_is_json():
    assert redacted('{"a": "\\u0061nn\\u0040example.org"}') == ('{"a": "[redacted:email]"}', {"email": 1})


def test_half_a_pair_of_surrogates_stays_the_escape_that_it_was():
    after, _ = redacted('{"a":"\\ud83d ann@example.org"}')
    assert after == '{"a":"\\ud83d [redacted:email]"}'
    assert after.isascii()


@pytest.mark.parametrize(
    "around",
    [
        '{"a": 1}\n{"to": "%s"}\n',
        'She said:\n```json\n{"to": "%s"}\n```',
        '"%s"',
        '\ufeff{"to": "%s"}',
        "[" * 2000 + '"%s"' + "]" * 2000,
        '{"n": ' + "1" * 4301 + ', "to": "%s"}',
    ],
)
@pytest.mark.parametrize("address", ["ann\\u0040example.org", "\\u0061nn\\u0040example.org", "\\\\u0061nn@example.org"])
def test_an_escape_hides_nothing_in_a_text_that_is_not_one_document(around, address):
    assert redacted(around % address) == (around % "[redacted:email]", {"email": 1})


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('{"\\u0073s\\u006E": "a\\"b", "x": 1}', '{"\\u0073s\\u006E": "[redacted:param]", "x": 1}'),
        ('say {\\"ssn\\": \\"12\\", \\"x\\": 1}', 'say {\\"ssn\\": \\"[redacted:param]\\", \\"x\\": 1}'),
        ("\\u0022ssn\\u0022: 12", "\\u0022ssn\\u0022: \\u0022[redacted:param]\\u0022"),
        (
            "it is " + json.dumps(json.dumps({"a": json.dumps({"ssn": [1, 2]})})),
            "it is " + json.dumps(json.dumps({"a": json.dumps({"ssn": "[redacted:param]"})})),
        ),
        ('{"ssn": "[omitted:4711]"}', '{"ssn": "[redacted:param]"}'),
        ('"ssn":""ssn":x', '"ssn":"[redacted:param]"ssn":"[redacted:param]"'),
    ],
)
def test_a_parameter_is_found_however_its_name_is_spelled(text, left):
    assert redacted(text)[0] == left
    assert redacted(left) == (left, {})


def test_a_secret_that_begins_in_the_value_of_a_parameter_goes_with_it():
    def from_begin_to_end(text):
        start, end = text.find("BEGIN"), text.find("END")
        return [Found(start, end + 3, "private_key")] if 0 <= start < end else []

    text, _ = redacted('"ssn": BEGIN key\nABCDEF\nEND\nafter', detect=from_begin_to_end)
    assert "ABCDEF" not in text
    assert text.endswith("\nafter")


def test_a_text_that_is_json_keeps_what_is_not_replaced_to_the_letter():
    text = '{ "a" : 1.50,  "to": "ann@example.org", "b":1e400, "c": "\\/\\u00e9" }'
    assert redacted(text)[0] == text.replace("ann@example.org", "[redacted:email]")


def test_a_find_that_crosses_members_is_cut_to_their_values():
    def everything(text):
        return [Found(0, len(text), "connection_string")] if "dsn" in text else []

    text, counts = redacted('{"dsn": "a\\"b", "n": 12}', detect=everything)
    placeholder = '"[redacted:connection_string]"'
    assert text == f"{{{placeholder}: {placeholder}, {placeholder}: {placeholder}}}"
    assert counts == {"connection_string": 4}


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('{"ssn": "078-05-1120", "a": 1}', '{"ssn": "[redacted:param]", "a": 1}'),
        ('{"ssn":{"no":[1,2]}, "a":1}', '{"ssn":"[redacted:param]", "a":1}'),
        ('The tool said {"ssn": 078 05, "a": 1}.', 'The tool said {"ssn": "[redacted:param]", "a": 1}.'),
        ('{"ssn": user.ssn}', '{"ssn": "[redacted:param]"}'),
        ('cut off: {"ssn": "078-05-11', 'cut off: {"ssn": "[redacted:param]"'),
        ('{"ssn": null, "a": {"ssn": true}}', '{"ssn": null, "a": {"ssn": true}}'),
        ('{"gr\\u00f6\\u00dfe": 3}', '{"gr\\u00f6\\u00dfe": "[redacted:param]"}'),
        ('{"ssn_hint": "x", "ssn": "[redacted:email]"}', '{"ssn_hint": "x", "ssn": "[redacted:email]"}'),
        ('{"ssn":' * 5000, '{"ssn":"[redacted:param]"'),
    ],
)
def test_a_parameter_is_found_by_its_name_in_a_text(text, left):
    assert redacted(text)[0] == left
    assert redacted(left) == (left, {})


def test_in_a_tree_a_parameter_is_replaced_whole_at_any_depth():
    rule = Redacting(find, PARAMS)
    arguments = {"a": [{"ssn": {"deep": [1, 2]}}, {"ssn": None}, {"ssn": False}], "b": 5}
    assert rule.arguments(arguments) == {"a": [{"ssn": "[redacted:param]"}, {"ssn": None}, {"ssn": False}], "b": 5}
    assert rule.counts == {"param": 1}


@pytest.mark.parametrize("number", [4111111111111111, -4111111111111111, 4111111111111111.0])
def test_a_card_that_came_as_a_number_is_replaced(number):
    assert Redacting(find, PARAMS).arguments({"n": number}) == {"n": "[redacted:card]"}


@pytest.mark.parametrize("number", [12345678, 0, 1.5, 4111111111111111.5 / 10**8, 10**4299, 1e300, True])
def test_other_numbers_stay(number):
    def any_digits(text):
        assert len(text) >= 9
        return [] if len(text) > 100 else [Found(0, len(text), "phone")]

    assert Redacting(any_digits, PARAMS).arguments(number) is number
