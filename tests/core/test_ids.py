"""Ids are UUIDs of version 5 in one namespace, the same everywhere."""

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.core import ids


def test_the_namespace_is_the_published_one():
    assert uuid.uuid5(uuid.NAMESPACE_URL, "https://agentics.dev/contracts/conversation-memory/v1") == ids.NAMESPACE


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_the_quick_way_gives_what_the_standard_library_gives(name):
    assert ids.name_uuid(name) == str(uuid.uuid5(ids.NAMESPACE, name))


@pytest.mark.parametrize(
    "text",
    [
        "00000000-0000-0000-0000-000000000000",
        "6F1D2C3A-8B4E-4F70-9A51-0C2D3E4F5A61",
        "ffffffff-ffff-ffff-ffff-ffffffffffff",
    ],
)
def test_any_version_any_case_and_nil_are_uuids(text):
    assert ids.is_uuid(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "6f1d2c3a8b4e4f709a510c2d3e4f5a61",
        "{6f1d2c3a-8b4e-4f70-9a51-0c2d3e4f5a61}",
        "urn:uuid:6f1d2c3a-8b4e-4f70-9a51-0c2d3e4f5a61",
        "6f1d2c3a-8b4e-4f70-9a51-0c2d3e4f5a61\n",
        " 6f1d2c3a-8b4e-4f70-9a51-0c2d3e4f5a61",
        "\uff16f1d2c3a-8b4e-4f70-9a51-0c2d3e4f5a61",
        "6f1d2c3a-8b4e-4f70-9a51-0c2d3e4f5a6g",
        17,
        None,
    ],
)
def test_anything_before_after_or_else_is_no_uuid(text):
    assert not ids.is_uuid(text)


def test_a_uuid_stays_in_lower_case_and_a_native_id_becomes_one():
    given_id = "6F1D2C3A-8B4E-4F70-9A51-0C2D3E4F5A61"
    assert (
        ids.session_uuid(given_id)
        == ids.conversation_uuid(given_id)
        == ids.turn_uuid("s", given_id)
        == given_id.lower()
    )
    assert ids.session_uuid("s") == ids.name_uuid("session:s")
    assert ids.conversation_uuid("c") == ids.name_uuid("conversation:c")
    assert ids.conversation_of_session("s") == ids.name_uuid("conversation:s")
    assert ids.turn_uuid("s", "t") == ids.name_uuid("turn:s:t")
    assert ids.called_invocation_uuid("t", 3) == ids.name_uuid("invocation:t:3")
    assert ids.orphan_invocation_uuid("s", "call_1") == ids.name_uuid("invocation:s:call_1")
    assert ids.edge_id("follows", "b", "a") == ids.name_uuid("follows:b:a")
