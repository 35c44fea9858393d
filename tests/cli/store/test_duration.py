from datetime import timedelta

import pytest

from agent.cli.store.duration import age
from agent.errors import ConfigurationError


@pytest.mark.parametrize(
    ("text", "found"),
    [("30d", timedelta(days=30)), ("1h", timedelta(hours=1)), ("8w", timedelta(weeks=8)), ("007d", timedelta(days=7))],
)
def test_an_age_is_a_number_and_a_unit(text, found):
    assert age("--older-than", text) == found


@pytest.mark.parametrize(
    "text",
    [
        *("", "30", "d", "0d", "000h", "-1d", "+1d", "1.5d", "30D", "30 d", "30d ", "30d\n", "1m", "1y", "\u0663d"),
        *("9999999d", "999999w"),
    ],
)
def test_anything_else_is_refused_by_the_option(text):
    with pytest.raises(ConfigurationError, match=r"^--older-than: "):
        age("--older-than", text)
