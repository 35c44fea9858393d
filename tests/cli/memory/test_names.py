import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.cli.memory.names import both, conversation_id, instant, label, leaf_id, session_id, turn_id, user_id
from agent.core.ids import conversation_uuid, session_uuid, turn_uuid
from agent.errors import ConfigurationError
from tests.strategies import timestamps, uuids

SESSION = "3f1c9a52-7d0e-4c57-9b1e-5a0f6b7c8d21"


@given(uuids)
def test_a_uuid_is_itself_in_lower_case(given_id: str) -> None:
    assert session_id(given_id) == conversation_id(given_id) == turn_id(given_id) == given_id.lower()


def test_any_other_id_becomes_what_the_capture_derived_of_it() -> None:
    assert session_id("chat-7") == session_uuid("chat-7")
    assert conversation_id("Zoë ✅") == conversation_uuid("Zoë ✅")
    assert leaf_id("m1", session=SESSION) == turn_uuid(SESSION, "m1")
    assert leaf_id(SESSION.upper(), session=SESSION) == SESSION
    assert session_id(" chat-7") != session_id("chat-7")


@pytest.mark.parametrize("name", ["", "x" * 257, "caf\udce9"])
def test_what_no_capture_takes_as_an_id_is_refused_by_its_option(name: str) -> None:
    with pytest.raises(ConfigurationError, match=r"^--session-id: "):
        session_id(name)
    with pytest.raises(ConfigurationError, match=r"^--conversation-id: "):
        conversation_id(name)
    with pytest.raises(ConfigurationError, match=r"^--leaf: "):
        leaf_id(name, session=SESSION)


@pytest.mark.parametrize("name", ["", "m1", f"{SESSION} ", SESSION.replace("-", "")])
def test_a_turn_is_named_by_its_uuid_alone(name: str) -> None:
    with pytest.raises(ConfigurationError, match=r"^--turn-id: is not a UUID"):
        turn_id(name)


def test_a_user_is_named_exactly_as_captured() -> None:
    assert user_id(" Ann/Lee ") == " Ann/Lee "
    assert user_id("x" * 1000) == "x" * 1000


@pytest.mark.parametrize("name", ["", "caf\udce9"])
def test_what_can_be_no_user_s_name_is_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match=r"^--user-id: is "):
        user_id(name)
    with pytest.raises(ConfigurationError, match=r"^--tag: is "):
        label("--tag", name)


def test_a_name_that_became_a_uuid_is_told_with_it() -> None:
    assert both(SESSION.upper(), SESSION) == SESSION
    assert both("chat-7", session_uuid("chat-7")) == f"chat-7 ({session_uuid('chat-7')})"


@given(timestamps)
def test_a_time_with_an_offset_is_taken_as_it_is(time: str) -> None:
    assert instant("--from", time) == time


def test_a_date_is_its_first_instant_in_utc() -> None:
    assert instant("--from", "2026-03-02") == "2026-03-02T00:00:00Z"


@pytest.mark.parametrize(
    "time", ["", "today", "2026-02-30", "2026-03-02\n", "2026-3-2", "2026-03-02T08:15:00", "2026-03-02 08:15:00Z"]
)
def test_a_time_that_is_none_is_refused_by_its_option(time: str) -> None:
    with pytest.raises(
        ConfigurationError,
        match=r"^--to: is neither a date \(2026-03-02\) nor an RFC 3339 time .* \(2026-03-02T08:15:00Z\)$",
    ):
        instant("--to", time)


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30))
def test_a_session_and_a_conversation_of_one_name_have_ids_of_their_own(name: str) -> None:
    assert session_id(name) != conversation_id(name)
