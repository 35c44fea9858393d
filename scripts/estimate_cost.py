"""What a month costs: the amounts of a load, times prices that you give. Pure arithmetic; it asks nobody.

    python scripts/estimate_cost.py --captures 1e6
    python scripts/estimate_cost.py --template > prices.json
    python scripts/estimate_cost.py --captures 1e6 --prices prices.json

It holds no price: without one it prints the amount alone. What a capture takes is measured (docs/operate/costs.md says
by what), at ten turns and 6.4 KB; ``--set NAME=NUMBER`` puts a number of yours in place of any. Free tiers, discounts
and taxes are left out. It refuses a price file with a name that it does not know.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

_GIB: Final = 2**30
_MILLION: Final = 1e6
# Pub/Sub counts at least so much for each message that is published, and for each that is delivered.
_LEAST_MESSAGE_BYTES: Final = 1000


@dataclass(frozen=True)
class Load:
    """A month: how much comes, how long it is kept, and what one capture takes. Sizes are bytes, times are seconds."""

    captures: float = 1e6
    turns: float = 10
    # Recalls for each capture; the share of captures that come by the queue; months that content is kept.
    recalls: float = 1
    queued: float = 0
    kept_months: float = 12
    # How long an instance is busy for one request, divided by how many overlap in it.
    capture_busy_s: float = 0.0014
    store_append_busy_s: float = 0.0022
    recall_busy_s: float = 0.005
    store_read_busy_s: float = 0.005
    capture_gib: float = 0.25
    recall_gib: float = 0.5
    store_gib: float = 0.5
    body_bytes: float = 6418
    answer_bytes: float = 15066
    recall_answer_bytes: float = 15066
    log_bytes: float = 505
    platform_log_bytes: float = 0
    otlp_bytes: float = 1400
    stored_turn_bytes: float = 737
    # As many as Terraform keeps (database_backups).
    backups: float = 14
    hours: float = 730
    secrets: float = 4
    instance_starts: float = 10_000

    def with_numbers(self, given: Mapping[str, float]) -> Load:
        """This load with some numbers replaced. Raises ValueError for a name that it does not have."""
        unknown = sorted(set(given) - {each.name for each in dataclasses.fields(self)})
        if unknown:
            raise ValueError(f"no such number: {', '.join(unknown)}")
        return dataclasses.replace(self, **given)


class Amount(NamedTuple):
    """So much of something in a month; ``price`` is the name of the price of one ``unit``."""

    what: str
    quantity: float
    unit: str
    price: str


def amounts(load: Load) -> list[Amount]:
    """What the load takes, item by item. A capture is two requests (function and store), a recall too."""
    captures, recalls = load.captures, load.captures * load.recalls
    queued = captures * load.queued
    appending, reading = captures * load.store_append_busy_s, recalls * load.store_read_busy_s
    stored = captures * load.turns * load.stored_turn_bytes * load.kept_months / _GIB
    messages = queued * 2 * max(load.body_bytes, _LEAST_MESSAGE_BYTES) / _GIB
    answers = ((captures - queued) * load.answer_bytes + recalls * load.recall_answer_bytes) / _GIB
    logs = captures * (load.log_bytes + 2 * load.platform_log_bytes) + recalls * 2 * load.platform_log_bytes
    return [
        Amount("requests", 2 * (captures + recalls) / _MILLION, "million", "million_requests"),
        Amount("processor, capture", captures * load.capture_busy_s, "vCPU-s", "vcpu_second"),
        Amount("memory, capture", captures * load.capture_busy_s * load.capture_gib, "GiB-s", "gib_second"),
        Amount("processor, recall", recalls * load.recall_busy_s, "vCPU-s", "vcpu_second"),
        Amount("memory, recall", recalls * load.recall_busy_s * load.recall_gib, "GiB-s", "gib_second"),
        Amount("processor, store", appending + reading, "vCPU-s", "vcpu_second"),
        Amount("memory, store", (appending + reading) * load.store_gib, "GiB-s", "gib_second"),
        Amount("answers to callers", answers, "GiB", "egress_gib"),
        Amount("queue, in and out", messages, "GiB", "pubsub_gib"),
        Amount("database machine", load.hours, "hour", "database_hour"),
        Amount("database, stored", stored, "GiB-month", "database_gib_month"),
        Amount("database, backups", stored * load.backups, "GiB-month", "backup_gib_month"),
        Amount("logs", logs / _GIB, "GiB", "log_gib"),
        Amount("telemetry, if on", captures * load.otlp_bytes / _GIB, "GiB", "telemetry_gib"),
        Amount("secrets, kept", load.secrets, "version-month", "secret_version_month"),
        Amount("secrets, read", load.instance_starts * load.secrets / 10_000, "10 000", "secret_10k_reads"),
    ]


def price_names() -> list[str]:
    """Every price that there is, once."""
    return list(dict.fromkeys(amount.price for amount in amounts(Load())))


def checked_prices(given: object) -> dict[str, float]:
    """The prices of a file; null is a price that nobody filled in. Raises ValueError for anything else."""
    members: dict[str, object] = given if isinstance(given, dict) else {"prices are a JSON object": given}
    unknown = sorted(set(members) - set(price_names()))
    if unknown:
        raise ValueError(f"no such price: {', '.join(unknown)}")
    prices: dict[str, float] = {}
    for name, price in members.items():
        if price is None:
            continue
        if isinstance(price, bool) or not isinstance(price, int | float) or not 0 <= price < float("inf"):
            raise ValueError(f"{name} is no price: a number from 0, or null")
        prices[name] = price
    return prices


def table(items: Sequence[Amount], prices: Mapping[str, float]) -> list[str]:
    """A line an item with its cost, and their sum; where prices are missing, the sum says so."""
    lines = [f"{'what':<20} {'amount':>14} {'unit':<14} {'price':>12} {'cost':>12}"]
    total = 0.0
    missing = len({item.price for item in items} - set(prices))
    for item in items:
        price = prices.get(item.price)
        shown, cost = ("?", "?") if price is None else (f"{price:g}", f"{item.quantity * price:.2f}")
        total += 0.0 if price is None else item.quantity * price
        lines.append(f"{item.what:<20} {item.quantity:>14,.2f} {item.unit:<14} {shown:>12} {cost:>12}")
    note = f", {missing} prices missing" if missing else ""
    return [*lines, f"{'sum':<20} {total:>55.2f}{note}"]


def _number(text: str) -> tuple[str, float]:
    name, _, value = text.partition("=")
    number = float(value)
    if not 0 <= number < float("inf"):
        raise ValueError("a number from 0")
    return name, number


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table, or with ``--template`` an empty price file. 2 where something given does not hold."""
    parser = argparse.ArgumentParser(description="What a month costs: measured amounts times your prices.")
    parser.add_argument("--captures", type=float, default=Load.captures, help="captures a month")
    parser.add_argument("--set", type=_number, action="append", default=[], metavar="NAME=NUMBER", dest="numbers")
    parser.add_argument("--prices", type=Path, help="JSON file of prices, as --template makes it")
    parser.add_argument("--template", action="store_true", help="print a price file without prices")
    given = parser.parse_args(arguments)
    if given.template:
        print(json.dumps(dict.fromkeys(price_names()), indent=2))
        return 0
    try:
        load = Load().with_numbers({"captures": given.captures, **dict(given.numbers)})
        prices = checked_prices(json.loads(given.prices.read_text())) if given.prices else {}
    except (OSError, ValueError) as error:
        print(f"estimate_cost: {error}", file=sys.stderr)
        return 2
    print("\n".join(table(amounts(load), prices)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
