"""The file that INTENTS_CONFIG names: what it says, and what is refused of it."""

from pathlib import Path

import pytest

from agent.core.waiting import Hint
from agent.errors import ConfigurationError
from agent.intents import NO_INTENTS, load_intents

EXAMPLE = Path(__file__).resolve().parents[1] / "config" / "intents.example.yaml"
SECRET = "Sesame-4711"
QUOTED = "is something else to YAML than it looks like: put quotes around it"


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "intents.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def refusal(folder: Path, text: str | bytes) -> str:
    with pytest.raises(ConfigurationError) as caught:
        load_intents(written(folder, text))
    assert caught.value.variable == "INTENTS_CONFIG"
    assert SECRET not in caught.value.message
    return caught.value.message.removeprefix("INTENTS_CONFIG: ")


def test_the_example_is_read_whole() -> None:
    hints, redacted = load_intents(str(EXAMPLE))
    assert hints.params["order_id"] == Hint(
        "order_id",
        pattern=r"O-\d{5}",
        examples=("O-12345",),
        prompt="Which order is it?",
        description="The number of an order, as in the confirmation mail",
    )
    assert hints.params["flight_class"].values == ("Economy", "Premium Economy", "Business", "First Class")
    types = {each.type for each in hints.params.values()}
    assert types == {None, "integer", "number", "digits", "date", "time", "boolean", "string"}
    assert hints.max_attempts == 3
    assert redacted == {"account_number", "password", "api_key", "client_secret", "access_token"}


def test_each_part_may_be_absent(tmp_path: Path) -> None:
    assert load_intents(written(tmp_path, "{}")) == NO_INTENTS
    assert load_intents(written(tmp_path, "param_mapping: {}\nredaction: {}\nintents: [anything]")) == NO_INTENTS
    hints, redacted = load_intents(written(tmp_path, "redaction: {params: [pin]}\nmax_attempts: 2"))
    assert (dict(hints.params), hints.max_attempts, redacted) == ({}, 2, frozenset({"pin"}))


def test_members_without_a_value_are_as_good_as_absent(tmp_path: Path) -> None:
    hints, _ = load_intents(written(tmp_path, "param_mapping: {a: {type: integer, prompt: , description: null}}"))
    assert hints.params["a"] == Hint("a", "integer")


def test_values_may_be_text_and_numbers(tmp_path: Path) -> None:
    hints, _ = load_intents(written(tmp_path, "param_mapping: {a: {values: [1, 2.5, 'no', \uff14]}}"))
    assert hints.params["a"].values == (1, 2.5, "no", "\uff14")


def test_one_node_under_two_names_is_read_for_both(tmp_path: Path) -> None:
    hints, _ = load_intents(written(tmp_path, "param_mapping:\n  a: &one {type: date}\n  b: *one\n"))
    assert {name: hint.type for name, hint in hints.params.items()} == {"a": "date", "b": "date"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "$: must be a mapping"),
        ("- a", "$: must be a mapping"),
        (f"param_maping: {SECRET}",
         "$.param_maping: is unknown; there are intents, max_attempts, param_mapping, redaction"),
        ("1: a", "$: must have names of text; numbers and true and false are text in quotes"),
        ("'': a", "$: must have names of text; numbers and true and false are text in quotes"),
        ("param_mapping: [a]", "$.param_mapping: must be a mapping"),
        ("param_mapping: {no: {}}", f"$.param_mapping: {QUOTED}"),
        ("param_mapping: {true: {}}",
         "$.param_mapping: must have names of text; numbers and true and false are text in quotes"),
        (f"param_mapping: {{order_id: {SECRET}}}", "$.param_mapping.order_id: must be a mapping"),
        (f"param_mapping: {{order_id: {{patern: {SECRET}}}}}",
         "$.param_mapping.order_id.patern: is unknown; there are description, examples, pattern, prompt, type, values"),
        ("param_mapping: {order_id: {prompt: [a]}}", "$.param_mapping.order_id.prompt: must be text"),
        ("param_mapping: {order_id: {pattern: 17}}", "$.param_mapping.order_id.pattern: must be text"),
        (f"param_mapping: {{order_id: {{pattern: '({SECRET}'}}}}",
         "$.param_mapping.order_id.pattern: is no regular expression"),
        (f"param_mapping: {{order_id: {{pattern: '({SECRET}+)+'}}}}",
         "$.param_mapping.order_id.pattern: has a repeat inside a repeat, or over alternatives"),
        (f"param_mapping: {{order_id: {{type: {SECRET}}}}}",
         "$.param_mapping.order_id.type: must be one of string, integer, number, digits, date, time, boolean"),
        ("param_mapping: {a: {type: boolean, values: [x]}}",
         "$.param_mapping.a.type: a boolean is read as yes or no, without values and without a pattern"),
        ("param_mapping: {a: {pattern: x, values: [x]}}",
         "$.param_mapping.a.pattern: stands beside values, which say already what there can be"),
        ("param_mapping: {a: {values: x}}", "$.param_mapping.a.values: must be a list"),
        ("param_mapping: {a: {values: [x, true]}}",
         "$.param_mapping.a.values[1]: must be text or a number; true and false are text in quotes"),
        ("param_mapping: {a: {values: [[x]]}}",
         "$.param_mapping.a.values[0]: must be text or a number; true and false are text in quotes"),
        ("param_mapping: {a: {values: ['']}}", "$.param_mapping.a.values[0]: must not be blank"),
        ("param_mapping: {a: {values: [x, ' ']}}", "$.param_mapping.a.values[1]: must not be blank"),
        ("param_mapping: {a: {examples: [' ']}}", "$.param_mapping.a.examples[0]: must not be blank"),
        ("param_mapping: {a: {values: [x, y, X]}}", "$.param_mapping.a.values[2]: stands twice"),
        ("param_mapping: {a: {values: [1, '1']}}", "$.param_mapping.a.values[1]: stands twice"),
        ("param_mapping: {a: {values: [1, 1.0]}}", "$.param_mapping.a.values[1]: stands twice"),
        ("param_mapping: {a: {values: [A-B, a b]}}", "$.param_mapping.a.values[1]: stands twice"),
        ("param_mapping: {a: {pattern: ''}}", "$.param_mapping.a.pattern: is empty"),
        ("param_mapping: {a: {pattern: ' '}}", "$.param_mapping.a.pattern: is empty"),
        ("x: &x [" + "a, " * 9_000 + "a]\nparam_mapping: {a: {examples: *x}}",
         "$.x: is unknown; there are intents, max_attempts, param_mapping, redaction"),
        ("param_mapping: {a: {examples: &x [" + "a, " * 9_000 + "a]}, b: {examples: *x}, c: {examples: *x}}",
         "$.param_mapping: has more than 20000 values and examples"),
        ("redaction: {param: [a]}", "$.redaction.param: is unknown; there are params"),
        ("redaction: {params: a}", "$.redaction.params: must be a list"),
        ("redaction: {params: [1]}",
         "$.redaction.params[0]: must be text; true and false are text in quotes"),
        ("max_attempts: 0", "$.max_attempts: must be a whole number from 1 to 100"),
        ("max_attempts: true", "$.max_attempts: must be a whole number from 1 to 100"),
        ("param_mapping: {a: {type: date}, a: {type: time}}", "$.param_mapping.a: stands twice"),
        ("redaction: {}\nredaction: {params: [a]}", "$.redaction: stands twice"),
        (f"a: [{SECRET}", "the file is no YAML at line 1, column 16"),
        ("? [1, 2]\n: 3", "$: must have names of text"),
        ("a: 1\n---\nb: 2", "$: must be one document"),
        (f"a: *{SECRET}", "$.a: refers to what is not there, or is not complete"),
        ("a: &a [*a]", "$.a[0]: refers to what is not there, or is not complete"),
        ("a: \x00", "the file is no YAML of plain values"),
        (b"a: \xff", "the file is no YAML of plain values"),
        ("[" * 5000, "$" + "[0]" * 17 + ": is nested deeper than 16 levels"),
        ("{a: " * 17 + "1" + "}" * 17, "$" + ".a" * 16 + ": is nested deeper than 16 levels"),
        ("#" * ((1 << 17) + 1), "the file is larger than 131072 bytes"),
    ],
)  # fmt: skip
def test_a_bad_file_is_refused_by_the_place_in_it_and_never_by_a_value(
    tmp_path: Path, text: str | bytes, expected: str
) -> None:
    assert refusal(tmp_path, text) == expected


@pytest.mark.parametrize(
    "value",
    ["010", "007", "08", "1_000", "1:30", "12:30:45", "19:30", "0x1F", "0b11", "0o17", "1e3", "1.5e+3", ".5", "5.",
     "+5", "-0", "1.10", "no", "Yes", "off", "ON", ".nan", "-.inf", "2026-03-08", "2026-13-45", "2026-03-08 10:00:00",
     "=", "<<", "9" * 301],
)  # fmt: skip
def test_what_is_not_what_it_looks_like_stands_in_quotes(tmp_path: Path, value: str) -> None:
    assert (
        refusal(tmp_path, f"param_mapping: {{a: {{values: [x, {value}]}}}}") == f"$.param_mapping.a.values[1]: {QUOTED}"
    )
    hints, _ = load_intents(written(tmp_path, f"param_mapping: {{a: {{values: [x, '{value}']}}}}"))
    assert hints.params["a"].values == ("x", value)


@pytest.mark.parametrize("value", ["-5", "0", "12.5", "-0.5", "1.2.3", "12-34", "a:b", "\uff14"])
def test_what_is_what_it_looks_like_needs_no_quotes(tmp_path: Path, value: str) -> None:
    hints, _ = load_intents(written(tmp_path, f"param_mapping: {{a: {{values: [{value}]}}}}"))
    assert [str(each) for each in hints.params["a"].values] == [value]


@pytest.mark.parametrize(
    "value",
    ['!!bool "x"', '!!int ""', '!!float ""', '!!timestamp "x"', "!!null x", "!!binary x", "!!set {a}", "!!omap [a: 1]",
     "!!python/object:os.system {}", "!own x", f"!!int {SECRET}"],
)  # fmt: skip
@pytest.mark.parametrize("place", ["max_attempts", "param_mapping"])
def test_a_tag_is_refused(tmp_path: Path, value: str, place: str) -> None:
    assert refusal(tmp_path, f"{place}: {value}") == f"$.{place}: has a tag: only plain values are taken"


def test_a_tag_of_text_is_as_good_as_quotes(tmp_path: Path) -> None:
    hints, _ = load_intents(written(tmp_path, "param_mapping: {a: {values: [!!str 010, ! 12:30]}}"))
    assert hints.params["a"].values == ("010", "12:30")


@pytest.mark.parametrize("escape", ["\\ud800", "a\\udfff"])
def test_half_a_character_is_refused(tmp_path: Path, escape: str) -> None:
    problem = "must be text of whole characters"
    assert refusal(tmp_path, f'param_mapping: {{a: {{prompt: "{escape}"}}}}') == f"$.param_mapping.a.prompt: {problem}"
    assert refusal(tmp_path, f'param_mapping: {{"{escape}": {{}}}}') == f"$.param_mapping: {problem}"


def test_what_the_orchestrator_writes_is_not_judged(tmp_path: Path) -> None:
    text = "intents: [12:30, {a: no, at: 2026-03-08}, !own {b: !!int x}]\nmax_attempts: 2"
    assert load_intents(written(tmp_path, text)).hints.max_attempts == 2
    assert refusal(tmp_path, "intents_: 12:30") == f"$.intents_: {QUOTED}"


def test_a_file_as_large_as_it_may_be_is_read(tmp_path: Path) -> None:
    assert load_intents(written(tmp_path, f"intents: [{'a,' * 65_500}a]")) == NO_INTENTS


def test_a_long_name_is_cut_where_it_is_told(tmp_path: Path) -> None:
    assert refusal(tmp_path, f"param_mapping: {{{'n' * 100}: 1}}") == f"$.param_mapping.{'n' * 64}: must be a mapping"


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"\AINTENTS_CONFIG: the file cannot be read\Z"):
        load_intents(tmp_path / "absent.yaml")
    with pytest.raises(ConfigurationError, match=r"\AINTENTS_CONFIG: the file cannot be read\Z"):
        load_intents("intents\0.yaml")
    with pytest.raises(ConfigurationError, match=r"\AINTENTS_CONFIG: the file cannot be read\Z"):
        load_intents(tmp_path)
