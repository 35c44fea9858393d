"""Settings hold, or the start fails with the name of the variable and never its value."""

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.callers.rate_limit import limits_of
from agent.callers.settings import CallerSettings
from agent.config import RecallSettings, Settings, StoreAddress
from agent.content.policy import ContentPolicy
from agent.core.api_keys import ApiKeys, digest_of
from agent.errors import ConfigurationError
from agent.intents import NO_INTENTS
from agent.ruvector.client import RuvectorClient
from agent.window_settings import ContextSettings

KEY = "secret-key-0123456789"
OTHER = "secret-other-key-0123"
INTENTS = """
param_mapping:
  order_id: {pattern: "O-[0-9]{5}", prompt: "Which order?"}
redaction:
  params: [card_number]
"""
SERVED = {"RUVECTOR_SERVICE_URL": "https://store.example", "RUVECTOR_API_KEY": "k-1"}


def test_without_any_setting_the_store_is_a_file_beside_you():
    settings = Settings.from_env({})
    assert settings.store == StoreAddress(path="./memory-graph.db")
    assert (settings.deadline_s, settings.at_most_once, settings.log_level) == (20.0, False, "INFO")
    assert (settings.callers, settings.intents) == (None, None)


def test_white_space_around_the_address_and_the_key_is_stripped():
    settings = Settings.from_env(
        {"RUVECTOR_SERVICE_URL": " https://store.example/base \n", "RUVECTOR_API_KEY": "\tk-1\n"}
    )
    assert settings.store == StoreAddress(url="https://store.example/base", api_key="k-1")


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:9000", "http://localhost:9000", "http://[::1]:9000", "http://127.9.9.9"]
)
def test_a_loopback_store_may_go_without_a_key(url):
    assert Settings.from_env({"RUVECTOR_SERVICE_URL": url}).store == StoreAddress(url=url)


def test_at_most_once_and_the_deadline_are_taken():
    settings = Settings.from_env(
        {**SERVED, "RUVECTOR_WRITES": "at-most-once", "RUVECTOR_DEADLINE_S": "2.5", "LOG_LEVEL": "WARNING"}
    )
    assert (settings.deadline_s, settings.at_most_once, settings.log_level) == (2.5, True, "WARNING")


@pytest.mark.parametrize(
    ("environ", "variable"),
    [
        ({"RUVECTOR_SERVICE_URL": "https://store.example"}, "RUVECTOR_API_KEY"),
        ({"RUVECTOR_SERVICE_URL": "http://10.0.0.7"}, "RUVECTOR_API_KEY"),
        ({**SERVED, "RUVECTOR_API_KEY": "two words"}, "RUVECTOR_API_KEY"),
        ({**SERVED, "RUVECTOR_API_KEY": "k\r\nX-Evil: 1"}, "RUVECTOR_API_KEY"),
        ({**SERVED, "RUVECTOR_API_KEY": "schl\u00fcssel"}, "RUVECTOR_API_KEY"),
        ({**SERVED, "RUVECTOR_SERVICE_URL": "store.example"}, "RUVECTOR_SERVICE_URL"),
        ({**SERVED, "RUVECTOR_SERVICE_URL": "ftp://store.example"}, "RUVECTOR_SERVICE_URL"),
        ({**SERVED, "RUVECTOR_SERVICE_URL": "https://"}, "RUVECTOR_SERVICE_URL"),
        ({**SERVED, "RUVECTOR_SERVICE_URL": "https://store.example:99999"}, "RUVECTOR_SERVICE_URL"),
        ({**SERVED, "RUVECTOR_SERVICE_URL": "https://store.example:0"}, "RUVECTOR_SERVICE_URL"),
        ({**SERVED, "RUVECTOR_SERVICE_URL": "https://[::1"}, "RUVECTOR_SERVICE_URL"),
        ({**SERVED, "RUVECTOR_SERVICE_URL": "https://user:secret@store.example"}, "RUVECTOR_SERVICE_URL"),
        ({**SERVED, "RUVECTOR_SERVICE_URL": "https://store.example/?k=secret"}, "RUVECTOR_SERVICE_URL"),
        ({**SERVED, "RUVECTOR_SERVICE_URL": "https://store.example/a b"}, "RUVECTOR_SERVICE_URL"),
        ({**SERVED, "RUVECTOR_SERVICE_URL": "https://st\u00f6re.example"}, "RUVECTOR_SERVICE_URL"),
        ({**SERVED, "RUVECTOR_SERVICE_URL": "http://10.0.0.256:8080"}, "RUVECTOR_SERVICE_URL"),
        ({**SERVED, "RUVECTOR_SERVICE_URL": "http://1.2.3"}, "RUVECTOR_SERVICE_URL"),
        ({**SERVED, "RUVECTOR_SERVICE_URL": "http://[v1.x]"}, "RUVECTOR_SERVICE_URL"),
        ({**SERVED, "RUVECTOR_SERVICE_URL": "http://[::1]a/x"}, "RUVECTOR_SERVICE_URL"),
        ({**SERVED, "RUVECTOR_SERVICE_URL": "http://[::g]"}, "RUVECTOR_SERVICE_URL"),
        ({**SERVED, "RUVECTOR_SERVICE_URL": "http://st(ore"}, "RUVECTOR_SERVICE_URL"),
        ({"RUVECTOR_SERVICE_URL": "embedded:"}, "RUVECTOR_SERVICE_URL"),
        ({"K_SERVICE": "capture"}, "RUVECTOR_SERVICE_URL"),
        ({"K_SERVICE": "capture", "RUVECTOR_SERVICE_URL": "embedded:/tmp/x.db"}, "RUVECTOR_SERVICE_URL"),
        ({"RUVECTOR_DEADLINE_S": "soon"}, "RUVECTOR_DEADLINE_S"),
        ({"RUVECTOR_DEADLINE_S": "0"}, "RUVECTOR_DEADLINE_S"),
        ({"RUVECTOR_DEADLINE_S": "1_0"}, "RUVECTOR_DEADLINE_S"),
        ({"RUVECTOR_DEADLINE_S": "\uff11\uff10"}, "RUVECTOR_DEADLINE_S"),
        ({"RUVECTOR_DEADLINE_S": "31"}, "RUVECTOR_DEADLINE_S"),
        ({"RUVECTOR_DEADLINE_S": "nan"}, "RUVECTOR_DEADLINE_S"),
        ({"RUVECTOR_WRITES": "twice"}, "RUVECTOR_WRITES"),
        ({"LOG_LEVEL": "LOUD"}, "LOG_LEVEL"),
        ({"CAPTURE_CONTENT": "some"}, "CAPTURE_CONTENT"),
        ({"CONTENT_HASH_KEY": "secret"}, "CONTENT_HASH_KEY"),
        ({"CAPTURE_CONTENT": "none", "CONTENT_HASH_KEY": "secret-and-short"[:15]}, "CONTENT_HASH_KEY"),
        ({"INTENTS_CONFIG": "intents.yaml"}, "INTENTS_CONFIG"),
    ],
)
def test_what_does_not_hold_is_refused_by_name_and_its_value_stays_unsaid(environ, variable):
    with pytest.raises(ConfigurationError) as refused:
        Settings.from_env(environ)
    assert refused.value.variable == variable
    assert refused.value.message.startswith(f"{variable}: ")
    assert "secret" not in refused.value.message
    assert "Evil" not in refused.value.message


def test_the_refusal_in_the_cloud_says_what_to_set():
    with pytest.raises(ConfigurationError, match="RUVECTOR_API_KEY"):
        Settings.from_env({"K_SERVICE": "capture"})


@pytest.mark.parametrize("mode", ["full", "redacted", "none"])
def test_each_mode_of_content_may_be_named(mode):
    assert Settings.from_env({"CAPTURE_CONTENT": f" {mode} "}).content.mode == mode


def test_content_is_stored_in_full_where_nothing_is_said():
    assert Settings.from_env({}).content == ContentPolicy("full", None, frozenset())


def test_a_hash_key_may_be_there_for_callers_who_ask_for_none_themselves():
    assert Settings.from_env({"CONTENT_HASH_KEY": "sixteen letters!"}).content.hash_key == b"sixteen letters!"


def test_the_parameters_that_are_redacted_come_from_the_file_of_intents(tmp_path):
    path = tmp_path / "intents.yaml"
    path.write_text("redaction: {params: [ssn]}", encoding="utf-8")
    assert Settings.from_env({"INTENTS_CONFIG": str(path)}).content.params == {"ssn"}


@pytest.mark.parametrize("variable", ["CAPTURE_CONTENT", "CONTENT_HASH_KEY"])
def test_what_a_capture_may_store_does_not_stop_the_start_of_the_read_side(variable):
    assert RecallSettings.from_env({variable: "wrong"}).settings.content == ContentPolicy()


@given(st.text(st.sampled_from("abz019.:-_[]/@%vg~"), max_size=20))
@settings(deadline=None)
def test_an_address_that_passes_is_one_that_the_client_can_be_built_with(text):
    try:
        address = Settings.from_env({"RUVECTOR_SERVICE_URL": f"http://{text}", "RUVECTOR_API_KEY": "k"}).store
    except ConfigurationError:
        return
    client = RuvectorClient(
        httpx.MockTransport(lambda _: httpx.Response(200)),
        base_url=str(address.url),
        api_key=address.api_key,
        kind="http",
    )
    assert client.health(timeout_s=1).status == "ok"


def keys_of_capture(environ):
    return Settings.of_capture_function(environ).callers


def keys_of_recall(environ):
    return RecallSettings.from_env(environ).settings.callers


SIDES = {"CAPTURE": keys_of_capture, "RECALL": keys_of_recall}


@pytest.mark.parametrize("side", ["CAPTURE", "RECALL"])
def test_who_calls_a_function_is_asked_for_one_of_the_keys(side):
    variable, read = f"{side}_API_KEYS", SIDES[side]
    settings = read({variable: f" {KEY},\n{OTHER}"})
    assert settings == CallerSettings(variable, keys=ApiKeys((digest_of(KEY), digest_of(OTHER))))
    assert "secret" not in repr(settings)


@pytest.mark.parametrize("side", ["CAPTURE", "RECALL"])
def test_the_keys_may_stand_in_a_file_and_nowhere_else_then(side):
    variable, read = f"{side}_API_KEYS", SIDES[side]
    file = read({f"{variable}_FILE": " /etc/keys \n"})
    assert file == CallerSettings(f"{variable}_FILE", keys_file="/etc/keys")
    assert file.need_a_key
    with pytest.raises(ConfigurationError, match=f"^{variable}_FILE: stands beside {variable}: keep one of the two$"):
        read({variable: KEY, f"{variable}_FILE": "/etc/keys"})


@pytest.mark.parametrize("side", ["CAPTURE", "RECALL"])
def test_a_limit_holds_with_keys_and_without(side):
    variable, read = f"{side}_API_KEYS", SIDES[side]
    limits = limits_of("RATE_LIMIT", "100/second")
    assert read({"RATE_LIMIT": " 100/second "}) == CallerSettings(variable, limits=limits)
    assert not read({"RATE_LIMIT": "100/second"}).need_a_key
    guarded = read({variable: KEY, "RATE_LIMIT": "100/second"})
    assert (guarded.limits, guarded.keys) == (limits, ApiKeys((digest_of(KEY),)))


@pytest.mark.parametrize("side", ["CAPTURE", "RECALL"])
@pytest.mark.parametrize("text", ["a:b", f"{KEY},{KEY}", "secret", ","])
def test_keys_that_are_none_stop_the_function_and_stay_unsaid(side, text):
    with pytest.raises(ConfigurationError, match=f"^{side}_API_KEYS: ") as refused:
        SIDES[side]({f"{side}_API_KEYS": text})
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("read", SIDES.values(), ids=SIDES)
def test_a_limit_that_is_none_stops_the_function_and_stays_unsaid(read):
    with pytest.raises(
        ConfigurationError, match=r"^RATE_LIMIT: must be a number of requests and their time"
    ) as refused:
        read({"RATE_LIMIT": "secret/second"})
    assert "secret" not in str(refused.value)


def test_who_is_no_function_has_no_callers():
    everything = {"CAPTURE_API_KEYS": "short", "CAPTURE_API_KEYS_FILE": "/nowhere", "RATE_LIMIT": "some"}
    assert Settings.from_env(everything) == Settings.from_env({})


# What somebody writes who means CAPTURE_API_KEYS or RECALL_API_KEYS.
MISSPELT = ("{}_API_KEY", "{}_KEY", "{}_KEYS", "{}_APIKEY", "{}_APIKEYS", "{}_Api_Keys")


@pytest.mark.parametrize("name", MISSPELT)
@pytest.mark.parametrize("side", ["CAPTURE", "RECALL"])
def test_keys_under_a_name_that_is_nearly_the_right_one_leave_no_function_open(side, name):
    wrong, right, read = name.format(side), f"{side}_API_KEYS", SIDES[side]
    for environ in ({wrong: KEY}, {wrong: KEY, right: OTHER}, {wrong.lower(): KEY}):
        with pytest.raises(ConfigurationError) as refused:
            read(environ)
        assert refused.value.variable == right
        given = next(iter(environ))
        assert refused.value.message == (
            f"{right}: is the name of callers' keys, not {given}: rename or unset that one"
        )
    assert read({wrong: " \n", right: KEY}).keys == ApiKeys((digest_of(KEY),))
    with pytest.raises(ConfigurationError, match=f"^{right}_FILE: is the name of callers' keys, not {wrong}_FILE: "):
        read({f"{wrong}_FILE": "/etc/keys"})


@pytest.mark.parametrize("name", ["CAPTURE_API_KEYSTORE", "MY_CAPTURE_API_KEY", "CAPTURE_KEYBOARD", "RECALL_API"])
def test_another_variable_is_nobodys_misspelt_keys(name):
    assert keys_of_capture({name: KEY}) is None
    assert keys_of_recall({name: KEY}) is None


@pytest.mark.parametrize("name", MISSPELT)
def test_the_keys_of_the_other_side_are_no_matter_of_this_one_however_they_are_spelt(name):
    assert keys_of_recall({name.format("CAPTURE"): KEY}) is None
    assert keys_of_capture({name.format("RECALL"): KEY}) is None
    # A program that calls the functions may hold its own key so, and command line and SDK read the store's settings.
    assert Settings.from_env({name.format("CAPTURE"): KEY, name.format("RECALL"): KEY}).callers is None


def test_the_capture_function_reads_the_same_settings_as_who_has_the_store():
    environ = {**SERVED, "LOG_LEVEL": "ERROR"}
    assert Settings.of_capture_function(environ) == Settings.from_env(environ)


@pytest.fixture
def intents(tmp_path):
    path = tmp_path / "intents.yaml"
    path.write_text(INTENTS)
    return str(path)


def test_both_sides_read_the_intents_at_start(intents):
    environ = {"INTENTS_CONFIG": f" {intents}\n"}
    for read in (Settings.from_env(environ).intents, RecallSettings.from_env(environ).intents):
        assert list(read.hints.params) == ["order_id"]
        assert read.redacted_params == frozenset({"card_number"})


@pytest.mark.parametrize("read", [Settings.from_env, RecallSettings.from_env])
@pytest.mark.parametrize("text", [None, "secret: [", "- secret\n"])
def test_a_bad_file_of_intents_stops_the_start_of_both_sides(read, text, tmp_path):
    path = tmp_path / "intents.yaml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(ConfigurationError) as refused:
        read({"INTENTS_CONFIG": str(path)})
    assert refused.value.variable == "INTENTS_CONFIG"
    assert "secret" not in refused.value.message


# Recall


def test_recall_without_any_setting_asks_for_no_key_and_lets_no_page_in():
    recall = RecallSettings.from_env({})
    assert recall == RecallSettings(Settings.from_env({}), (), ContextSettings(), NO_INTENTS)


def test_recall_takes_its_keys_its_pages_and_how_much_history_it_gives():
    recall = RecallSettings.from_env(
        {
            **SERVED,
            "LOG_LEVEL": "DEBUG",
            "RECALL_API_KEYS": f"{KEY},{OTHER}",
            "CORS_ORIGINS": "https://app.example,*",
            "CONVERSATION_MAX_HISTORY_MESSAGES": " 7 ",
        }
    )
    callers = CallerSettings("RECALL_API_KEYS", keys=ApiKeys((digest_of(KEY), digest_of(OTHER))))
    assert recall.settings == Settings.from_env({**SERVED, "LOG_LEVEL": "DEBUG"})._replace(callers=callers)
    assert (recall.cors_origins, recall.context.max_history_messages) == (("https://app.example", "*"), 7)
    assert "secret" not in repr(recall)


@pytest.mark.parametrize(("text", "count"), [("", 50), (" ", 50), ("1", 1), ("1000", 1000), ("0050", 50)])
def test_recall_gives_from_one_to_a_thousand_messages(text, count):
    assert RecallSettings.from_env({"CONVERSATION_MAX_HISTORY_MESSAGES": text}).context.max_history_messages == count


def test_named_pages_may_recall_without_keys():
    assert RecallSettings.from_env({"CORS_ORIGINS": "https://app.example"}).cors_origins == ("https://app.example",)


@pytest.mark.parametrize(
    ("environ", "variable"),
    [
        ({"RUVECTOR_SERVICE_URL": "https://store.example"}, "RUVECTOR_API_KEY"),
        ({"K_SERVICE": "recall"}, "RUVECTOR_SERVICE_URL"),
        ({"CORS_ORIGINS": "secret.example"}, "CORS_ORIGINS"),
        # Without keys that would be every page that is open in a browser.
        ({"CORS_ORIGINS": "*"}, "CORS_ORIGINS"),
        ({"CORS_ORIGINS": "https://app.example,*"}, "CORS_ORIGINS"),
        *(
            ({"CONVERSATION_MAX_HISTORY_MESSAGES": text}, "CONVERSATION_MAX_HISTORY_MESSAGES")
            for text in ("0", "1001", "-1", "5.0", "1e2", "1_0", "ten", "\uff11\uff10", "99999999999")
        ),
    ],
)
def test_what_does_not_hold_stops_recall_and_its_value_stays_unsaid(environ, variable):
    with pytest.raises(ConfigurationError) as refused:
        RecallSettings.from_env(environ)
    assert refused.value.variable == variable
    assert refused.value.message.startswith(f"{variable}: ")
    assert "secret" not in refused.value.message


def test_neither_side_reads_the_keys_of_the_other():
    wrong = {"CAPTURE_API_KEYS": "short", "RECALL_API_KEYS": KEY}
    assert keys_of_recall(wrong).keys == ApiKeys((digest_of(KEY),))
    assert keys_of_capture({"CAPTURE_API_KEYS": KEY, "RECALL_API_KEYS": "short", "CORS_ORIGINS": "*"}).need_a_key


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("CAPTURE_CONTENTS", "CAPTURE_CONTENT"),
        ("CONTENT_CAPTURE", "CAPTURE_CONTENT"),
        ("capture_content", "CAPTURE_CONTENT"),
        ("CONTENT_HASHKEY", "CONTENT_HASH_KEY"),
        ("CAPTURE_CONTENT_HASH_KEY", "CONTENT_HASH_KEY"),
    ],
)
def test_a_name_that_is_nearly_one_of_the_content_settings_stops_whoever_writes(name, right):
    with pytest.raises(ConfigurationError, match="is the name of this setting") as refused:
        Settings.from_env({name: "redacted" * 3})
    assert refused.value.variable == right
    assert Settings.from_env({name: " "}) == Settings.from_env({})
    assert RecallSettings.from_env({name: "redacted" * 3}) == RecallSettings.from_env({})


@pytest.mark.parametrize("name", ["RATE_LIMITS", "RATELIMIT", "CAPTURE_RATE_LIMIT"])
def test_a_limit_under_a_name_that_is_nearly_its_own_stops_a_function(name):
    for read in (Settings.of_capture_function, RecallSettings.from_env):
        with pytest.raises(ConfigurationError, match="is the name of this setting") as refused:
            read({name: "1/second"})
        assert refused.value.variable == "RATE_LIMIT"
