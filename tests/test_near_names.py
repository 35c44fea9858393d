"""A setting under a name that is nearly its own is not passed over: the start ends, and says which one was meant."""

import pytest

from agent.config import RecallSettings, Settings
from agent.errors import ConfigurationError
from tests.conftest import REPOSITORY
from tests.deploy.documented import README, settings_of

# The platform sets it, and others have names that are as near.
OF_THE_PLATFORM = {"GOOGLE_CLOUD_PROJECT"}
README_SETTINGS = sorted(settings_of(README) - OF_THE_PLATFORM)


def slips(name):
    """What somebody writes who means ``name``: a word in the other number, two words in the other order."""
    words = name.split("_")
    for place, word in enumerate(words):
        other = word.removesuffix("S") if word.endswith("S") else f"{word}S"
        yield "_".join(filter(None, (*words[:place], other, *words[place + 1 :])))
    for place in range(len(words) - 1):
        yield "_".join((*words[:place], words[place + 1], words[place], *words[place + 2 :]))
    yield name.lower()


@pytest.mark.parametrize("name", README_SETTINGS)
def test_no_setting_is_passed_over_for_a_slip_of_number_or_order(name):
    for slip in slips(name):
        refused = []
        for read in (Settings.of_capture_function, RecallSettings.from_env):
            try:
                read({slip: "1"})
            except ConfigurationError as error:
                refused.append(error)
        assert refused, slip
        # Of a window's settings the name that is there is said, with the one that is meant.
        assert all(name in error.message and slip in error.message for error in refused)
        assert Settings.of_capture_function({slip: " "}) == Settings.from_env({})


def test_no_setting_is_taken_for_a_slip_of_another():
    names = {*README_SETTINGS, *OF_THE_PLATFORM, *settings_of(REPOSITORY / "docs" / "store.md"), "K_SERVICE"}
    nearly = {slip for name in README_SETTINGS for slip in slips(name)}
    assert nearly.isdisjoint(names)


@pytest.mark.parametrize("name", ["LOG_LEVELS", "CORS_ORIGIN", "LEVEL_LOG", "RATE_LIMITS"])
def test_a_program_that_has_the_store_may_have_general_names_of_its_own(name):
    assert Settings.from_env({name: "1"}) == Settings.from_env({})


@pytest.mark.parametrize("read", [Settings.from_env, RecallSettings.from_env])
def test_intents_under_a_name_that_is_nearly_theirs_stop_whoever_reads_them(read):
    with pytest.raises(ConfigurationError, match=r"^INTENTS_CONFIG: is the name of this setting, not INTENT_CONFIG: "):
        read({"INTENT_CONFIG": "intents.yaml"})


def test_beside_the_setting_itself_a_name_of_the_same_words_is_something_else():
    store = {"RUVECTOR_API_KEY": "k-0123456789abcdef", "RUVECTOR_API_KEYS": "others"}
    assert Settings.of_capture_function(store) == Settings.of_capture_function(
        {"RUVECTOR_API_KEY": "k-0123456789abcdef"}
    )
