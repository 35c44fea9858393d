"""What the google-adk format refuses: documents of another kind, and how many faults it names of one."""

from __future__ import annotations

import pytest

from agent.errors import MAX_PROBLEMS, ValidationError
from agent.formats.google_adk import read

WRONG = {"author": "user", "invocation_id": "i", "content": {"role": "user", "parts": [{"text": 7}]}}
SAID = {"user_content": {"role": "user", "parts": [{"text": 7}]}}


@pytest.mark.parametrize("document", ["an eval set", 7, None])
def test_a_document_that_is_neither_a_list_nor_an_object_is_refused(document):
    (error,) = read(document)
    assert isinstance(error, ValidationError)
    assert [(each.path, each.rule) for each in error.problems] == [("$", "type")]


@pytest.mark.parametrize(
    ("document", "path"),
    [
        ([WRONG] * (MAX_PROBLEMS + 5), "$[0].content.parts[0].text"),
        (
            {"eval_id": "e", "conversation": [SAID] * (MAX_PROBLEMS + 5)},
            "$.conversation[0].user_content.parts[0].text",
        ),
    ],
    ids=["events", "an eval case"],
)
def test_of_many_faults_the_first_are_named_and_the_rest_are_not_looked_for(document, path):
    (error,) = read(document)
    assert isinstance(error, ValidationError)
    assert (error.problems[0].path, error.problems[0].rule) == (path, "type")
    assert len(error.problems) == MAX_PROBLEMS
