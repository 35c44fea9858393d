"""Turns of other versions of the published contract: older ones read as ours, newer ones are refused."""

from typing import Any

import pytest

from agent.core.contract_version import major_version
from agent.core.decision import AGENT_VERSION
from agent.core.upcast import STEPS, upcast
from agent.errors import NewerContract

RECORD = {"turn_id": "t", "content": "words", "x": {"y": 1}}


@pytest.mark.parametrize("version", ["0.0.1", "0.9.0", "1.0.0", "1.99.3"])
def test_a_turn_of_an_older_contract_or_of_ours_reads_as_it_is(version: str) -> None:
    assert upcast(dict(RECORD), version) == RECORD


@pytest.mark.parametrize("version", ["2.0.0", "17.1.0"])
def test_a_turn_of_a_newer_contract_is_refused_by_its_major(version: str) -> None:
    with pytest.raises(NewerContract) as raised:
        upcast(dict(RECORD), version)
    assert (raised.value.major, raised.value.status) == (major_version(version), 422)


@pytest.mark.parametrize("version", [None, "", "1", "v2.0.0", 2, ["2.0.0"], {"major": 2}])
def test_what_is_no_version_says_nothing(version: Any) -> None:
    assert upcast(dict(RECORD), version) == RECORD


def test_there_is_a_step_from_each_major_before_ours() -> None:
    assert len(STEPS) == major_version(AGENT_VERSION)
