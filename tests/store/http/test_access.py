"""Who may call what, whose rows they meet, and what it costs them."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from store.http.request import MAX_BODY_BYTES
from tests.store.http.fake_guard import FakeCaller, FakeGuard, FakeMetrics
from tests.store.http.fake_store import FakeStore
from tests.store.http.paths import CALLS, METHODS, RIGHTS, concrete, taken
from tests.store.http.site import NOW, SESSION, TURN, Site, capture, event, filled

RIGHT_NAMES = {"read", "write", "admin"}


def guarded(store: FakeStore | None = None, tenant: str = "default", **caller: Any) -> Site:
    """A surface where the key ``all`` may do everything, and ``read``, ``write``, ``admin`` what they are called."""
    keys = {name: ({name}, FakeCaller(tenant, f"{tenant}-{name}", **caller)) for name in RIGHT_NAMES}
    keys["all"] = (RIGHT_NAMES, FakeCaller(tenant, f"{tenant}-all", **caller))
    return Site(filled() if store is None else store, guard=FakeGuard(keys), metrics=FakeMetrics())


def call(site: Site, method: str, template: str, key: str | None) -> Any:
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    content = json.dumps(event("r-2")).encode() if method == "POST" else None
    return site.client.request(method, concrete(template), headers=headers, content=content)


@pytest.mark.parametrize(("method", "template", "right"), CALLS)
def test_each_path_asks_for_its_right_and_no_other_opens_it(method: str, template: str, right: str) -> None:
    site = guarded()
    for name in RIGHT_NAMES:
        answer = call(site, method, template, name)
        if right in ("open", name):
            assert answer.status_code < 300, answer.text
        else:
            assert answer.status_code == (401 if right == "metrics" else 403)


@pytest.mark.parametrize(("method", "template", "right"), CALLS)
@pytest.mark.parametrize("key", [None, "guessed"])
def test_without_a_known_key_what_is_not_open_is_401(method: str, template: str, right: str, key: str | None) -> None:
    site = guarded()
    calls = len(site.store.calls)
    answer = call(site, method, template, key)
    if right == "open":
        assert answer.status_code == 200
        return
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert answer.headers["content-type"] == "application/json"
    assert len(site.store.calls) == calls
    if method != "HEAD":
        assert answer.json()["error"] == "unauthorized"


def test_the_figures_have_a_key_of_their_own() -> None:
    site = guarded()
    assert call(site, "GET", "/metrics", "all").status_code == 401
    assert call(site, "GET", "/metrics", "metrics-key").status_code == 200


@pytest.mark.parametrize("template", RIGHTS)
def test_another_method_is_405_before_a_key_is_asked_for(template: str) -> None:
    site = guarded()
    methods = taken(template)
    # A user may be called u-1/export: there DELETE is taken too.
    also = {"DELETE"} if template == "/v1/users/{user_id}/export" else set()
    for method in set(METHODS) - methods - also:
        answer = call(site, method, template, None)
        assert answer.status_code == 405, method
        assert set(answer.headers["allow"].split(", ")) == methods
        if method != "HEAD":
            assert answer.json() == {
                "error": "method_not_allowed",
                "message": f"this path takes {answer.headers['allow']}",
            }
    assert site.guard is not None
    assert site.guard.asked == []


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("path", ["/", "/v1", "/v1/sessions/", "/v1/sessions/a/b", "/v2/stats", "//health", "/health/"])
def test_an_unknown_path_is_404_before_a_key_is_asked_for(path: str, method: str) -> None:
    site = guarded()
    status, _, body = site.raw(method, path.encode())
    assert status == 404
    if method != "HEAD":
        assert json.loads(body) == {"error": "not_found", "message": "there is no such path"}
    assert site.guard is not None
    assert site.guard.asked == []


@pytest.mark.parametrize(("method", "template", "right"), [one for one in CALLS if one[2] not in ("open", "metrics")])
def test_every_call_meets_the_rows_of_the_keys_tenant_alone(method: str, template: str, right: str) -> None:
    site = guarded(tenant="acme")
    calls = len(site.store.calls)
    call(site, method, template, "all")
    assert [one.tenant for one in site.store.calls[calls:]] == ["acme"]


def test_a_tenant_does_not_see_the_events_of_another() -> None:
    store = filled()
    acme = guarded(store, tenant="acme")
    assert call(acme, "POST", "/v1/decision-events", "write").status_code == 201
    assert [one["runId"] for one in call(acme, "GET", "/v1/decision-events", "read").json()["events"]] == ["r-2"]
    assert call(acme, "GET", "/v1/decision-events/{execution_ref}", "read").status_code == 404
    default = guarded(store)
    assert len(call(default, "GET", "/events/decisions", "read").json()["events"]) == 2


@pytest.mark.parametrize(
    ("method", "template", "name"),
    [
        ("DELETE", "/v1/sessions/{session_id}", "erase_session"),
        ("DELETE", "/v1/turns/{turn_id}", "erase_turn"),
        ("DELETE", "/v1/users/{user_id}", "erase_user"),
        ("GET", "/v1/users/{user_id}/export", "export_user"),
    ],
)
def test_an_act_is_done_in_the_name_of_its_key(method: str, template: str, name: str) -> None:
    site = guarded(tenant="acme")
    call(site, method, template, "admin")
    actor = site.last_call(name).argument[1]
    assert (actor.key_name, actor.at) == ("acme-admin", NOW)


def test_a_used_up_quota_of_requests_is_429() -> None:
    site = guarded()
    assert site.guard is not None
    site.guard.calls_left = 1
    assert call(site, "GET", "/v1/stats", "read").status_code == 200
    answer = call(site, "GET", "/v1/stats", "read")
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "2")
    assert answer.json()["error"] == "too_many_requests"
    assert call(site, "GET", "/health", None).status_code == 200


def spending(body: bytes, bytes_left: int, **environ: Any) -> tuple[int, FakeCaller, int]:
    """The status of a write by a caller with ``bytes_left``, the caller after it, and how much of the body was read."""
    site = guarded(FakeStore(), bytes_left=bytes_left)
    assert site.guard is not None
    stream = io.BytesIO(body)
    environ = {"wsgi.input": stream, "HTTP_AUTHORIZATION": "Bearer write", **environ}
    status, _, _ = site.raw("POST", b"/v1/decision-events", **environ)
    return status, site.guard.keys["write"][1], stream.tell()


BODY = json.dumps(capture()).encode()


def test_a_body_is_paid_for_by_its_announced_length() -> None:
    status, caller, _ = spending(BODY, 10_000, CONTENT_LENGTH=str(len(BODY)))
    assert (status, caller.spent) == (201, [len(BODY)])


def test_a_body_that_was_not_announced_is_paid_for_once_it_is_read() -> None:
    status, caller, _ = spending(BODY, 10_000, HTTP_TRANSFER_ENCODING="chunked")
    assert (status, caller.spent) == (201, [len(BODY)])


def test_a_body_that_the_quota_does_not_hold_is_429_and_not_read() -> None:
    assert spending(BODY, len(BODY) - 1, CONTENT_LENGTH=str(len(BODY)))[::2] == (429, 0)
    assert spending(BODY, len(BODY), CONTENT_LENGTH=str(len(BODY)))[0] == 201
    assert spending(BODY, len(BODY) - 1, HTTP_TRANSFER_ENCODING="chunked")[0] == 429


def test_a_body_beyond_the_limit_costs_nothing() -> None:
    status, caller, read = spending(BODY, 10**12, CONTENT_LENGTH=str(MAX_BODY_BYTES + 1))
    assert (status, caller.spent, read) == (413, [], 0)


def test_without_a_guard_everybody_is_one_caller_who_may_do_everything(full: Site) -> None:
    for path in (f"/v1/sessions/{SESSION}", f"/v1/turns/{TURN}", "/v1/users/u-1"):
        assert full.client.delete(path).json()["key_name"] == "embedded"
    assert {one.tenant for one in full.store.calls} == {"default"}
