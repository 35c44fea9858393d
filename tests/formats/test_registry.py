"""The registry of foreign formats."""

import pytest

from agent.errors import Problem, ValidationError
from agent.formats import OPENAI_CHAT, reader
from agent.formats.openai_chat import OpenAIChatReader


def test_openai_chat_has_its_reader():
    assert isinstance(reader(OPENAI_CHAT), OpenAIChatReader)


@pytest.mark.parametrize("name", ["native", "OpenAI-Chat", "", "secret-value"])
def test_a_format_that_nobody_reads_is_refused_without_repeating_its_name(name):
    with pytest.raises(ValidationError) as refused:
        reader(name)
    assert refused.value.problems == (Problem("$", "enum"),)
    assert "secret" not in refused.value.message
