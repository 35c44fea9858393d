"""Laws: the fast gate, the explaining validator, the quick looks and the published schema agree (CONTRACT 1, 2)."""

import copy
from typing import Any

import jsonschema
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from agent.capture.explanation import explain, findings_of_jsonschema
from agent.capture.finding import refusal_of
from agent.capture.gate import findings_of_gate, is_accepted
from agent.capture.rules import are_evidently_kept, findings_in
from agent.core.ids import is_uuid
from agent.core.native import derive_ids
from agent.core.timestamps import is_date_time
from schemas import load
from tests.capture.cases import BASE, FIRST, SESSION, changed, problems
from tests.capture.clashes import clashing_payloads
from tests.strategies import json_values, payloads, reordered

DIGITS = st.text("0123456789", min_size=2, max_size=2)
NEAR_TIMES = st.builds(
    "{}-{}-{}{}{}:{}:{}{}{}".format,
    st.sampled_from(["0000", "0001", "0002", "2024", "2026", "9998", "9999"]),
    DIGITS | st.sampled_from(["01", "02", "04", "12"]),
    DIGITS | st.sampled_from(["01", "28", "29", "30", "31"]),
    st.sampled_from("TTTTt "),
    DIGITS | st.sampled_from(["00", "23"]),
    DIGITS | st.sampled_from(["00", "59"]),
    DIGITS | st.sampled_from(["00", "59", "60"]),
    st.sampled_from(["", "", ".5", ".", ".123456789012"]),
    st.sampled_from(["Z", "Z", "z", "+00:00", "-00:00", "+23:59", "-23:59", "+24:00", "", "Z\n"]),
)


@settings(deadline=None, max_examples=300)
@given(NEAR_TIMES | st.text(max_size=30))
def test_the_quick_look_at_a_time_and_the_close_one_agree(text):
    assert (problems(changed("turns", 0, "timestamp", text)) == []) == is_date_time(text)


@settings(deadline=None)
@given(payloads(), st.randoms())
def test_every_payload_of_the_contract_is_accepted_whatever_the_order_of_its_keys(payload, random):
    assert problems(payload) == []
    assert problems(reordered(payload, random.shuffle)) == []


ODD_VALUES = st.sampled_from(
    [
        *(None, True, 0, 1, -1, 1.0, 1.5, 1e300, 2**63, 10**400, [], {}, [None], "", "x", "x" * 257),
        *("full", "none", "user", SESSION, FIRST, FIRST.upper(), "2026-03-02T08:15:00Z", "2026-02-30T08:15:00Z"),
        *("0000-01-01T00:00:00Z", "2016-12-31T23:59:60-00:00"),
    ]
)


def nodes(value: Any) -> list[tuple[Any, Any]]:
    """Every place in ``value`` as its container and its key."""
    found = []
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in members:
        found += [(value, key), *nodes(member)]
    return found


@st.composite
def broken_payloads(draw: st.DrawFn) -> dict[str, Any]:
    payload = draw(payloads(max_turns=3) | clashing_payloads(native=True) | st.builds(copy.deepcopy, st.just(BASE)))
    if draw(st.booleans()):
        payload.setdefault("capture_options", {})["derive_ids"] = draw(st.booleans() | ODD_VALUES.map(copy.deepcopy))
    for _ in range(draw(st.integers(1, 4))):
        places = nodes(payload)
        assume(places)
        container, key = draw(st.sampled_from(places))
        if draw(st.booleans()):
            container[key] = draw(ODD_VALUES.map(copy.deepcopy) | json_values)
        elif isinstance(container, dict):
            del container[key]
    return payload


# The same schema, read by jsonschema alone, with our own notion of the two formats.
CHECKER = jsonschema.FormatChecker(())
CHECKER.checks("uuid")(lambda value: not isinstance(value, str) or is_uuid(value))
CHECKER.checks("date-time")(lambda value: not isinstance(value, str) or is_date_time(value))
ORACLE = jsonschema.Draft202012Validator(load("capture-input"), format_checker=CHECKER)


@settings(deadline=None, max_examples=250)
@given(broken_payloads())
def test_both_validators_agree_on_every_payload_but_for_the_times_of_the_contract(payload):
    by_jsonschema = list(findings_of_jsonschema(payload))
    times = {finding for finding in by_jsonschema if (finding.rule, finding.parts[-1]) == ("format", "timestamp")}
    by_gate = list(findings_of_gate(payload))
    assert len(by_gate) == len(set(by_gate))
    assert set(by_gate) | times == set(by_jsonschema)
    assert is_accepted(payload) == (not by_gate)
    assert ORACLE.is_valid(payload) == (not by_jsonschema)
    assert set(explain(payload)) == set(by_jsonschema)


@settings(deadline=None, max_examples=250)
@given(broken_payloads())
def test_a_payload_is_accepted_exactly_if_neither_schema_nor_rules_object(payload):
    expected = {*findings_of_jsonschema(payload), *findings_in(payload)}
    found = problems(payload)
    assert (found == []) == (not expected)
    if expected:
        error = refusal_of(payload, list(expected))
        assert sorted(found) == sorted((problem.path, problem.rule) for problem in error.problems)


@settings(deadline=None, max_examples=200)
@given(clashing_payloads(native=False) | clashing_payloads(native=True) | payloads())
def test_the_quick_look_never_overlooks_a_broken_rule(payload):
    assert ORACLE.is_valid(payload)
    if are_evidently_kept(payload):
        assert findings_in(payload) == []


@settings(deadline=None, max_examples=200)
@given(payloads() | clashing_payloads(native=True) | broken_payloads())
def test_whatever_is_accepted_is_valid_by_the_published_schema(published_schema, payload):
    if problems(payload):
        return
    if payload.get("capture_options", {}).get("derive_ids"):
        payload = derive_ids(payload)
    published = {**published_schema, "$ref": "#/definitions/ConversationCaptureInput"}
    checker = jsonschema.FormatChecker(["uuid"])
    jsonschema.Draft202012Validator(published, format_checker=checker).validate(payload)
