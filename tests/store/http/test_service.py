"""Health, readiness, the OpenAPI document and the figures."""

from __future__ import annotations

import pytest

import schemas
from store.errors import DamagedDatabase, DatabaseUnreachable
from tests.store.http.fake_guard import FakeMetrics
from tests.store.http.fake_store import FakeStore
from tests.store.http.site import SESSION, Site, capture


@pytest.mark.parametrize(("path", "word"), [("/health", "ok"), ("/ready", "ready")])
def test_a_store_that_works_says_so_after_asking_its_database(path: str, word: str, site: Site) -> None:
    assert site.json(path) == {"status": word, "kind": "fake"}
    assert [call.method for call in site.store.calls] == ["ping"]


@pytest.mark.parametrize("path", ["/health", "/ready"])
def test_a_store_that_cannot_write_is_503_with_the_reason(path: str, site: Site) -> None:
    site.store.faults["ping"] = DatabaseUnreachable("the database cannot be reached")
    answer = site.get(path)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert answer.json() == {
        "error": "unavailable",
        "message": "the database cannot be reached",
        "status": "unavailable",
        "kind": "fake",
    }


@pytest.mark.parametrize("path", ["/health", "/ready"])
def test_a_store_whose_database_is_damaged_is_not_well_either(path: str, site: Site) -> None:
    site.store.faults["ping"] = DamagedDatabase("the database is damaged")
    answer = site.get(path)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert answer.json() == {
        "error": "unavailable",
        "message": "the database is damaged",
        "status": "unavailable",
        "kind": "fake",
    }


def test_a_caller_in_this_process_says_how_long_it_waits(full: Site) -> None:
    for path in ("/health", "/v1/stats", f"/v1/sessions/{SESSION}", f"/v1/sessions/{SESSION}/turns", "/v1/audit"):
        full.raw("GET", path.encode(), **{"ruvector.timeout_s": 0.25})
        assert full.store.calls[-1].timeout_s == 0.25


def test_the_openapi_document_is_that_of_the_package(site: Site) -> None:
    answer = site.get("/openapi.json")
    assert answer.headers["content-type"] == "application/json"
    assert answer.content == schemas.ruvector_openapi_bytes()
    assert answer.json()["info"]["title"] == "Conversation memory: the store"


def test_another_openapi_document_may_be_given() -> None:
    assert Site(openapi=lambda: b'{"openapi":"3.1.0"}').json("/openapi.json") == {"openapi": "3.1.0"}


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
def test_a_store_that_nobody_measures_has_no_figures(method: str, site: Site) -> None:
    assert site.client.request(method, "/metrics").status_code == 404


def test_figures_come_in_their_own_format() -> None:
    site = Site(metrics=FakeMetrics())
    answer = site.get("/metrics")
    assert (answer.status_code, answer.content) == (200, b"ruvector_appends_total 1.0\n")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert site.client.head("/metrics").headers["content-length"] == str(len(answer.content))


def test_each_answer_is_observed_by_its_route_and_never_by_its_path() -> None:
    metrics = FakeMetrics()
    site = Site(metrics=metrics)
    site.post(capture())
    site.get("/v1/sessions/abc/turns")
    site.client.head("/v1/decision-events/ref")
    site.client.delete("/v1/users/somebody%2Fexport")
    site.get("/v1/users/somebody/export")
    site.get("/no/such/path")
    site.client.request("BREW", "/health")
    site.get("/health", x="1")
    assert [one[:3] for one in metrics.observed] == [
        ("/v1/decision-events", "POST", 201),
        ("/v1/sessions/{session_id}/turns", "GET", 404),
        ("/v1/decision-events/{execution_ref}", "HEAD", 404),
        ("/v1/users/{user_id}", "DELETE", 404),
        ("/v1/users/{user_id}/export", "GET", 404),
        ("unmatched", "GET", 404),
        ("unmatched", "BREW", 405),
        ("/health", "GET", 400),
    ]


def test_an_append_is_counted_with_its_own_time_once_it_is_acknowledged() -> None:
    metrics = FakeMetrics()
    site = Site(FakeStore(), metrics=metrics)
    site.post(capture())
    site.post(capture())
    site.store.faults["append"] = DatabaseUnreachable("the database cannot be reached")
    site.post(capture())
    # The stop-watch of the tests goes on by one each time it is read.
    assert metrics.appends == [(False, 1.0), (True, 1.0)]
    assert [one[3] for one in metrics.observed] == [3.0, 3.0, 2.0]


def test_without_figures_the_stop_watch_is_never_read(site: Site) -> None:
    def never() -> float:
        raise AssertionError

    site.app._monotonic = never
    assert site.post(capture()).status_code == 201
