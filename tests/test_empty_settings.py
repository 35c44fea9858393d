"""A setting that guards is never set to nothing: that is what a secret becomes that nobody found."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from agent.callers.settings import caller_settings
from agent.capture.events.settings import event_settings
from agent.config import RecallSettings, Settings
from agent.errors import ConfigurationError
from agent.sdk import ConversationMemory
from store.settings import StoreSettings
from tests.conftest import REPOSITORY

Read = Callable[[Mapping[str, str]], object]

NOTHING = ("", " ", "\n", "\t\r\n ")
CAPTURE = ("CAPTURE_API_KEYS", "CAPTURE_API_KEYS_FILE", "RATE_LIMIT", "CAPTURE_CONTENT", "INTENTS_CONFIG")
RECALL = ("RECALL_API_KEYS", "RECALL_API_KEYS_FILE", "RATE_LIMIT", "INTENTS_CONFIG")
STORE = ("RUVECTOR_KEYS", "RUVECTOR_QUOTAS")


def of_capture_keys(environ: Mapping[str, str]) -> object:
    return caller_settings(environ, "CAPTURE_API_KEYS")


def of_the_sdk(environ: Mapping[str, str]) -> object:
    with ConversationMemory(environ=environ) as memory:
        return memory


# Who reads which of them. A program and the command line have no callers.
READ: dict[str, tuple[Read, tuple[str, ...]]] = {
    "capture": (Settings.of_capture_function, CAPTURE),
    "events": (event_settings, CAPTURE),
    "recall": (RecallSettings.from_env, RECALL),
    "command line": (Settings.from_env, ("CAPTURE_CONTENT", "INTENTS_CONFIG")),
    "program": (of_the_sdk, ("CAPTURE_CONTENT", "INTENTS_CONFIG")),
    "store keys": (of_capture_keys, CAPTURE[:3]),
    "store": (StoreSettings.from_env, STORE),
}
GUARDS = sorted({variable for _, variables in READ.values() for variable in variables})


@pytest.mark.parametrize("nothing", NOTHING)
@pytest.mark.parametrize(("who", "variable"), [(who, each) for who, (_, names) in READ.items() for each in names])
def test_what_guards_and_is_set_to_nothing_stops_the_start(who: str, variable: str, nothing: str) -> None:
    read, _ = READ[who]
    with pytest.raises(ConfigurationError) as refused:
        read({variable: nothing})
    assert refused.value.variable == variable
    assert str(refused.value) == f"{variable}: is set to nothing: give it its value, or unset it"


@pytest.mark.parametrize("side", ["CAPTURE", "RECALL"])
def test_one_that_holds_does_not_make_up_for_another_that_is_set_to_nothing(side: str) -> None:
    for empty, held in ((f"{side}_API_KEYS", f"{side}_API_KEYS_FILE"), (f"{side}_API_KEYS_FILE", f"{side}_API_KEYS")):
        with pytest.raises(ConfigurationError) as refused:
            caller_settings({held: "a key or a path of many characters", empty: " "}, f"{side}_API_KEYS")
        assert refused.value.variable == empty


@pytest.mark.parametrize("who", READ)
def test_every_other_setting_that_is_set_to_nothing_is_not_set(who: str) -> None:
    read, variables = READ[who]
    others = {
        "RUVECTOR_API_KEY": "", "RUVECTOR_DEADLINE_S": " ", "RUVECTOR_WRITES": "", "CONTENT_HASH_KEY": "",
        "RUVECTOR_STORE": "", "METRICS_KEY": "", "CORS_ORIGINS": " ", "CONVERSATION_MIN_RECENT": "", "LOG_LEVEL": "",
        "RUVECTOR_SERVICE_URL": "",
    }  # fmt: skip
    assert not set(variables) & others.keys()
    read(others)


def test_nothing_of_ours_sets_one_of_them_to_nothing() -> None:
    """Scripts, manifests, examples and pages: ``NAME=``, ``NAME: ""`` and ``value: ""`` below its name."""
    empty = re.compile(
        rf"""\b(?:{"|".join(GUARDS)})(?:["']?\s*[=:]\s*(?:""|'')|=(?:["']?(?:\s|,|$))|"?\s*\n\s*value\s*[:=]\s*(?:""|''))"""
    )
    assert empty.search('RATE_LIMIT=""') and empty.search("- name: RATE_LIMIT\n  value: ''")  # noqa: PT018 - one proof
    found = [
        str(path.relative_to(REPOSITORY))
        for folder in ("deploy", "docs", "examples", "config", "scripts", "benchmarks", "peers")
        for path in sorted((REPOSITORY / folder).rglob("*"))
        if path.suffix in {".sh", ".py", ".md", ".yaml", ".yml", ".tf", ".hcl", ".toml", ".tmpl", ""} and path.is_file()
        if empty.search(path.read_text(encoding="utf-8", errors="replace"))
    ]
    assert found == []
    assert empty.search((Path(REPOSITORY) / "Makefile").read_text(encoding="utf-8")) is None


@pytest.mark.parametrize(
    ("variable", "name"),
    [
        ("API_KEYS", "API_KEYS"),
        ("API_KEYS_FILE", "API_KEYS_FILE"),
        ("API_KEYS_FILE", "{}_API_KEYS_PATH"),
        ("API_KEYS_FILE", "API_KEYS_PATH"),
    ],
)
@pytest.mark.parametrize("side", ["CAPTURE", "RECALL"])
def test_keys_under_a_name_that_only_looks_right_leave_no_function_open(side: str, variable: str, name: str) -> None:
    read = Settings.of_capture_function if side == "CAPTURE" else RecallSettings.from_env
    with pytest.raises(ConfigurationError) as refused:
        read({name.format(side): "k-0123456789abcdef"})
    assert refused.value.variable == f"{side}_{variable}"


@pytest.mark.parametrize("name", ["CAPTURE_MODE", "CAPTUREMODE", "CONTENT_MODE"])
def test_a_mode_under_a_name_that_only_looks_right_stops_the_start(name: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        Settings.of_capture_function({name: "none"})
    assert refused.value.variable == "CAPTURE_CONTENT"
    # A program may have a mode of its own under such a name.
    assert Settings.from_env({name: "none"}) == Settings.from_env({})
    assert Settings.from_env({"CONTENT": "none"}).content.mode == "full"
