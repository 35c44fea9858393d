"""A key decides the tenant and what may be done; whatever else comes in ``Authorization`` is 401 and never a fault."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.errors import Forbidden, Unauthorized
from store.http.access import Guard, Key
from tests.comparisons import comparisons
from tests.store.access.callers import ADMIN, BOTH, KEYS, OTHER, READER, WRITER, guard, request

MAY = {BOTH: {"read", "write"}, READER: {"read"}, WRITER: {"write"}, ADMIN: {"read", "write", "admin"}}
CASES = [(key, right, right in rights) for key, rights in MAY.items() for right in ("read", "write", "admin")]


@pytest.mark.parametrize(("key", "right", "may"), CASES)
def test_a_role_may_what_it_says_and_nothing_else(key: str, right: Any, may: bool) -> None:
    if may:
        assert guard().check(request(key), right).tenant == "acme"
        return
    with pytest.raises(Forbidden) as refused:
        guard().check(request(key), right)
    assert (refused.value.status, refused.value.error) == (403, "forbidden")
    assert refused.value.message == f"the key does not have the right {right}"


def test_a_key_is_one_tenant_and_is_named_by_its_digest() -> None:
    caller = guard().check(request(OTHER), "read")
    # printf of-another-tenant-01234 | sha256sum
    assert (caller.tenant, caller.key_name) == ("globex", "globex-2c98f826")
    assert guard().check(request(BOTH), "read").tenant == "acme"


def test_neither_a_key_nor_its_caller_shows_the_key() -> None:
    shown = f"{KEYS!r} {KEYS[0]!s} {guard().check(request(BOTH), 'read')!r}"
    assert not [secret for secret in (*MAY, OTHER) if secret in shown]
    assert KEYS[0].digest.hex() not in shown
    assert repr(KEYS[0].digest) not in shown


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "bEaReR"])
def test_the_scheme_is_read_in_any_case(scheme: str) -> None:
    assert guard().check(request(HTTP_AUTHORIZATION=f"{scheme} {BOTH}"), "read").tenant == "acme"
    assert guard().check(request(HTTP_AUTHORIZATION=f"{scheme}   {BOTH} "), "read").tenant == "acme"


@pytest.mark.parametrize(
    "header",
    [
        None, "", " ", "Bearer", "Bearer ", BOTH, f"Basic {BOTH}", f"Bearer{BOTH}", f"Bearer\t{BOTH}",
        f" Bearer {BOTH}", f"Bearer {BOTH}, Bearer {BOTH}", f"Bearer {BOTH} x", f"Bearer \xa0{BOTH}",
        f"Bearer {BOTH}\n", f"Bearer {BOTH}\x00", f"Bearer {BOTH}\xff", "Bearer \xe9\xe9\xe9",
        "Bearer \u65e5\u672c", "Bearer \ud800", f"B\u0101rer {BOTH}", f"Bearer {BOTH.upper()}",
        f"Bearer {BOTH[:-1]}", f"Bearer {BOTH}x", f"Bearer {KEYS[0].name}", f"Bearer {KEYS[0].digest.hex()}",
        f"Bearer acme:{BOTH}", "Bearer " + "x" * 100_000,
    ],
)  # fmt: skip
def test_no_key_or_another_is_401_with_the_scheme_to_use(header: str | None) -> None:
    sent = {} if header is None else {"HTTP_AUTHORIZATION": header}
    with pytest.raises(Unauthorized) as refused:
        guard().check(request(**sent), "read")
    assert (refused.value.status, refused.value.error) == (401, "unauthorized")
    assert refused.value.headers == {"WWW-Authenticate": "Bearer"}
    assert refused.value.message in ("the key is not known", "a key is needed, as in Authorization: Bearer KEY")


@given(st.text(st.characters(max_codepoint=255)) | st.text() | st.binary().map(lambda raw: raw.decode("latin-1")))
def test_whatever_stands_in_the_header_is_401(text: str) -> None:
    for header in (text, f"Bearer {text}", f"bearer {text}{BOTH}x"):
        for check in (lambda sent: guard().check(sent, "read"), guard(metrics_key=b"m" * 32).check_metrics):
            with pytest.raises(Unauthorized):
                check(request(HTTP_AUTHORIZATION=header))


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", None])
def test_with_keys_a_caller_on_this_host_needs_one_too(address: str | None) -> None:
    here = request()
    del here["REMOTE_ADDR"]
    if address is not None:
        here["REMOTE_ADDR"] = address
    with pytest.raises(Unauthorized):
        guard().check(here, "read")


@pytest.mark.parametrize(
    "name", ["HTTP_FORWARDED", "HTTP_X_FORWARDED_FOR", "HTTP_X_REAL_IP", "HTTP_VIA", "HTTP_ORIGIN"]
)
def test_with_a_key_a_caller_may_come_through_a_proxy_and_from_a_page(name: str) -> None:
    assert guard().check(request(BOTH, **{name: "for=198.51.100.7"}), "read").tenant == "acme"


@pytest.mark.parametrize("key", [BOTH, READER, WRITER, ADMIN, OTHER, "not-configured-012345", "x"])
def test_a_key_is_compared_with_every_configured_one_wherever_it_stands(key: str) -> None:
    checked: Guard = guard()

    def check() -> None:
        with suppress(Unauthorized, Forbidden):
            checked.check(request(key), "read")

    assert comparisons(check) == len(KEYS)


def test_the_metrics_key_is_compared_in_constant_time_too() -> None:
    opens = guard(metrics_key=Key.of("m", "metrics-0123456789").digest)
    assert comparisons(lambda: opens.check_metrics(request("metrics-0123456789"))) == 1
