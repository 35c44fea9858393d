"""The store server's settings hold, or the start fails with the variable and the place, and never a value."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.core.api_keys import digest_of
from agent.errors import ConfigurationError
from store.http.access import Key
from store.http.quotas import Quota
from store.settings import StoreSettings
from tests.origins import NO_ORIGINS, ORIGINS
from tests.store.access.callers import BOTH, OTHER, READER, WRITER

DAY = {"8/day": 8, "8k/day": 8000, "8M/day": 8_000_000, "8G/day": 8 * 10**9}
BINARY = {"8Ki/day": 8192, "8Mi/day": 8 * 2**20, "8Gi/day": 8 * 2**30}


def read(**environ: str) -> StoreSettings:
    return StoreSettings.from_env(environ)


def refused(**environ: str) -> str:
    """Why a start fails. It names the variable that was set last, and no part of a value."""
    *_, variable = environ
    with pytest.raises(ConfigurationError) as error:
        StoreSettings.from_env(environ)
    assert error.value.variable == variable
    shown = f"{error.value!r} {error.value.details}"
    assert not [secret for secret in (BOTH, READER, WRITER, OTHER, "s3cret") if secret in shown]
    assert error.value.__cause__ is None
    return str(error.value).removeprefix(f"{variable}: ")


def test_without_any_setting_the_store_is_a_file_beside_you_for_this_host() -> None:
    assert read() == StoreSettings(url="sqlite:///./memory-graph.db")
    assert read(RUVECTOR_STORE=" ", CORS_ORIGINS=" ", METRICS_KEY=" ") == read()


def test_settings_show_no_secret() -> None:
    settings = read(
        RUVECTOR_STORE="postgresql+psycopg://u:s3cret-word@db/name", RUVECTOR_KEYS=f"acme:{BOTH}", METRICS_KEY=OTHER
    )
    assert settings.url == "postgresql+psycopg://u:s3cret-word@db/name"
    shown = repr(settings)
    assert "s3cret" not in shown
    assert BOTH not in shown
    assert OTHER not in shown
    assert digest_of(OTHER).hex() not in shown
    assert repr(digest_of(OTHER)) not in shown


@pytest.mark.parametrize(
    "url",
    [
        "sqlite:///store.db", "sqlite:///./memory-graph.db", "sqlite:////var/lib/store/store.db", "sqlite:///:memory:",
        "sqlite:///a b/\u00fc.db", "postgresql+psycopg://user:password@host:5432/db?sslmode=verify-full",
        "postgresql://user:p%40ss%2F@host/db", "postgresql+psycopg://host/db", "postgresql+psycopg://10.0.0.7:1/db",
        "postgresql+psycopg://user@[2001:db8::1]:5432/db", "postgresql+psycopg://postgres@/db?host=/var/run/postgresql",
        "postgresql:///db?host=/tmp",
    ],
)  # fmt: skip
def test_a_store_is_a_file_memory_or_a_postgresql_database(url: str) -> None:
    assert read(RUVECTOR_STORE=f" {url}\n").url == url


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("mysql://u:s3cret@host/db", "must be sqlite:///PATH or"),
        ("postgres://u:s3cret@host/db", "must be sqlite:///PATH or"),
        ("postgresql+asyncpg://u:s3cret@host/db", "must be sqlite:///PATH or"),
        ("SQLITE:///s3cret.db", "must be sqlite:///PATH or"),
        ("sqlite://", "must be sqlite:///PATH or"),
        ("s3cret/store.db", "must be sqlite:///PATH or"),
        ("sqlite:///", "sqlite:/// needs a path"),
        ("sqlite:///s3cret.db?mode=ro", "sqlite:/// needs a path"),
        ("sqlite:///s3cret\x00.db", "sqlite:/// needs a path"),
        ("postgresql+psycopg://u:s3cret w@host/db", "has a character that no URL has"),
        ("postgresql+psycopg://u:s3cret\u00e9@host/db", "has a character that no URL has"),
        ("postgresql+psycopg://u:s3cret%@host/db", "has a character that no URL has"),
        ("postgresql+psycopg://u:s3cret%00@host/db", "has a character that no URL has"),
        ("postgresql+psycopg://u:s3cret/@host/db", "is not a URL: special characters of a password"),
        ("postgresql+psycopg://u:s3cret#@host/db", "is not a URL: special characters of a password"),
        ("postgresql+psycopg://u:s3cret?@host/db", "is not a URL: special characters of a password"),
        ("postgresql+psycopg://u:s3cret[@host/db", "is not a URL: special characters of a password"),
        ("postgresql+psycopg://u:s3cret@host:99999/db", "is not a URL"),
        ("postgresql+psycopg://u:s3cret@host:0/db", "has a port that is none"),
        ("postgresql+psycopg://u:s3@cret@host/db", "names no host: special characters of a password"),
        ("postgresql+psycopg://u:s3cret@ho_st!/db", "names no host"),
        ("postgresql+psycopg://u:s3cret@/db", "names no host"),
        ("postgresql+psycopg://u:s3cret@host", "must name one database"),
        ("postgresql+psycopg://u:s3cret@host/", "must name one database"),
        ("postgresql+psycopg://u:s3cret@host/a/b", "must name one database"),
        ("postgresql+psycopg://u:s3cret@host/db#part", "must name one database"),
    ],
)
def test_another_store_is_refused_without_its_url(url: str, reason: str) -> None:
    assert refused(RUVECTOR_STORE=url).startswith(reason)


@pytest.mark.parametrize("url", ["", "sqlite:///store.db", "sqlite:///:memory:"])
def test_a_deployed_function_refuses_a_store_on_its_own_disk(url: str) -> None:
    assert "database outside" in refused(K_SERVICE="store", RUVECTOR_STORE=url)
    assert read(K_SERVICE="store", RUVECTOR_STORE="postgresql://db/name").url == "postgresql://db/name"


def test_keys_stand_between_commas_or_line_ends() -> None:
    text = f"\n acme:{BOTH},acme:{READER}:read\r\n\n  globex:{OTHER}:admin ,,acme:{WRITER}:write\n"
    assert read(RUVECTOR_KEYS=text).keys == (
        Key.of("acme", BOTH), Key.of("acme", READER, "read"), Key.of("globex", OTHER, "admin"),
        Key.of("acme", WRITER, "write"),
    )  # fmt: skip


@pytest.mark.parametrize("secret", ["0123456789abcdef", "~!@#$%^&*()_+|}{[]=", "a" * 500])
def test_a_key_is_sixteen_visible_characters_or_more(secret: str) -> None:
    assert read(RUVECTOR_KEYS=f"t:{secret}").keys == (Key.of("t", secret),)


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ("s3cret-without-a-tenant", "must be TENANT:KEY or TENANT:KEY:ROLE"),
        (f"acme:{READER}:read:more", "must be TENANT:KEY or TENANT:KEY:ROLE"),
        (f":{READER}", "needs a tenant of 1 to 64"),
        (f"ac me:{READER}", "needs a tenant of 1 to 64"),
        (f"acm\u00e9:{READER}", "needs a tenant of 1 to 64"),
        (f"{'a' * 65}:{READER}", "needs a tenant of 1 to 64"),
        (f"acme:{READER}:owner", "has a role that is none of read, write, admin"),
        (f"acme:{READER}:Read", "has a role that is none of read, write, admin"),
        (f"acme:{READER}:", "has a role that is none of read, write, admin"),
        ("acme:s3cret-012345678 9", "needs a key of visible ASCII characters"),
        ("acme:s3cret-0123456789\u00e9", "needs a key of visible ASCII characters"),
        ("acme:s3cret-0123456789\udcff", "needs a key of visible ASCII characters"),
        (f"acme: {READER}", "needs a key of visible ASCII characters"),
        ("acme:", "needs a key of visible ASCII characters"),
        ("acme:s3cret-89012345", "has a key that is too short: at least 16 characters are needed"),
        (f"globex:{BOTH}:read", "has the key of an entry before it"),
    ],
)
def test_a_wrong_key_entry_is_refused_by_its_place(entry: str, reason: str) -> None:
    entry = entry.replace("s3cret-89012345", "s3cret-89012345"[:15])
    assert refused(RUVECTOR_KEYS=f"acme:{BOTH},{entry}").startswith(f"the 2nd entry {reason}")


def test_a_tenant_that_is_called_as_a_key_is_refused() -> None:
    name = Key.of("acme", BOTH).name
    assert (
        refused(RUVECTOR_KEYS=f"acme:{BOTH},{name}:{READER}") == "the 2nd entry has a tenant that is the name of a key"
    )


def test_two_keys_of_one_name_are_refused() -> None:
    # Found by counting: the SHA-256 of both begins with the same eight digits.
    one, other = same_named()
    assert Key.of("t", one).name == Key.of("t", other).name
    assert refused(RUVECTOR_KEYS=f"t:{one},t:{other}") == "the 2nd entry needs another key: its name is taken"
    assert len(read(RUVECTOR_KEYS=f"t:{one},u:{other}").keys) == 2


def same_named() -> tuple[str, str]:
    seen: dict[bytes, str] = {}
    for number in range(1_000_000):
        secret = f"{number:020d}"
        start = digest_of(secret)[:4]
        if start in seen:
            return seen[start], secret
        seen[start] = secret
    pytest.fail("no two keys share a name")


@pytest.mark.parametrize(
    ("place", "word"),
    [
        (1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (12, "12th"), (13, "13th"), (21, "21st"),
        (112, "112th"),
    ],
)  # fmt: skip
def test_a_place_is_told_as_one_counts(place: int, word: str) -> None:
    good = ",".join(f"t:key-number-{number:08d}" for number in range(1, place))
    assert refused(RUVECTOR_KEYS=f"{good},\n,short:k").startswith(f"the {word} entry ")


@pytest.mark.parametrize("variable", ["RUVECTOR_KEYS", "RUVECTOR_QUOTAS", "CORS_ORIGINS"])
@pytest.mark.parametrize("text", [",", ",\n,", " , "])
def test_separators_alone_are_no_way_to_set_nothing(variable: str, text: str) -> None:
    assert refused(**{variable: text}) == "holds separators and no entry"


def test_the_metrics_key_is_kept_as_a_digest() -> None:
    assert read(METRICS_KEY=f" {OTHER}\n").metrics_key == digest_of(OTHER)


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        ("s3cret-too-shor", "has a key that is too short"),
        ("s3cret-with white-space", "needs a key of visible ASCII characters"),
        ("s3cret-with-a:colon-inside", "needs a key of visible ASCII characters"),
        (READER, "is also in RUVECTOR_KEYS"),
    ],
)
def test_a_wrong_metrics_key_is_refused(key: str, reason: str) -> None:
    assert refused(RUVECTOR_KEYS=f"acme:{BOTH},acme:{READER}:read", METRICS_KEY=key).startswith(reason)


@pytest.mark.parametrize(
    ("limits", "milli", "size"),
    [
        ("5/second", 5000, None),
        ("0.5/second", 500, None),
        ("0.001/second", 1, None),
        ("2.25/second:1M/day", 2250, 1_000_000),
        ("100/second:1Gi/day", 100_000, 2**30),
        *((text, None, size) for text, size in (DAY | BINARY).items()),
    ],
)
def test_a_quota_is_requests_a_second_bytes_a_day_or_both(limits: str, milli: int | None, size: int | None) -> None:
    assert read(RUVECTOR_QUOTAS=f"default:{limits}").quotas == (Quota("default", milli, size),)


def test_quotas_are_of_tenants_and_of_keys_by_their_names() -> None:
    name = Key.of("acme", BOTH).name
    settings = read(RUVECTOR_KEYS=f"acme:{BOTH}", RUVECTOR_QUOTAS=f"{name}:1/second\nacme:2/second")
    assert settings.quotas == (Quota(name, 1000), Quota("acme", 2000))
    assert read(RUVECTOR_QUOTAS="loopback:1/second").quotas == (Quota("loopback", 1000),)


@pytest.mark.parametrize(
    "limits",
    [
        "", ":", "5", "5/minute", "5/s", "5/second:", ":5/second", "5/second:5/second", "1/day:1/day", "1/day:5/second",
        "5/second:1/day:1/day", "-5/second", "5./second", ".5/second", "5.0001/second", "1e3/second", "5 /second",
        "1K/day", "1m/day", "1kB/day", "1.5M/day", "1 M/day", "/day", "k/day", "\u0665/second", "\u0665/day",
        "1234567/second", "1234567890123456/day", "infinity/second", "5/second/day",
    ],
)  # fmt: skip
def test_a_wrong_quota_is_refused_by_its_place(limits: str) -> None:
    reason = "the 2nd entry must be NAME:N/second, NAME:BYTES/day or NAME:N/second:BYTES/day"
    assert refused(RUVECTOR_QUOTAS=f"loopback:1/second,default:{limits}") == reason
    assert refused(RUVECTOR_QUOTAS="loopback:1/second,default") == reason


@pytest.mark.parametrize("limits", ["0/second", "0.000/second", "0/day", "0Gi/day", "1/second:0/day", "0/second:1/day"])
def test_a_quota_of_nothing_is_refused(limits: str) -> None:
    assert refused(RUVECTOR_QUOTAS=f"default:{limits}") == "the 1st entry must be above 0"


@pytest.mark.parametrize("name", ["", "acm", "ACME", "default", "loopback", "globex", BOTH])
def test_a_quota_of_nobody_is_refused_for_it_would_bound_nobody(name: str) -> None:
    reason = refused(RUVECTOR_KEYS=f"acme:{BOTH}", RUVECTOR_QUOTAS=f"acme:1/second,{name}:1/second")
    assert reason == "the 2nd entry names no tenant and no key's name"


def test_two_quotas_of_one_name_are_refused() -> None:
    reason = refused(RUVECTOR_QUOTAS="default:1/second,default:1k/day")
    assert reason == "the 2nd entry has the name of an entry before it"


@pytest.mark.parametrize("origin", ORIGINS)
def test_an_origin_is_taken_as_browsers_write_it(origin: str) -> None:
    assert read(CORS_ORIGINS=f"https://first.example,\n{origin}").cors_origins == ("https://first.example", origin)


@pytest.mark.parametrize("origin", NO_ORIGINS)
def test_an_origin_that_no_browser_sends_is_refused_by_its_place(origin: str) -> None:
    assert refused(CORS_ORIGINS=f"https://first.example,{origin}").startswith("the 2nd entry must be * or an origin")


VARIABLES = ("RUVECTOR_STORE", "RUVECTOR_KEYS", "RUVECTOR_QUOTAS", "CORS_ORIGINS", "METRICS_KEY")
TEXT = st.text() | st.lists(
    st.sampled_from(
        ["t", ":", ",", "\n", "/second", "/day", "5", "k", "*", "https://", "postgresql://", "@", "%", BOTH]
    )
).map("".join)


@given(st.dictionaries(st.sampled_from(VARIABLES), TEXT))
def test_whatever_a_variable_holds_it_is_read_or_refused_by_name(environ: dict[str, str]) -> None:
    refusal = refusal_of(environ)
    assert refusal is None or (refusal.variable in environ and BOTH not in str(refusal))


def refusal_of(environ: dict[str, str]) -> ConfigurationError | None:
    try:
        StoreSettings.from_env(environ)
    except ConfigurationError as error:
        return error
    return None
