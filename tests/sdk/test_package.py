"""``from agent import ConversationMemory``: there for who asks, and no burden for who does not."""

from __future__ import annotations

import subprocess
import sys

import pytest

import agent
import agent.sdk
from tests.cli.streams import process_environment

NAMES = ["ConversationMemory", "InMemoryConversationMemory", "Message", "SessionHandle"]


def python(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], env=process_environment(), capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout.strip()


@pytest.mark.parametrize("name", NAMES)
def test_the_front_of_the_package_has_what_the_sdk_has(name: str):
    assert getattr(agent, name) is getattr(agent.sdk, name)
    assert name in agent.__all__


def test_the_front_of_the_package_lists_what_it_has():
    assert {*NAMES, "__version__"} <= set(dir(agent))
    assert dir(agent) == sorted(dir(agent))
    assert (
        python("import agent; print('Message' in dir(agent), 'agent.sdk' in __import__('sys').modules)") == "True False"
    )


def test_a_name_that_nobody_has_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        _ = agent.Nothing


def test_importing_the_package_imports_nothing_else():
    assert (
        python("import sys; before = set(sys.modules); import agent; print(set(sys.modules) - before)") == "{'agent'}"
    )


def test_the_capture_function_does_not_load_the_sdk():
    code = (
        "import sys; from agent.bootstrap import capture_app;"
        "capture_app({'RUVECTOR_SERVICE_URL': 'embedded::memory:'});"
        "print([name for name in sys.modules if name.startswith(('agent.sdk', 'agent.recall'))])"
    )
    assert python(code) == "[]"


def test_a_memory_that_only_keeps_loads_no_figures_no_hints_and_no_format():
    code = (
        "import sys; from agent import InMemoryConversationMemory, Message;"
        "InMemoryConversationMemory(environ={}).for_session('s').append(Message('user', 'hi'));"
        "print([name for name in sys.modules if name.startswith(('agent.core.summary', 'agent.formats.posted',"
        " 'agent.core.topics', 'yaml'))])"
    )
    assert python(code) == "[]"
