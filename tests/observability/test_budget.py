"""How long a request may be held is a setting that is checked at the start."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import ConfigurationError
from agent.observability import Telemetry
from agent.observability.budget import budget_s
from agent.observability.recall_telemetry import RecallTelemetry


@pytest.mark.parametrize(("given", "seconds"), [(None, 0.2), ("", 0.2), (" 50 ", 0.05), ("1", 0.001), ("5000", 5.0)])
def test_the_budget_is_a_fifth_of_a_second_unless_it_is_set(given: str | None, seconds: float) -> None:
    assert budget_s({} if given is None else {"TELEMETRY_BUDGET_MS": given}) == seconds


@pytest.mark.parametrize("given", ["0", "5001", "-1", "0.5", "200ms", "+200", "1e3", "٢٠٠", "00200", "inf"])
def test_what_is_no_budget_ends_the_start_and_is_named_without_its_value(given: str) -> None:
    for start in (Telemetry.from_env, RecallTelemetry.from_env):
        with pytest.raises(ConfigurationError) as caught:
            start({"TELEMETRY_BUDGET_MS": given})
        assert caught.value.variable == "TELEMETRY_BUDGET_MS"
        assert given not in caught.value.message.replace("5000", "").replace("from 1 to", "")


@given(st.text())
def test_every_text_is_a_budget_between_its_bounds_or_refused(text: str) -> None:
    try:
        seconds = budget_s({"TELEMETRY_BUDGET_MS": text})
    except ConfigurationError:
        return
    assert 0.001 <= seconds <= 5.0
