"""What an environment says of callers, and what their keys are called for who asks."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.callers.settings import CallerSettings, caller_settings
from agent.core.api_keys import digest_of, name_of
from agent.errors import ConfigurationError
from tests.callers.clock import Clock

VARIABLE = "CALLER_KEYS"
SHOP, LAB = "shop-key-that-is-long", "lab-key-that-is-long"
CALLED = {key: name_of(digest_of(key)) for key in (SHOP, LAB)}


def settings(**environ: str) -> CallerSettings:
    found = caller_settings(environ, VARIABLE)
    assert found is not None
    return found


def test_where_nothing_is_set_callers_meet_nothing() -> None:
    assert caller_settings({}, VARIABLE) is None


def test_a_limit_alone_needs_no_key_and_names_none() -> None:
    found = settings(RATE_LIMIT="5/second")
    assert (found.need_a_key, found.key_names(Clock()), len(found.limits)) == (False, (), 1)


def test_keys_are_called_as_they_are_in_the_variable() -> None:
    found = settings(CALLER_KEYS=f"{SHOP},{LAB}")
    assert (found.need_a_key, found.variable, found.key_names(Clock())) == (True, VARIABLE, (CALLED[SHOP], CALLED[LAB]))
    assert found.limits == ()


def test_keys_of_a_file_are_called_as_they_are_in_it_now(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    path.write_text(SHOP)
    found = settings(CALLER_KEYS_FILE=str(path))
    assert (found.need_a_key, found.variable, found.key_names(Clock())) == (True, f"{VARIABLE}_FILE", (CALLED[SHOP],))
    path.write_text(LAB)
    assert found.key_names(Clock()) == (CALLED[LAB],)


def test_keys_in_both_places_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="keep one of the two"):
        caller_settings({VARIABLE: SHOP, f"{VARIABLE}_FILE": "/keys"}, VARIABLE)


def test_callers_are_opened_with_what_was_set_and_nothing_else() -> None:
    environ: dict[str, str] = {}
    settings(RATE_LIMIT="1/hour").opened(Clock()).admit(environ)
    found = settings(CALLER_KEYS=SHOP).opened(Clock())
    known: list[str] = []
    for _ in range(3):
        found.admit({"HTTP_AUTHORIZATION": f"Bearer {SHOP}"}, known.append)
    assert known == [CALLED[SHOP]] * 3
