"""What windows are cut with, as the environment has it."""

import pytest

from agent.errors import ConfigurationError
from agent.recall.opened_windows import opened_rankers, opened_windows
from tests.core.session_turns import turn

SAID = [turn(1, content="My cat is called Minka."), turn(2, content="Where is the parcel?")]


def test_without_a_model_words_tell_what_is_relevant() -> None:
    near, far = opened_rankers({})(None)(SAID, "What is my cat called?")
    assert near > far >= 0
    assert opened_windows({}).ranker("a") is not opened_windows({}).ranker("a")


def test_a_model_that_is_not_there_is_refused_by_its_setting() -> None:
    with pytest.raises(ConfigurationError) as caught:
        opened_windows({"SEMANTIC_MODEL": "/no/such/folder"})
    assert caught.value.variable == "SEMANTIC_MODEL"
