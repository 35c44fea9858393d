"""Every vendor's token and every cloud's key with anything written against it: nothing of its secret part is left."""

import random
import re
import string
from typing import NamedTuple

import pytest

from agent.content.detectors import find
from agent.content.detectors.vendor_tokens import _SHAPES, _UNLIKE_WORDS

MARKS = ("_", "-", "*", "**", "`", "'", '"', "=", "(", "<", "[", "|", "~", ">", ":", ",", ".", "/", "#", "@", "&", "\\")
BEFORE = ("", " ", *MARKS, "key=", "key_", "key-", "key:", "\\n", "%3D", "é", "鍵", "__", "--", "\n", "\t")
AFTER = ("", " ", *MARKS, "_prod", "-prod", "x", "Z", "7", "xyz", "_old_key", "=", "==", "%", ";", ")", "]", "}", "鍵")
LINES = ("-" * 8, "_" * 12, "*" * 8, "." * 8, "x" * 9)
WORDS = ("x", "key", "token", "Secret", "api2", "myServiceKey")


class Token(NamedTuple):
    """``secret`` stands in ``text``; ``glued``: it is found right behind letters too."""

    text: str
    secret: str
    glued: bool


def drawn(characters: str, length: int) -> str:
    """So many of ``characters``, which are those of a pattern: letters and digits, some of each."""
    source = random.Random(length)
    every = [each for each in string.ascii_letters + string.digits if re.fullmatch(f"[{characters}]", each)]
    digit = "7" if "7" in every else ""
    small = next((each for each in every if each.islower()), "")
    capital = next((each for each in every if each.isupper()), "")
    fixed = digit + small + capital + digit + small
    return fixed + "".join(source.choice(every) for _ in range(length - len(fixed)))


def _tokens() -> dict[str, Token]:
    shaped = {
        prefix: Token(prefix + secret, secret, prefix in _UNLIKE_WORDS)
        for prefix, characters, least in _SHAPES
        for secret in (drawn(characters, max(least, 24)),)
    }
    alnum, hexes, base32 = "A-Za-z0-9", "a-f0-9", "A-Z2-7"
    others = {
        **{prefix: ("", prefix, drawn(base32, 16), True) for prefix in ("AKIA", "ASIA", "ABIA", "ACCA")},
        "google": ("", "AIza", drawn(alnum, 35), True),
        "google secret": ("", "GOCSPX-", drawn(alnum, 28), True),
        "google access": ("", "ya29.", drawn(alnum, 60), True),
        "telegram": ("", "123456789:", "AA" + drawn(alnum, 33), True),
        "telegram, old": ("", "12345678:", drawn(alnum, 35), True),
        "discord": ("", "", "MTA" + drawn(alnum, 21) + ".GabcDE." + drawn(alnum, 38), True),
        "twilio": ("", "SK", drawn(hexes, 32), False),
        "twilio secret": ("TWILIO_AUTH_TOKEN ", "", drawn(hexes, 32), False),
        "slack hook": ("", "hooks.slack.com/services/T0000/B0000/", drawn(alnum, 24), True),
        "discord hook": ("", "discord.com/api/webhooks/123456789012345678/", drawn(alnum, 68), True),
        "teams hook": ("", f"webhook.office.com/webhookb2/{'a' * 73}/IncomingWebhook/", f"{'1' * 32}/{'b' * 36}", True),
        "aws secret": ("aws_secret ", "", drawn(alnum, 40), False),
        "azure storage": ("azure storage key ", "", drawn(alnum, 86) + "==", False),
    }
    return shaped | {
        name: Token(before + start + secret, secret, glued) for name, (before, start, secret, glued) in others.items()
    }


TOKENS = _tokens()


def left(text: str, secret: str) -> bool:
    """Whether something of ``secret`` is in none of the finds."""
    start = text.index(secret)
    return not any(hit.start <= start and start + len(secret) <= hit.end for hit in find(text))


def wrapped(token: Token, before: str, after: str) -> str:
    """Where a name has to stand before the secret, ``before`` stands between."""
    start = token.text.index(token.secret)
    if token.text[:start].endswith(" ") and not token.text.startswith("FlyV1"):
        return f"{token.text[:start]}{before}{token.secret}{after} end"
    return f"it is {before}{token.text}{after} end"


@pytest.mark.parametrize("name", TOKENS)
def test_a_mark_or_a_word_against_a_token_leaves_nothing_of_it(name: str) -> None:
    token = TOKENS[name]
    afters = [each for each in AFTER if name != "aws secret" or not each[:1].isalnum()]
    pairs = [*((one, other) for one in BEFORE for other in afters[:2] + afters[-2:]), *((one, one) for one in MARKS)]
    pairs += [(one, other) for one in ("", "_", "**") for other in afters]
    assert [pair for pair in pairs if left(wrapped(token, *pair), token.secret)] == []


@pytest.mark.parametrize("name", TOKENS)
def test_a_line_drawn_behind_a_token_leaves_nothing_of_it(name: str) -> None:
    token = TOKENS[name]
    lines = [each for each in LINES if name != "aws secret" or each[0] != "x"]
    assert [each for each in lines if left(wrapped(token, "", each), token.secret)] == []


@pytest.mark.parametrize("name", [name for name, token in TOKENS.items() if token.glued])
def test_a_word_right_before_a_token_leaves_nothing_of_it(name: str) -> None:
    token = TOKENS[name]
    kept = [(one, other) for one in WORDS for other in AFTER[::3] if left(wrapped(token, one, other), token.secret)]
    assert kept == []


@pytest.mark.parametrize(
    "name", ["AWS_SECRET_ACCESS_KEY", "aws_secret_access_key", "SecretAccessKey", '"secretAccessKey"']
)
@pytest.mark.parametrize("given", ["=", ": ", " = ", '="', ":'", '": "', "=`"])
def test_what_an_aws_secret_s_name_is_given_goes_whole_however_long(name: str, given: str) -> None:
    for after in ("x", "xyz", "Q7Q7", "+/x"):
        secret = drawn("A-Za-z0-9", 40) + after
        assert not left(f"export {name}{given}{secret} end", secret)


@pytest.mark.parametrize(
    "text",
    [
        *("ASIAPACIFICREGIONALHEADQUARTERS", "ACCATTGACCAGATTAGACCAGGTTACA", "MAKIAVELLIANSOCIETIESOFEUROPE"),
        *("AIza_is_how_the_long_name_of_a_key_of_google_begins", "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"),
        *(
            "laughs_and_smiles_at_the_whole_room_and_then_leaves",
            "desk-a1b2c3d4e5f6a7b8c9d0e1f2",
            "task-1234567890abcdef",
        ),
        *("user8_0123456789abcdef0123456789abcdef", "20240101:report_for_the_second_quarter_of_2024_final_text"),
        *("Some_Module_Of_The_Name_x.client.another_long_method_name_here", "sk-ant-api03-XXXXXXXXXXXXXXXXXXXXXXXXXX"),
        *(
            "auth token of commit 0123456789abcdef0123456789abcdef01234567 is twilio's",
            "glpat-xxxxxxxxxxxxxxxxxxxx____",
        ),
        "ghp_" + "x" * 40 + "--------",
    ],
)
def test_words_digests_and_stand_ins_stay(text: str) -> None:
    assert find(text) == []


def test_no_key_is_found_in_the_middle_of_what_is_encoded() -> None:
    source = random.Random(3)
    every = string.ascii_letters + string.digits + "+/"
    before = "".join(source.choice(every) for _ in range(200))
    assert find(f"data:image/png;base64,{before}AIza{drawn('A-Za-z0-9', 35)}{before}") == []
