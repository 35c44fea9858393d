"""YAML is read back by PyYAML (1.1), and by a reader with the scalar rules of the YAML 1.2 core schema."""

import re
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.cli.terminal_text import escape_document
from agent.cli.yaml_text import yaml_text
from tests.strategies import json_values


class Yaml12Loader(yaml.SafeLoader):
    """The scalars of YAML 1.2.2 section 10.3.2, in place of those of 1.1."""


Yaml12Loader.yaml_implicit_resolvers = {}
for tag, pattern in (
    ("null", r"null|Null|NULL|~|"),
    ("bool", r"true|True|TRUE|false|False|FALSE"),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+"),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?(\.inf|\.Inf|\.INF)|\.nan|\.NaN|\.NAN"),
):
    Yaml12Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(f"(?:{pattern})\\Z"), None)


def _integer(_loader: yaml.SafeLoader, node: yaml.ScalarNode) -> int:
    return int(node.value, 0) if node.value[:2] in {"0o", "0x"} else int(node.value)


def _float(_loader: yaml.SafeLoader, node: yaml.ScalarNode) -> float:
    return float(node.value.replace(".inf", "inf").replace(".nan", "nan"))


Yaml12Loader.add_constructor("tag:yaml.org,2002:int", _integer)
Yaml12Loader.add_constructor("tag:yaml.org,2002:float", _float)

READERS = {"1.1": yaml.SafeLoader, "1.2": Yaml12Loader}
TRAPS = [
    *("no", "No", "NO", "on", "off", "yes", "y", "N", "true", "null", "~", "", " ", "nan", ".nan", "inf", "-.inf"),
    *("1e3", "1E3", "12e03", "1.", ".5", "0o17", "017", "08", "0x1f", "0b11", "1_000", "+12", "1:30", "190:20:30.15"),
    *("2026-03-02", "2026-03-02T08:15:00Z", "=", "<<", "- a", "a: b", "a #b", "#a", "&a", "*a", "!a", "%a", "@a", "`a"),
    *("{a", "[a", "? a", "| a", "> a", "'", '"', "\\", "a\nb", "a\n", "\n", "\t", "---", "...", "\u0085", "\u2028"),
    *(
        "\ufeff",
        "\x00",
        "\x1b[2J",
        "\u202e",
        "完成 ✅",
        "🚀",
        "\U000e0001",
        "e\u0301",
        "\x7f",
        "\ufffe",
        "a" * 300 + " " + "b" * 300,
    ),
]


def read(text: str, version: str) -> Any:
    return yaml.load(text, READERS[version])


@pytest.mark.parametrize("version", READERS)
@pytest.mark.parametrize("text", TRAPS)
def test_a_string_stays_a_string_for_both_versions(text: str, version: str) -> None:
    document = {"value": text, text: ["key"]}
    assert read(yaml_text(document), version) == document
    assert read(yaml_text(document, allow_unicode=False), version) == document


@pytest.mark.parametrize("version", READERS)
@settings(deadline=None, max_examples=60)
@given(value=st.dictionaries(st.text(max_size=5), json_values, max_size=4))
def test_every_json_object_comes_back_from_both_versions(version: str, value: dict[str, Any]) -> None:
    assert read(yaml_text(value), version) == value
    assert read(escape_document(yaml_text(value)), version) == value
    ascii_only = yaml_text(value, allow_unicode=False)
    assert ascii_only.isascii()
    assert read(ascii_only, version) == value


def test_only_words_of_letters_stand_without_quotes() -> None:
    assert yaml_text({"event_id": "belongs_to", "ref": "no", "id": "e1", "n": 1, "none": None, "yes": True}) == (
        'event_id: belongs_to\nref: "no"\nid: "e1"\n"n": 1\nnone: null\n"yes": true\n'
    )


def test_a_value_that_comes_twice_is_written_twice() -> None:
    shared = {"a": [1]}
    assert yaml_text({"x": shared, "z": shared}) == "x:\n  a:\n  - 1\nz:\n  a:\n  - 1\n"
