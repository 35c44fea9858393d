"""Keys of callers: kept as digests, compared each with all, refused by place, and never shown."""

from contextlib import suppress
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.core.api_keys import ApiKeys, digest_of, name_of, place_of
from agent.errors import ConfigurationError, Unauthorized, ValidationError
from store.http.access import Key
from tests.comparisons import comparisons

FIRST = "first-key-0123456789"
SECOND = "second-key-012345678"
THIRD = "third-key-0123456789"
KEYS = ApiKeys.parse("RECALL_API_KEYS", f"{FIRST},{SECOND},{THIRD}")


def request(header: str | None = None, **more: str) -> dict[str, Any]:
    sent = {} if header is None else {"HTTP_AUTHORIZATION": header}
    return {"REQUEST_METHOD": "GET", "REMOTE_ADDR": "203.0.113.9", **sent, **more}


def refused(environ: dict[str, Any], keys: ApiKeys = KEYS) -> Unauthorized:
    with pytest.raises(Unauthorized) as error:
        keys.check(environ)
    return error.value


def refused_setting(text: str) -> str:
    with pytest.raises(ConfigurationError) as error:
        ApiKeys.parse("RECALL_API_KEYS", text)
    assert error.value.variable == "RECALL_API_KEYS"
    shown = f"{error.value!r} {error.value.details}"
    assert not [secret for secret in (FIRST, SECOND, "s3cret") if secret in shown]
    assert error.value.__cause__ is None
    return str(error.value).removeprefix("RECALL_API_KEYS: ")


@pytest.mark.parametrize("text", ["", " ", "\n"])
def test_without_keys_everybody_is_let_in(text: str) -> None:
    for environ in (request(), request(f"Bearer {FIRST}"), request("nonsense")):
        ApiKeys.parse("RECALL_API_KEYS", text).check(environ)
    assert ApiKeys.parse("RECALL_API_KEYS", text) == ApiKeys()


@pytest.mark.parametrize("key", [FIRST, SECOND, THIRD])
@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "bEaReR"])
def test_each_key_opens_and_the_scheme_is_read_in_any_case(key: str, scheme: str) -> None:
    KEYS.check(request(f"{scheme} {key}"))
    KEYS.check(request(f"{scheme}   {key} "))


@pytest.mark.parametrize(
    "header",
    [
        None, "", " ", "Bearer", "Bearer ", FIRST, f"Basic {FIRST}", f"Bearer{FIRST}", f"Bearer\t{FIRST}",
        f" Bearer {FIRST}", f"Bearer {FIRST}, Bearer {FIRST}", f"Bearer {FIRST} x", f"Bearer \xa0{FIRST}",
        f"Bearer {FIRST}\n", f"Bearer {FIRST}\x00", f"Bearer {FIRST}\xff", "Bearer \xe9\xe9\xe9",
        "Bearer \u65e5\u672c", "Bearer \ud800", f"Bearer {FIRST.upper()}", f"Bearer {FIRST[:-1]}", f"Bearer {FIRST}x",
        f"Bearer {FIRST},{SECOND}", f"Bearer {digest_of(FIRST).hex()}", "Bearer " + "x" * 100_000,
    ],
)  # fmt: skip
def test_no_key_or_another_is_401_with_the_scheme_to_use(header: str | None) -> None:
    error = refused(request(header))
    assert isinstance(error, ValidationError)
    assert (error.status, error.error_code) == (401, "VALIDATION_ERROR")
    assert error.headers == {"WWW-Authenticate": "Bearer"}
    assert error.message in ("the key is not known", "a key is needed, as in Authorization: Bearer KEY")
    assert error.details == {}


def test_a_key_counts_in_authorization_alone() -> None:
    refused(request(HTTP_X_API_KEY=FIRST, QUERY_STRING=f"key={FIRST}", HTTP_COOKIE=f"key={FIRST}"))


@given(st.text(st.characters(max_codepoint=255)) | st.text() | st.binary().map(lambda raw: raw.decode("latin-1")))
def test_whatever_stands_in_the_header_is_401(text: str) -> None:
    for header in (text, f"Bearer {text}", f"bearer {text}{FIRST}x"):
        refused(request(header))


@pytest.mark.parametrize("key", [FIRST, SECOND, THIRD, "not-configured-012345", "x"])
def test_a_key_is_compared_with_every_configured_one_wherever_it_stands(key: str) -> None:
    def check() -> None:
        with suppress(Unauthorized):
            KEYS.check(request(f"Bearer {key}"))

    assert comparisons(check) == 3


def test_the_place_of_a_key_is_told_and_none_for_an_unknown_one() -> None:
    digests = (digest_of(FIRST), digest_of(SECOND))
    assert [place_of(digest_of(key), digests) for key in (FIRST, SECOND, THIRD)] == [0, 1, None]
    assert place_of(digest_of(FIRST), ()) is None


@pytest.mark.parametrize(
    ("header", "reason"),
    [(None, "missing"), ("Bearer", "missing"), (f"Basic {FIRST}", "missing"), (f"Bearer {FIRST}x", "unknown")],
)
def test_a_refusal_tells_a_log_whether_there_was_no_key_or_another(header: str | None, reason: str) -> None:
    assert refused(request(header)).reason == reason


@given(st.text("0123456789abcdef", min_size=16, max_size=64))
def test_a_key_is_called_by_the_first_digits_of_its_digest_in_the_store_as_well(key: str) -> None:
    (name,) = ApiKeys.parse("RECALL_API_KEYS", key).names
    assert name == name_of(digest_of(key)) == sha256(key.encode()).hexdigest()[:8]
    assert Key.of("acme", key).name == f"acme-{name}"


def test_keys_are_named_in_their_order() -> None:
    # printf first-key-0123456789 | sha256sum
    assert KEYS.names[0] == "ed60d752"
    assert KEYS.names == tuple(name_of(digest_of(key)) for key in (FIRST, SECOND, THIRD))


def test_what_is_kept_is_no_key_and_shows_none() -> None:
    # printf first-key-0123456789 | sha256sum
    assert KEYS.digests[0].hex() == "ed60d7524db22ad19f689c46a00a2727410202cbc0741c6dd703bab53473c348"
    shown = f"{KEYS!r} {KEYS!s}"
    assert not [secret for secret in (FIRST, SECOND, THIRD) if secret in shown]
    assert not [digest for digest in KEYS.digests if digest.hex() in shown or repr(digest) in shown]


@pytest.mark.parametrize("key", ["0123456789abcdef", "~!@#$%^&*()_+|}{[]=", "a" * 500])
def test_a_key_is_sixteen_visible_characters_or_more(key: str) -> None:
    keys = ApiKeys.parse("RECALL_API_KEYS", f"\n{key} ,\n{SECOND}\n")
    assert keys.digests == (digest_of(key), digest_of(SECOND))
    keys.check(request(f"Bearer {key}"))


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ("s3cret-89012345"[:15], "has a key that is too short: at least 16 characters are needed"),
        ("s3cret-012345678 9", "needs a key of visible ASCII characters without comma and colon"),
        ("s3cret:0123456789", "needs a key of visible ASCII characters without comma and colon"),
        ("s3cret-0123456789\u00e9", "needs a key of visible ASCII characters without comma and colon"),
        ("s3cret-0123456789\udcff", "needs a key of visible ASCII characters without comma and colon"),
        ("s3cret-0123456789\x7f", "needs a key of visible ASCII characters without comma and colon"),
        (FIRST, "has the key of an entry before it"),
    ],
)
def test_a_wrong_key_is_refused_by_its_place(entry: str, reason: str) -> None:
    assert refused_setting(f"{FIRST},{entry}") == f"the 2nd entry {reason}"


def test_separators_alone_are_no_way_to_let_everybody_in() -> None:
    assert refused_setting(" ,\n") == "holds separators and no entry"


@given(st.lists(st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters=",:"), min_size=16)))
def test_whatever_may_be_a_key_can_be_sent_as_one(keys: list[str]) -> None:
    keys = list(dict.fromkeys(keys))
    read = ApiKeys.parse("RECALL_API_KEYS", ",".join(keys))
    for place, key in enumerate(keys):
        read.check(request(f"Bearer {key}"))
        assert place_of(digest_of(key), read.digests) == place
