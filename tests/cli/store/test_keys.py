"""``store keys`` lists who may call, by the names of their keys."""

import json
from hashlib import sha256

import pytest

from agent.cli.exit_codes import ExitCode
from agent.cli.output_format import Format
from agent.cli.store.keys import show_keys
from tests.cli.store.running import run

FIRST, SECOND = "the-first-secret-key", "the-second-secret-key"


def test_keys_are_listed_by_their_names_with_rights_and_quotas_and_never_shown(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    keys = {"RUVECTOR_KEYS": f"acme:{FIRST}:admin,acme:{SECOND}"}
    names = [key["name"] for key in json.loads(run(show_keys, None, environ=keys)[1])["keys"]]
    environ = {**keys, "RUVECTOR_QUOTAS": f"acme:2.5/second,{names[1]}:1k/day"}
    code, out, err = run(show_keys, None, environ=environ)
    assert (code, err) == (ExitCode.OK, "")
    of_tenant = {"name": "acme", "requests_per_second": 2.5, "bytes_per_day": None}
    of_key = {"name": names[1], "requests_per_second": None, "bytes_per_day": 1000}
    assert json.loads(out) == {
        "callers": [],
        "keys": [
            {"name": names[0], "tenant": "acme", "rights": ["admin", "read", "write"], "quotas": [of_tenant]},
            {"name": names[1], "tenant": "acme", "rights": ["read", "write"], "quotas": [of_tenant, of_key]},
        ],
    }
    code, table, _ = run(show_keys, None, Format.TABLE, environ=environ)
    assert [line.split(maxsplit=1) for line in table.splitlines()] == [
        [names[0], "admin, read, write, 2.5 requests a second for acme"],
        [names[1], f"read, write, 2.5 requests a second for acme, 1000 bytes a day for {names[1]}"],
    ]
    assert not any(secret in text for secret in (FIRST, SECOND) for text in (out, table))
    assert list(tmp_path.iterdir()) == []


def test_without_keys_that_is_said():
    code, out, _ = run(show_keys, None, Format.TABLE)
    assert (code, out.startswith("keys  none: ")) == (ExitCode.OK, True)
    assert json.loads(run(show_keys, None)[1]) == {"keys": [], "callers": []}


def test_callers_keys_are_listed_by_the_names_that_log_lines_have_wherever_they_come_from(tmp_path):
    file = tmp_path / "keys"
    file.write_text(f"{SECOND}\n{FIRST}\n")
    environ = {"CAPTURE_API_KEYS": f"{FIRST},{SECOND}", "RECALL_API_KEYS_FILE": str(file), "RATE_LIMIT": "nonsense"}
    first, second = (sha256(key.encode()).hexdigest()[:8] for key in (FIRST, SECOND))
    code, out, err = run(show_keys, None, environ=environ)
    assert (code, err) == (ExitCode.OK, "")
    assert json.loads(out)["callers"] == [
        {"name": first, "function": "capture", "variable": "CAPTURE_API_KEYS"},
        {"name": second, "function": "capture", "variable": "CAPTURE_API_KEYS"},
        {"name": second, "function": "recall", "variable": "RECALL_API_KEYS_FILE"},
        {"name": first, "function": "recall", "variable": "RECALL_API_KEYS_FILE"},
    ]
    code, table, _ = run(show_keys, None, Format.TABLE, environ=environ)
    assert [line.split(maxsplit=1) for line in table.splitlines()][1:] == [
        [first, "calls capture (CAPTURE_API_KEYS)"],
        [second, "calls capture (CAPTURE_API_KEYS)"],
        [second, "calls recall (RECALL_API_KEYS_FILE)"],
        [first, "calls recall (RECALL_API_KEYS_FILE)"],
    ]
    assert not any(secret in text for secret in (FIRST, SECOND) for text in (out, table))
    both = {"CAPTURE_API_KEYS_FILE": str(file), "RECALL_API_KEYS": FIRST}
    listed = json.loads(run(show_keys, None, environ=both)[1])["callers"]
    assert [(key["name"], key["variable"]) for key in listed] == [
        (second, "CAPTURE_API_KEYS_FILE"),
        (first, "CAPTURE_API_KEYS_FILE"),
        (first, "RECALL_API_KEYS"),
    ]


@pytest.mark.parametrize(
    "environ",
    [
        {"RUVECTOR_KEYS": "acme:short"},
        {"CAPTURE_API_KEYS": "short"},
        {"RECALL_API_KEYS": "short"},
        {"RECALL_API_KEYS_FILE": "/nowhere/keys"},
        {"CAPTURE_API_KEYS": FIRST, "CAPTURE_API_KEYS_FILE": "/nowhere/keys"},
    ],
)
def test_keys_that_do_not_hold_are_2_and_named_by_their_variable(environ):
    code, out, err = run(show_keys, None, environ=environ)
    assert (code, out) == (ExitCode.USAGE, "")
    assert [*environ][-1] in err
    assert FIRST not in err
