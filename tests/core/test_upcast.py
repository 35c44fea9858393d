"""Turns of other versions of the published contract: older ones read as ours, newer ones are refused."""

from typing import Any

import jiter
import pytest

from agent.core.contract_version import kept_version, major_version
from agent.core.decision import AGENT_VERSION
from agent.core.upcast import STEPS, upcast
from agent.errors import NewerContract

RECORD = {"turn_id": "t", "content": "words", "x": {"y": 1}}


@pytest.mark.parametrize("version", ["0.0.1", "0.9.0", "1.0.0", "1.99.3"])
def test_a_turn_of_an_older_contract_or_of_ours_reads_as_it_is(version: str) -> None:
    assert upcast(dict(RECORD), version) == RECORD


# However it is spelt, and what may be kept of it (CONTRACT 10a).
NEWER = {
    "2.0.0": "2.0.0",
    "17.1.0": "17.1.0",
    "2.0.0-rc.1": "2.0.0",
    "2.0.0+build.5": "2.0.0",
    "2.0": "2.0.0",
    "2": "2.0.0",
    "v2.1.0": "2.0.0",
    " 3.0.0": "3.0.0",
    "0002.0.0": "0002.0.0",
    "1000000000.0.0": "999999999.0.0",
    "9" * 5000: "999999999.0.0",
}


@pytest.mark.parametrize("version", NEWER)
def test_a_turn_of_a_newer_contract_is_refused_by_its_major(version: str) -> None:
    with pytest.raises(NewerContract) as raised:
        upcast(dict(RECORD), version)
    assert (raised.value.major, raised.value.status) == (major_version(version), 422)
    assert kept_version(version) == NEWER[version]


@pytest.mark.parametrize("version", [2, 2.0, 2.9, 10**30, jiter.from_json(b"2.0", float_mode="lossless-float")])
def test_a_number_is_a_version_too(version: Any) -> None:
    with pytest.raises(NewerContract):
        upcast(dict(RECORD), version)


@pytest.mark.parametrize("version", ["1.0.0-rc.1", "1", "v1", "1.0.0+x", 1, 1.5, "0.1-beta", 0])
def test_a_spelling_of_ours_or_of_an_older_one_reads_as_it_is(version: Any) -> None:
    assert upcast(dict(RECORD), version) == RECORD


@pytest.mark.parametrize(
    "version",
    [
        None,
        "",
        "two",
        "v",
        "-2.0.0",
        -2,
        True,
        ["2.0.0"],
        {"major": 2},
        "3fa9c1d",
        "2x",
        "\uff12.0.0",
        jiter.from_json(b"2e999", float_mode="lossless-float"),
    ],
)
def test_what_is_no_version_says_nothing(version: Any) -> None:
    assert upcast(dict(RECORD), version) == RECORD
    assert kept_version(version) is None


def test_there_is_a_step_from_each_major_before_ours() -> None:
    assert len(STEPS) == major_version(AGENT_VERSION)
