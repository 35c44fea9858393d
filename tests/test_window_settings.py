"""Each setting of windows: its default, its range, and the name of the variable where it does not hold."""

from __future__ import annotations

import pytest

from agent.config import RecallSettings
from agent.core.window.policy import Policy, Thresholds
from agent.errors import ConfigurationError
from agent.window_settings import ContextSettings

OUT_OF_RANGE = [
    ("CONVERSATION_MAX_HISTORY_MESSAGES", "0"),
    ("CONVERSATION_MAX_HISTORY_MESSAGES", "1001"),
    ("CONVERSATION_MAX_HISTORY_MESSAGES", "-1"),
    ("CONVERSATION_MAX_HISTORY_MESSAGES", "7.0"),
    ("CONVERSATION_MAX_HISTORY_MESSAGES", "\u0667"),
    ("CONVERSATION_MAX_CONTEXT_TOKENS", "499"),
    ("CONVERSATION_MAX_CONTEXT_TOKENS", "100000001"),
    ("CONVERSATION_MAX_CONTEXT_TOKENS", "6k"),
    ("CONVERSATION_CONTEXT_STRATEGY", "newest-canary"),
    ("CONVERSATION_CONTEXT_STRATEGY", "summarize"),
    ("CONVERSATION_MIN_RECENT", "-1"),
    ("CONVERSATION_MIN_RECENT", "1001"),
    ("CONVERSATION_RESERVED_TOKENS", "-1"),
    ("CONVERSATION_RESERVED_TOKENS", "many"),
    ("CONVERSATION_MARKER", "x" * 501),
    ("CONVERSATION_SCOPE", "all"),
    ("CONVERSATION_THRESHOLDS", "80,90"),
    ("CONVERSATION_THRESHOLDS", "90,80,60"),
    ("CONVERSATION_THRESHOLDS", "80,90,85"),
    ("CONVERSATION_THRESHOLDS", "80,101,60"),
    ("CONVERSATION_THRESHOLDS", "80,90,0"),
    ("CONVERSATION_THRESHOLDS", "0.8;0.9;0.6"),
    ("CONVERSATION_THRESHOLDS", "nan,nan,nan"),
]


def test_without_any_setting_they_are_those_of_a_policy() -> None:
    settings, policy = ContextSettings.from_env({}), Policy()
    assert settings == ContextSettings()
    assert (settings.max_history_messages, settings.max_context_tokens, settings.min_recent) == (50, 6000, 10)
    assert (settings.strategy, settings.reserved_tokens, settings.scope) == ("truncate", 4500, "conversation")
    assert (settings.marker, settings.thresholds) == (policy.marker, Thresholds(0.8, 0.9, 0.6))
    assert (settings.strategy, settings.max_context_tokens) == (policy.strategy, policy.max_history_tokens)
    assert (settings.max_history_messages, settings.min_recent) == (policy.max_messages, policy.min_recent)


def test_all_of_them_are_read_and_white_space_around_them_does_not_count() -> None:
    assert ContextSettings.from_env(
        {
            "CONVERSATION_MAX_HISTORY_MESSAGES": " 7 ",
            "CONVERSATION_MAX_CONTEXT_TOKENS": "500",
            "CONVERSATION_CONTEXT_STRATEGY": "hybrid\n",
            "CONVERSATION_MIN_RECENT": "0",
            "CONVERSATION_RESERVED_TOKENS": "0",
            "CONVERSATION_MARKER": " [Earlier messages truncated] ",
            "CONVERSATION_SCOPE": "session",
            "CONVERSATION_THRESHOLDS": " 70, 85.5 ,50",
        }
    ) == ContextSettings(7, 500, "hybrid", 0, 0, "[Earlier messages truncated]", "session", Thresholds(0.7, 0.855, 0.5))


def test_one_that_is_empty_is_the_default() -> None:
    names = {name for name, _ in OUT_OF_RANGE}
    assert ContextSettings.from_env(dict.fromkeys(names, " ")) == ContextSettings()


@pytest.mark.parametrize(("variable", "text"), OUT_OF_RANGE)
def test_one_that_does_not_hold_is_refused_by_its_name_and_never_by_its_value(variable: str, text: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        ContextSettings.from_env({variable: text})
    assert variable in str(refused.value)
    assert "canary" not in str(refused.value)


def test_the_read_side_does_not_start_with_one_that_does_not_hold() -> None:
    with pytest.raises(ConfigurationError, match="CONVERSATION_SCOPE"):
        RecallSettings.from_env({"CONVERSATION_SCOPE": "everything"})
    assert RecallSettings.from_env({"CONVERSATION_MIN_RECENT": "3"}).context.min_recent == 3


@pytest.mark.parametrize(
    ("misspelt", "meant"),
    [
        ("CONVERSATION_STRATEGY", "CONVERSATION_CONTEXT_STRATEGY"),
        ("CONVERSATION_MAX_TOKENS", "CONVERSATION_MAX_CONTEXT_TOKENS"),
        ("CONVERSATION_MAX_MESSAGES", "CONVERSATION_MAX_HISTORY_MESSAGES"),
        ("CONVERSATION_MIN_RECENTS", "CONVERSATION_MIN_RECENT"),
        ("CONVERSATION_RESERVED", "CONVERSATION_RESERVED_TOKENS"),
    ],
)
def test_the_read_side_does_not_start_with_a_name_that_is_nearly_one(misspelt: str, meant: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        RecallSettings.from_env({misspelt: "5"})
    assert caught.value.variable == misspelt
    assert meant in caught.value.message


@pytest.mark.parametrize("name", ["CONVERSATION_ID", "CONVERSATION_STORE", "CONVERSATION_MEMORY_URL"])
def test_what_somebody_else_calls_alike_is_left_alone(name: str) -> None:
    assert RecallSettings.from_env({name: "x"}).context == ContextSettings()


def test_shares_are_no_percentages() -> None:
    with pytest.raises(ConfigurationError):
        ContextSettings.from_env({"CONVERSATION_THRESHOLDS": "0.8,0.9,0.6"})
