"""The metrics say what happened, in Prometheus' words, in a bounded number of series."""

import subprocess
import sys
import threading

import pytest
from prometheus_client import REGISTRY
from prometheus_client.parser import text_string_to_metric_families

from store.http.metrics import Metrics


def samples(metrics: Metrics) -> dict[str, dict[tuple[tuple[str, str], ...], float]]:
    """Every sample by its name and labels."""
    found: dict[str, dict[tuple[tuple[str, str], ...], float]] = {}
    for family in text_string_to_metric_families(metrics.exposition()[1].decode()):
        for sample in family.samples:
            found.setdefault(sample.name, {})[tuple(sorted(sample.labels.items()))] = sample.value
    return found


def appends(metrics: Metrics) -> dict[str, float]:
    return {dict(labels)["result"]: value for labels, value in samples(metrics)["ruvector_appends_total"].items()}


def test_before_the_first_append_both_results_stand_at_nought() -> None:
    assert appends(Metrics()) == {"accepted": 0.0, "duplicate": 0.0}


def test_appends_are_counted_by_result_and_timed_together() -> None:
    metrics = Metrics()
    for duplicate in (False, False, True):
        metrics.appended(duplicate, 0.25)
    assert appends(metrics) == {"accepted": 2.0, "duplicate": 1.0}
    assert samples(metrics)["ruvector_append_seconds_count"] == {(): 3.0}
    assert samples(metrics)["ruvector_append_seconds_sum"] == {(): 0.75}
    assert samples(metrics)["ruvector_append_seconds_bucket"][(("le", "0.1"),)] == 0.0
    assert samples(metrics)["ruvector_append_seconds_bucket"][(("le", "0.25"),)] == 3.0


def test_requests_are_timed_by_route_method_and_status() -> None:
    metrics = Metrics()
    metrics.observe("/v1/sessions/{id}", "GET", 200, 0.5)
    metrics.observe("/v1/sessions/{id}", "GET", 200, 0.5)
    metrics.observe("/v1/sessions/{id}", "GET", 404, 0.5)
    assert samples(metrics)["ruvector_request_seconds_count"] == {
        (("method", "GET"), ("route", "/v1/sessions/{id}"), ("status", "200")): 2.0,
        (("method", "GET"), ("route", "/v1/sessions/{id}"), ("status", "404")): 1.0,
    }


def test_a_method_that_http_does_not_know_makes_no_series_of_its_own() -> None:
    metrics = Metrics()
    for number in range(50):
        metrics.observe("other", f"X{number}", 405, 0.1)
    assert samples(metrics)["ruvector_request_seconds_count"] == {
        (("method", "other"), ("route", "other"), ("status", "405")): 50.0
    }


def test_connections_are_asked_for_when_they_are_shown_and_the_last_source_holds() -> None:
    metrics = Metrics()
    assert "ruvector_pool_connections" not in samples(metrics)
    counts = [1, 4]
    metrics.pool(lambda: (9, 9))
    metrics.pool(lambda: (counts[0], counts[1]))
    counts[0] = 3
    assert samples(metrics)["ruvector_pool_connections"] == {(("state", "in_use"),): 3.0, (("state", "idle"),): 4.0}
    assert "# TYPE ruvector_pool_connections gauge" in metrics.exposition()[1].decode()


def test_the_exposition_is_what_every_prometheus_reads() -> None:
    content_type, body = Metrics().exposition()
    assert content_type == "text/plain; version=0.0.4; charset=utf-8"
    assert body.endswith(b"\n")


def test_two_stores_in_one_process_are_counted_apart_and_not_in_the_library_s_own_registry() -> None:
    one, other = Metrics(), Metrics()
    one.appended(False, 0.1)
    assert appends(other)["accepted"] == 0.0
    assert not [family.name for family in REGISTRY.collect() if family.name.startswith("ruvector")]


def test_threads_lose_no_count() -> None:
    metrics = Metrics()

    def work() -> None:
        for _ in range(500):
            metrics.appended(False, 0.1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert appends(metrics)["accepted"] == 2000.0


@pytest.mark.parametrize("module", ["http.access", "http.cors", "errors", "http.metrics", "http.quotas", "settings"])
def test_nothing_heavy_is_imported_before_it_is_needed(module: str) -> None:
    heavy = "alembic", "gunicorn", "httpx", "prometheus_client", "psycopg", "sqlalchemy", "typer"
    script = f"import sys, store.{module}; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
