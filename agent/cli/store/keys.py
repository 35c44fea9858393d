"""``store keys``: who may call the store, by the names of their keys. A key itself is not known here."""

from __future__ import annotations

from typing import Any

from agent.cli.exit_codes import ExitCode
from agent.cli.invocation import Invocation
from agent.cli.result import print_result
from agent.cli.store.database import store_settings
from store.http.access import Key
from store.http.quotas import Quota
from store.settings import StoreSettings


def show_keys(invocation: Invocation) -> ExitCode:
    """Print the keys of ``RUVECTOR_KEYS`` with the quotas that bound each: its own, and its tenant's."""
    settings = store_settings(invocation)
    described = [_described(key, settings) for key in settings.keys]
    print_result(invocation, {"keys": described}, _facts(described))
    return ExitCode.OK


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
