"""Of what opens or pays for something nothing is told, whatever stands around it: all that the detectors know of it."""

import random
import string

import pytest

from agent.content.detectors import find
from agent.content.detectors.vendor_tokens import _SHAPES
from agent.entities.entities import entities_of


def drawn(characters: str, count: int) -> str:
    """``count`` letters and digits among ``characters``, some of each that there is."""
    chance = random.Random(f"{characters}{count}")
    held = "".join(chance.choices(characters, k=count - 2))
    return f"{held}{'a' if 'a' in characters else characters[0]}7"


WORD = string.ascii_letters + string.digits
TOKENS = {
    prefix: prefix + drawn("".join(each for each in WORD if each in allowed), max(least, 24))
    for prefix, characters, least in _SHAPES
    for allowed in [
        "".join(
            part
            for group, part in (
                ("A-Z", string.ascii_uppercase),
                ("a-z", string.ascii_lowercase),
                ("0-9", string.digits),
            )
            if group in characters
        )
        + ("ABCDEF" if "A-F" in characters else "")
        + ("abcdef" if "a-f" in characters else "")
    ]
}
KEY = "MIIEpAIBAAKCAQEA1234567890abcdef"
# Of each kind: one at least that stands for itself, as text around it has to leave it.
ALONE = {
    **TOKENS,
    "slack hook": "https://hooks.slack.com/services/T00000000/B00000000/" + drawn(WORD, 24),
    "discord hook": "https://discord.com/api/webhooks/123456789012345678/" + drawn(WORD, 68),
    "telegram": "https://api.telegram.org/bot123456789:AA" + drawn(WORD, 33) + "/getMe",
    "aws": "AKIA" + "ABCDEFGH234567AB",
    "google": "AIza" + drawn(WORD, 35),
    "google oauth": "GOCSPX-" + drawn(WORD, 28),
    "google access": "ya29." + drawn(WORD, 40),
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjMifQ." + drawn(WORD, 43),
    "url password": "postgres://kim:hunter22@db.example.com/x",
    "private key": f"-----BEGIN PRIVATE KEY-----\n{KEY}\n{KEY}\n-----END PRIVATE KEY-----",
    "connection string": "Server=db.example.com;User Id=crm;Password=Zurich/etc/p.txt;Database=Zurich",
    "bearer": "Authorization: Bearer user_id/etc/passwd.2024-05-15x7",
    "account key": "AccountName=a;AccountKey=" + drawn(WORD, 64) + "==",
    "card": "4111 1111 1111 1111",
    "card in one": "378282246310005",
    "card in dots": "4111.1111.1111.1111",
    "card of a program": "4111111111111111.0",
    "card, digit by digit": "card 4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
    "card, wide": "４１１１ １１１１ １１１１ １１１１",  # noqa: RUF001 - as it is written
    "account": "DE89 3704 0044 0532 0130 00",
    "account, small": "de89370400440532013000",
    "account, in dots": "GB82.WEST.1234.5698.7654.32",
}
AROUND = (
    *("%s", "user id is %s", "user_id: %s", "my reservation number is %s.", "order #W%s", "ref: %s", "on flight %s"),
    *(
        "my name is %s",
        "a table at %s",
        "https://x.example.com/%s/y",
        "https://x.example.com/?x=%s",
        "/home/ann/%s/key.txt",
    ),
    *("C:\\Users\\kim\\%s", '{"first_name": "%s"}', "%s@example.com", "at 7:30 pm %s costs $5", "the movie %s"),
)
CREDENTIALS = frozenset(
    ("private_key", "jwt", "vendor_token", "connection_string", "url_password", "cloud_key", "card", "iban")
)


def told(*contents: str) -> list[tuple[int, int, str]]:
    turns = [{"turn_id": str(number), "role": "user", "content": each} for number, each in enumerate(contents)]
    return [(each["start"], each["end"], each["text"]) for each in entities_of({"turns": turns})]


@pytest.mark.parametrize("name", ALONE)
def test_nothing_is_told_of_a_credential_wherever_it_stands(name: str) -> None:
    for around in AROUND:
        content = around % ALONE[name]
        secret = [each for each in find(content) if each.kind in CREDENTIALS]
        for start, end, text in told(content):
            assert not any(start < each.end and each.start < end for each in secret), (around, text)


@pytest.mark.parametrize("name", ALONE)
def test_each_of_these_is_one_that_the_detectors_find(name: str) -> None:
    assert any(each.kind in CREDENTIALS for each in find(ALONE[name]))


def test_what_stands_beside_a_credential_is_still_told() -> None:
    content = f"key {TOKENS['glpat-']}, at 7:30 pm for mia@example.com"
    assert [text for _, _, text in told(content)] == ["7:30 pm", "mia@example.com"]


def test_of_a_private_key_of_more_than_one_piece_nothing_is_told() -> None:
    lines = "\n".join(f"{KEY}/etc/k{number:04d}abcd" for number in range(200))
    key = f"-----BEGIN RSA PRIVATE KEY-----\n{lines}\n-----END RSA PRIVATE KEY-----"
    assert [text for _, _, text in told(f"at noon {key} and at 7:30 pm")] == ["noon", "7:30 pm"]


def test_a_name_within_a_credential_is_not_known_again() -> None:
    assert told('Server=a;Uid=b;Password="my name is Wvbrtz Qxkl";Database=c', "and Wvbrtz Qxkl said so") == []
