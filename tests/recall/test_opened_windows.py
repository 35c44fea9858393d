"""What windows are cut with, as the environment has it."""

from pathlib import Path

import pytest

from agent.errors import ConfigurationError
from agent.recall.opened_windows import opened_rankers, opened_windows
from tests.core.session_turns import turn
from tests.recall.embedded import SESSION
from tests.recall.semantic.tiny import TINY

SAID = [turn(1, content="My cat is called Minka."), turn(2, content="Where is the parcel?")]


def test_without_a_model_words_tell_what_is_relevant() -> None:
    near, far = opened_rankers({})(None)(SAID, "What is my cat called?")
    assert near > far >= 0
    assert opened_windows({}).ranker("a") is not opened_windows({}).ranker("a")


def test_a_model_that_is_not_there_is_refused_by_its_setting() -> None:
    with pytest.raises(ConfigurationError) as caught:
        opened_windows({"SEMANTIC_MODEL": "/no/such/folder"})
    assert caught.value.variable == "SEMANTIC_MODEL"


@pytest.mark.parametrize("is_filed", [False, True])
def test_with_a_model_meaning_tells_too_and_only_what_is_of_a_session_is_filed(tmp_path: Path, is_filed: bool) -> None:
    cache = tmp_path / "cache"
    environ = {"SEMANTIC_MODEL": str(TINY)} | ({"SEMANTIC_CACHE": str(cache)} if is_filed else {})
    rankers = opened_rankers(environ)
    near, far = rankers(None)(SAID, "Has my parcel been lost?")[::-1]
    assert near > far
    assert not list(cache.rglob("*.vectors"))
    # By another process, which has not seen them.
    assert opened_rankers(environ)(SESSION)(SAID, "Has my parcel been lost?")[::-1] == [near, far]
    assert [path.stem for path in cache.rglob("*.vectors")] == [SESSION] * is_filed
