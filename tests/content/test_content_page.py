"""The page for operators shows what the modes do to one turn, as they do it."""

import json
import re

from agent.content.detectors import find
from agent.content.narrowing import narrowed
from agent.content.placeholder import DETECTED, PARAM
from agent.content.policy import ContentPolicy
from tests.conftest import REPOSITORY

PAGE = (REPOSITORY / "docs" / "content.md").read_text(encoding="utf-8")
SENT, REDACTED, NONE = (json.loads(text) for text in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL))


def test_the_examples_are_what_the_modes_make_of_the_first():
    policy = ContentPolicy(params=frozenset({"pin"}))
    redacted = narrowed({"turns": [SENT]}, "redacted", policy, find)
    assert redacted.payload["turns"] == [REDACTED]
    assert f'"redactions": {json.dumps(redacted.redactions)}' in PAGE
    assert narrowed({"turns": [SENT]}, "none", policy, find).payload["turns"] == [NONE]


def test_every_kind_is_named():
    assert [kind for kind in (*DETECTED, PARAM) if f"`{kind}`" not in PAGE] == []
