"""The key is asked for first, then the limit of who has it."""

from contextlib import suppress

import pytest

from agent.callers.callers import Callers
from agent.callers.rate_limit import limits_of
from agent.callers.settings import CallerSettings
from agent.core.api_keys import ApiKeys, digest_of, name_of
from agent.errors import ConfigurationError, RateLimitExceeded, Unauthorized
from tests.callers.clock import Clock

A, B = "the-first-key-0123456789", "the-second-key-0123456789"
LIMITS = limits_of("RATE_LIMIT", "2/minute")


def by(key):
    return {"HTTP_AUTHORIZATION": f"Bearer {key}"}


def outcomes(callers, *requests):
    def outcome(request):
        try:
            callers.admit(request)
        except (RateLimitExceeded, Unauthorized) as refused:
            return refused.status
        return 200

    return [outcome(request) for request in requests]


def test_each_key_has_its_own_limit_and_who_has_none_takes_from_nobodys():
    keys = ApiKeys.parse("CAPTURE_API_KEYS", f"{A},{B}")
    callers = Callers.of(CallerSettings("CAPTURE_API_KEYS", keys=keys, limits=LIMITS), monotonic_ns=Clock())
    unknown = [by(f"unknown-key-{number:020}") for number in range(1000)]
    assert set(outcomes(callers, *unknown, {})) == {401}
    assert callers._limit._windows.reset() == 0
    assert outcomes(callers, by(A), by(A), by(A), by(B), by(B), by(B)) == [200, 200, 429, 200, 200, 429]
    assert set(outcomes(callers, *unknown)) == {401}
    assert callers._limit._windows.reset() == 2


def test_without_keys_all_callers_have_one_limit_together():
    callers = Callers.of(CallerSettings("CAPTURE_API_KEYS", limits=LIMITS), monotonic_ns=Clock())
    assert outcomes(callers, {"REMOTE_ADDR": "10.0.0.1"}, by(A), {"REMOTE_ADDR": "10.0.0.2"}) == [200, 200, 429]


def test_a_key_of_a_file_keeps_its_limit_when_the_file_changes(tmp_path):
    path, clock = tmp_path / "keys", Clock()
    path.write_text(f"{A}\n{B}")
    settings = CallerSettings("RECALL_API_KEYS_FILE", keys_file=str(path), limits=LIMITS)
    callers = Callers.of(settings, monotonic_ns=clock)
    assert outcomes(callers, by(B), by(B), by(B)) == [200, 200, 429]
    path.write_text(B)
    clock.wait(1)
    assert outcomes(callers, by(B), by(A)) == [429, 401]


def test_the_name_of_the_key_is_told_before_the_limit_and_never_of_who_has_none(tmp_path):
    path, told = tmp_path / "keys", []
    path.write_text(f"{A}\n{B}")
    in_variable = CallerSettings("RECALL_API_KEYS", keys=ApiKeys.parse("RECALL_API_KEYS", f"{A},{B}"), limits=LIMITS)
    in_file = CallerSettings("RECALL_API_KEYS_FILE", keys_file=str(path), limits=LIMITS)
    names = [name_of(digest_of(key)) for key in (A, B)]
    for settings in (in_variable, in_file):
        assert list(settings.key_names(Clock())) == names
        callers = Callers.of(settings, monotonic_ns=Clock())
        for request in ({}, by("unknown-key-0123456789"), by(B), by(A), by(B), by(B)):
            with suppress(RateLimitExceeded, Unauthorized):
                callers.admit(request, told.append)
        assert told == [names[1], names[0], names[1], names[1]]
        told.clear()


def test_without_keys_no_name_is_told():
    limited, told = CallerSettings("RECALL_API_KEYS", limits=LIMITS), []
    for callers in (Callers(), Callers.of(limited, monotonic_ns=Clock())):
        callers.admit(by(A), told.append)
    assert (told, limited.key_names(Clock())) == ([], ())


def test_a_file_that_is_not_there_is_refused_by_the_variable_that_names_it():
    with pytest.raises(ConfigurationError, match=r"^RECALL_API_KEYS_FILE: "):
        Callers.of(CallerSettings("RECALL_API_KEYS_FILE", keys_file="/nowhere/keys"), monotonic_ns=Clock())


def test_with_neither_everybody_may_come_in():
    assert outcomes(Callers(), {}, by(A)) == [200, 200]
