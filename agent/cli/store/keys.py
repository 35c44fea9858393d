"""``store keys``: who may call the store and the functions, by the names of their keys. No key is shown.

A line of a log is matched with a key by that name: it is made of the key's digest, so nobody finds the key by it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final

from agent.callers.settings import RATE_LIMIT, caller_settings
from agent.cli.exit_codes import ExitCode
from agent.cli.invocation import Invocation
from agent.cli.result import print_result
from agent.cli.store.database import store_settings
from store.http.access import Key
from store.http.quotas import Quota
from store.settings import StoreSettings

# Who has callers with keys of their own, and the variable that holds these, or whose ``_FILE`` does.
_FUNCTIONS: Final = {"capture": "CAPTURE_API_KEYS", "recall": "RECALL_API_KEYS"}


def show_keys(invocation: Invocation) -> ExitCode:
    """Print the keys of ``RUVECTOR_KEYS`` with the quotas that bound each, its own and its tenant's; then the callers'.

    Raises ConfigurationError for the first setting that does not hold.
    """
    settings = store_settings(invocation)
    described = [_described(key, settings) for key in settings.keys]
    callers = _callers(invocation.terminal.environ)
    rows = [(key["name"], f"calls {key['function']} ({key['variable']})") for key in callers]
    print_result(invocation, {"keys": described, "callers": callers}, [*_facts(described), *rows])
    return ExitCode.OK


def _callers(environ: Mapping[str, str]) -> list[dict[str, str]]:
    """The keys of the functions' callers, in the order of their settings."""
    # The limit of callers is none of their names, and costs its library.
    named = {variable: value for variable, value in environ.items() if variable != RATE_LIMIT}
    found = []
    for function, variable in _FUNCTIONS.items():
        settings = caller_settings(named, variable)
        if settings is not None:
            names = settings.key_names(time.monotonic_ns)
            found += [{"name": name, "function": function, "variable": settings.variable} for name in names]
    return found


def _described(key: Key, settings: StoreSettings) -> dict[str, Any]:
    quotas = [_quota(quota) for quota in settings.quotas if quota.name in (key.name, key.tenant)]
    return {"name": key.name, "tenant": key.tenant, "rights": sorted(key.rights), "quotas": quotas}


def _quota(quota: Quota) -> dict[str, Any]:
    per_second = None if quota.milli_per_second is None else quota.milli_per_second / 1000
    return {"name": quota.name, "requests_per_second": per_second, "bytes_per_day": quota.bytes_per_day}


def _facts(described: list[dict[str, Any]]) -> list[tuple[str, str]]:
    if not described:
        return [("keys", "none: only programs on the store's own host may call it (RUVECTOR_KEYS)")]
    return [(key["name"], ", ".join([*key["rights"], *_bounds(key["quotas"])])) for key in described]


def _bounds(quotas: list[dict[str, Any]]) -> list[str]:
    bounds = []
    for quota in quotas:
        if quota["requests_per_second"] is not None:
            bounds.append(f"{quota['requests_per_second']:g} requests a second for {quota['name']}")
        if quota["bytes_per_day"] is not None:
            bounds.append(f"{quota['bytes_per_day']} bytes a day for {quota['name']}")
    return bounds
