"""The file that INTENTS_CONFIG names: what it says, and what is refused of it."""

from pathlib import Path

import pytest

from agent.core.waiting import Hint
from agent.errors import ConfigurationError
from agent.intents import NO_INTENTS, load_intents

EXAMPLE = Path(__file__).resolve().parents[1] / "config" / "intents.example.yaml"
SECRET = "Sesame-4711"


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
    assert (hints.max_attempts, redacted) == (3, frozenset({"account_number"}))


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
        ("1: a", "$: must have names of text; yes, no, on, off and numbers are text in quotes"),
        ("'': a", "$: must have names of text; yes, no, on, off and numbers are text in quotes"),
        ("param_mapping: [a]", "$.param_mapping: must be a mapping"),
        ("param_mapping: {no: {}}",
         "$.param_mapping: must have names of text; yes, no, on, off and numbers are text in quotes"),
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
        ("param_mapping: {a: {values: [x, no]}}",
         "$.param_mapping.a.values[1]: must be text or a number; yes, no, on, off and dates are text in quotes"),
        ("param_mapping: {a: {examples: [2026-03-08]}}",
         "$.param_mapping.a.examples[0]: must be text or a number; yes, no, on, off and dates are text in quotes"),
        ("param_mapping: {a: {values: [.nan]}}", "$.param_mapping.a.values[0]: must be neither empty nor infinite"),
        ("param_mapping: {a: {values: [-.inf]}}", "$.param_mapping.a.values[0]: must be neither empty nor infinite"),
        ("param_mapping: {a: {values: ['']}}", "$.param_mapping.a.values[0]: must be neither empty nor infinite"),
        ("redaction: {param: [a]}", "$.redaction.param: is unknown; there are params"),
        ("redaction: {params: a}", "$.redaction.params: must be a list"),
        ("redaction: {params: [1]}",
         "$.redaction.params[0]: must be text; yes, no, on, off and dates are text in quotes"),
        ("max_attempts: 0", "$.max_attempts: must be a whole number from 1 to 100"),
        ("max_attempts: true", "$.max_attempts: must be a whole number from 1 to 100"),
        ("param_mapping: {a: {type: date}, a: {type: time}}", "$.param_mapping.a: stands twice"),
        ("redaction: {}\nredaction: {params: [a]}", "$.redaction: stands twice"),
        (f"a: [{SECRET}", "the file is no YAML at line 1, column 16"),
        ("a: !!python/object:os.system {}", "the file is no YAML at line 1, column 4"),
        ("? [1, 2]\n: 3", "the file is no YAML at line 1, column 3"),
        ("a: \x00", "the file is no YAML of plain values"),
        ("a: 2026-13-45", "the file is no YAML of plain values"),
        (b"a: \xff", "the file is no YAML of plain values"),
        ("[" * 5000, "the file is no YAML of plain values"),
        ("#" * ((1 << 20) + 1), "the file is larger than 1048576 bytes"),
    ],
)  # fmt: skip
def test_a_bad_file_is_refused_by_the_place_in_it_and_never_by_a_value(
    tmp_path: Path, text: str | bytes, expected: str
) -> None:
    assert refusal(tmp_path, text) == expected


def test_a_long_name_is_cut_where_it_is_told(tmp_path: Path) -> None:
    assert refusal(tmp_path, f"param_mapping: {{{'n' * 100}: 1}}") == f"$.param_mapping.{'n' * 64}: must be a mapping"


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"\AINTENTS_CONFIG: the file cannot be read\Z"):
        load_intents(tmp_path / "absent.yaml")
