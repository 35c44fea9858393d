"""A date-time is RFC 3339 as the contract narrows it, and names one instant."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.core.timestamps import instant, is_date_time, utc_text

ACCEPTED = [
    "2026-03-02T08:15:00Z",
    "2026-03-02t08:15:00z",
    "2026-03-02T08:15:00.1234567890123456789Z",
    "2026-03-02T10:15:00+02:00",
    "2026-03-02T08:15:00-00:00",
    "2024-02-29T00:00:00Z",
    "2016-12-31T23:59:60Z",
    "2016-12-31T23:59:60z",
    "2016-12-31T23:59:60.5+00:00",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59.999Z",
    "2026-03-02T08:15:00+23:59",
]
REFUSED = [
    "yesterday",
    "",
    "2026-03-02",
    "2026-03-02T08:15:03",
    "2026-03-02 08:15:03Z",
    "2026-03-02T08:15Z",
    "2026-03-02T08:15:00Z\n",
    " 2026-03-02T08:15:00Z",
    "2026-02-29T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2026-00-01T00:00:00Z",
    "2026-04-31T00:00:00Z",
    "2026-03-02T24:00:00Z",
    "2026-03-02T08:60:00Z",
    "2026-03-02T08:15:61Z",
    "2026-03-02T08:15:60Z",
    "2016-12-31T23:59:60-00:00",
    "2017-01-01T00:59:60+01:00",
    "2026-03-02T08:15:00+24:00",
    "2026-03-02T08:15:00+02:60",
    "2026-03-02T08:15:00+0200",
    "2026-03-02T08:15:00.Z",
    "2026-03-02T08:15:00,5Z",
    "0000-01-01T00:00:00Z",
    "0001-01-01T00:00:00+00:01",
    "9999-12-31T23:59:59-00:01",
    "\uff12026-03-02T08:15:00Z",
    1767200000,
    None,
]


@pytest.mark.parametrize("text", ACCEPTED)
def test_an_rfc_3339_date_time_with_an_offset_is_one(text):
    assert is_date_time(text)


@pytest.mark.parametrize("text", REFUSED)
def test_anything_else_is_none(text):
    assert not is_date_time(text)


def test_instants_are_compared_not_texts():
    assert (
        instant("2026-03-02T10:15:00+02:00")
        == instant("2026-03-02T08:15:00Z")
        == instant("2026-03-02T08:15:00.000-00:00")
    )
    assert instant("2026-03-02T08:15:00.25Z") - instant("2026-03-02T08:15:00Z") == 250_000_000
    assert instant("2016-12-31T23:59:60Z") == instant("2017-01-01T00:00:00Z")
    assert instant("1969-12-31T23:59:59.5Z") == -500_000_000


@given(
    st.datetimes(min_value=datetime(2, 1, 1), max_value=datetime(9998, 12, 31)),
    st.integers(-1439, 1439),
)
def test_the_instant_is_the_one_that_the_standard_library_reads(moment, minutes):
    aware = moment.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    assert instant(aware.isoformat()) == (aware - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) * 1000


def test_an_instant_of_capture_is_written_in_utc_with_z():
    assert utc_text(datetime(2026, 3, 2, 10, 15, tzinfo=timezone(timedelta(hours=2)))) == "2026-03-02T08:15:00.000000Z"


@pytest.mark.parametrize(("year", "text"), [(1, "0001-01-02T03:04:05.000006Z"), (999, "0999-01-02T03:04:05.000006Z")])
def test_a_year_is_written_with_four_digits(year, text):
    assert utc_text(datetime(year, 1, 2, 3, 4, 5, 6, tzinfo=UTC)) == text


@given(st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30)), st.integers(-1439, 1439))
def test_what_is_written_names_the_instant_that_it_was_written_from(moment, minutes):
    aware = moment.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    assert instant(utc_text(aware)) == (aware - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) * 1000
