"""The kinds of the detectors and those that a placeholder may name are the same."""

from agent.content.detectors import find
from agent.content.detectors.view import KINDS
from agent.content.placeholder import DETECTED, redacted


def test_a_placeholder_names_what_a_detector_finds():
    assert sorted(KINDS) == sorted(DETECTED)


def test_a_placeholder_is_nothing_that_a_detector_finds():
    assert [kind for kind in (*DETECTED, "param") if find(f"see {redacted(kind)}, please")] == []
