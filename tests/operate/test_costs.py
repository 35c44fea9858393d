"""The amounts of docs/operate/costs.md and of its script: measured again, and the arithmetic held to what it says."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.payloads import Variations, compact, conversation
from scripts.estimate_cost import Load, amounts, checked_prices, main, price_names, table
from tests.conftest import REPOSITORY
from tests.live.host import function_host, stub_store
from tests.operate.page import blocks, run_script, text_of

PAGE = text_of("costs")
_CAPTURES = 40
_PARENT = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}


class Collector:
    """An OTLP/HTTP receiver that counts the bytes of what it is sent."""

    def __init__(self) -> None:
        self.received = 0
        collector = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                collector.received += len(self.rfile.read(int(self.headers["Content-Length"])))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_arguments: object) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)


@contextmanager
def collecting() -> Iterator[Collector]:
    collector = Collector()
    thread = threading.Thread(target=collector.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    yield collector
    collector.server.shutdown()
    thread.join(10)
    collector.server.server_close()


def test_a_capture_takes_the_bytes_that_the_page_says(tmp_path):
    bodies = Variations(compact(conversation()), 1)
    platform = {"GOOGLE_CLOUD_PROJECT": "a-project-of-mine", "K_SERVICE": "conversation-memory"}
    with (
        collecting() as collector,
        stub_store() as store,
        function_host(
            tmp_path,
            store=store.url,
            RUVECTOR_API_KEY="a-key-of-the-store-1",
            LLM_OBSERVATORY_URL=f"http://127.0.0.1:{collector.server.server_port}",
            **platform,
        ) as host,
        httpx.Client(timeout=60) as client,
    ):
        before = host.log_path.stat().st_size
        bodies_sent = [bodies.next() for _ in range(_CAPTURES)]
        answers = [client.post(host.url, content=body, headers=_PARENT) for body in bodies_sent]
        assert {answer.status_code for answer in answers} == {200}
        logged = host.log_path.stat().st_size - before
    told = Load()
    assert len(bodies_sent[0]) == told.body_bytes
    assert sum(len(answer.content) for answer in answers) / _CAPTURES == pytest.approx(told.answer_bytes, rel=0.1)
    assert logged / _CAPTURES == pytest.approx(told.log_bytes, rel=0.1)
    # Ended by now, so all of it has been sent: one export of metrics more than while it runs.
    assert collector.received / _CAPTURES == pytest.approx(told.otlp_bytes, rel=0.25)


def test_the_page_has_the_numbers_of_the_script():
    measured = PAGE.partition("## Measured")[2].partition("\n## ")[0]
    for names, value in re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| ([\d.]+) \|", measured, re.MULTILINE):
        for name in re.findall(r"\w+", names):
            assert getattr(Load(), name) == float(value), name


def test_the_page_names_every_number_and_every_price():
    named = set(re.findall(r"`(\w+)`", PAGE))
    assert {name for name in Load.__dataclass_fields__ if name not in named} == set()
    assert {name for name in price_names() if name not in named} == set()
    formula = PAGE.partition("## The formula")[2].partition("\n\n**Busy")[0]
    assert set(re.findall(r"^\|.*\| `(\w+)` \|$", formula, re.MULTILINE)) == set(price_names())


def test_the_commands_of_the_page_work_as_written(tmp_path):
    script = "\n".join(blocks(PAGE))
    ran = run_script(script, tmp_path, {"prices.json": str(tmp_path / "prices.json")})
    assert ran.code == 0, ran.err
    assert json.loads((tmp_path / "prices.json").read_text()) == dict.fromkeys(price_names())
    assert ran.out.count(f"{len(price_names())} prices missing") == 2


def test_a_million_captures_by_hand():
    load = Load().with_numbers({"captures": 1e6, "recalls": 0, "kept_months": 1, "queued": 0.5, "capture_busy_s": 0.01})
    found = {amount.what: amount.quantity for amount in amounts(load)}
    assert found["requests"] == 2
    assert found["processor, capture"] == 10_000
    assert found["memory, capture"] == 2_500
    assert found["processor, recall"] == 0
    assert found["queue, in and out"] == pytest.approx(5e5 * 2 * 6418 / 2**30)
    assert found["answers to callers"] == pytest.approx(5e5 * 15066 / 2**30)
    assert found["database, stored"] == pytest.approx(1e6 * 10 * 737 / 2**30)
    priced = table(amounts(load), {"vcpu_second": 0.5, "million_requests": 3})
    assert "6.00" in priced[1]
    assert priced[-1].split()[1] == f"{6 + 0.5 * (10_000 + 1e6 * load.store_append_busy_s):.2f},"


def test_a_small_message_counts_as_the_least_that_the_queue_counts():
    load = Load().with_numbers({"queued": 1, "body_bytes": 10})
    assert {each.what: each.quantity for each in amounts(load)}["queue, in and out"] == 1e6 * 2 * 1000 / 2**30


numbers = st.floats(0, 1e6)


# What comes by the queue is answered to nobody, so there the one item falls as the other grows.
@given(numbers, st.floats(1, 100), st.sampled_from(sorted(set(Load.__dataclass_fields__) - {"queued"})))
def test_no_item_falls_when_a_number_of_the_load_grows(value, factor, name):
    small, large = (Load().with_numbers({name: each}) for each in (value, value * factor))
    for less, more in zip(amounts(small), amounts(large), strict=True):
        assert more.quantity >= less.quantity * (1 - 1e-12)


@given(st.lists(numbers, min_size=16, max_size=16))
def test_the_sum_is_the_sum_of_the_items(prices):
    given_prices = dict(zip(price_names(), prices, strict=False))
    items = amounts(Load())
    *rows, last = table(items, given_prices)
    assert last.endswith(f"{sum(item.quantity * given_prices[item.price] for item in items):.2f}")
    assert len(rows) == len(items) + 1


@pytest.mark.parametrize(
    "prices", [[], {"vcpu": 1}, {"vcpu_second": -1}, {"vcpu_second": "1"}, {"vcpu_second": True}, {"gib_second": 1e999}]
)
def test_prices_that_do_not_hold_are_refused(prices):
    with pytest.raises(ValueError, match="price"):
        checked_prices(prices)


@pytest.mark.parametrize("arguments", [["--set", "sessions=1"], ["--prices", "/nowhere/prices.json"]])
def test_what_does_not_hold_is_told_on_one_line_with_code_2(arguments, capsys):
    assert main(arguments) == 2
    assert capsys.readouterr().err.startswith("estimate_cost: ")


def test_as_many_backups_are_counted_as_the_module_keeps():
    variables = (REPOSITORY / "deploy/terraform/variables.tf").read_text()
    kept = re.search(r'variable "database_backups" \{.*?default\s*= (\d+)', variables, re.DOTALL)
    assert kept is not None
    assert Load().backups == int(kept[1])


def test_the_sum_counts_each_missing_price_once():
    assert table(amounts(Load()), {})[-1].endswith(f" {len(price_names())} prices missing")
    one = price_names()[0]
    assert table(amounts(Load()), {one: 1})[-1].endswith(f" {len(price_names()) - 1} prices missing")
