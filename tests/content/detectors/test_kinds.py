"""What each family takes and what it leaves: the shapes that people write, in many wraps and scripts."""

# ruff: noqa: RUF001 - digits of other scripts, in their own shapes

import pytest

from agent.content.detectors import find

TOKEN = "a1B2c3D4" * 5
KEY = "MIIEpAIBAAKCAQEA1234567890abcdef"


def shown(text: str) -> list[tuple[str, str]]:
    return [(hit.kind, text[hit.start : hit.end]) for hit in find(text)]


@pytest.mark.parametrize(
    ("text", "kind", "part"),
    [
        (f"glpat-{TOKEN[:20]}", "vendor_token", f"glpat-{TOKEN[:20]}"),
        (f"key=sk-proj-{TOKEN}", "vendor_token", f"sk-proj-{TOKEN}"),
        (f"\\nghp_{TOKEN[:36]}\\n", "vendor_token", f"ghp_{TOKEN[:36]}"),
        ("Authorization: Basic dXNlcjpwYXNz", "vendor_token", "dXNlcjpwYXNz"),
        ("AKIA7KSX43UW56RKG62Q", "cloud_key", "AKIA7KSX43UW56RKG62Q"),
        ("postgres://u:p@ss@h.example/db", "url_password", "p@ss"),
        ("redis://:s3cret@h:6379", "url_password", "s3cret"),
        ("Server=a;Password=O'Brien 42;Database=x", "connection_string", "O'Brien 42"),
        ("host=db user=me password=secret1 dbname=x", "connection_string", "secret1"),
        ("jdbc:postgresql://h/db?user=a&password=b9x&ssl=true", "connection_string", "b9x"),
        ("card 4242-4242-4242-4242.", "card", "4242-4242-4242-4242"),
        ("Karte ４２４２ ４２４２ ４２４２ ４２４２", "card", "４２４２ ４２４２ ４２４２ ４２４２"),
        ("IBAN:de89370400440532013000.", "iban", "de89370400440532013000"),
        ("GB82 WEST 1234 5698 7654 32", "iban", "GB82 WEST 1234 5698 7654 32"),
        ("писать на иван@почта.рф", "email", "иван@почта.рф"),
        ("**mia+tag@example.com**", "email", "mia+tag@example.com"),
        ("发到li.na@xinhe.example。", "email", "li.na@xinhe.example"),
        ("https://x.example/?email=mia%40example.com", "email", "mia%40example.com"),
        ('{\\"to\\": \\"mia@example.com\\"}', "email", "mia@example.com"),
        ("+44 (0)20 7946 0958", "phone", "+44 (0)20 7946 0958"),
        ("٠٥١ ٢٣٤ ٥٦٧٨ جوال", "phone", "٠٥١ ٢٣٤ ٥٦٧٨"),
        ("\u200e+966 51\u200e 234 5678", "phone", "+966 51\u200e 234 5678"),
        ("id,name,phone\n1,Ann,2015550123", "phone", "2015550123"),
        ("מספר התקשרו אליי ל-050-234-5678", "phone", "050-234-5678"),
        ("Meine Steuer-ID lautet 86095742719.", "national_id", "86095742719"),
    ],
)
def test_it_is_found_as_it_is_written(text: str, kind: str, part: str) -> None:
    assert shown(text) == [(kind, part)]


@pytest.mark.parametrize(
    "text",
    [
        "https://user:<password>@h.example and mongodb://u:${PASS}@h",
        "Password=${PW};Server=a",
        "x = 1; password = input.value; y = 2",
        "Authorization: Bearer <token>",
        "sk-learn-based-pipelines-and-more-things",
        "git@github.com:acme/web.git, ssh ops@web.example, @types/node@20.1.0",
        "+@app.get('/tickets') and <img src=logo@2x.png>",
        "Order 112-3456789-0123456 by UPS 1Z999AA10123456784",
        "ISBN 3-16-148410-X, 978-3-16-148410-0",
        "1712345678901 and 2025-03-04 10:30, 192.168.178.21:8080",
        "12345678-1234-1234-1234-123456789012",
        '{"phoneId": "998877665544", "count": 1234567}',
        "card 4242 4242 4242 4243",
        "Prices: 0300 0400 0500 0600",
        "-----BEGIN CERTIFICATE-----\n" + KEY + "\n-----END CERTIFICATE-----",
    ],
)
def test_what_only_looks_like_one_stays(text: str) -> None:
    assert shown(text) == []


@pytest.mark.parametrize("line", ["\n", "\\n", "\n    ", '",\n"', "\n> "])
def test_a_private_key_is_found_whole_however_its_lines_are_wrapped(line: str) -> None:
    key = line.join(["-----BEGIN RSA PRIVATE KEY-----", KEY, KEY, "-----END RSA PRIVATE KEY-----"])
    assert shown(f"see {key} there") == [("private_key", key)]


def test_a_private_key_that_is_cut_off_goes_as_far_as_its_lines() -> None:
    key = f"-----BEGIN PRIVATE KEY-----\n{KEY}\n{KEY}"
    assert shown(f"{key}\n\nand that is all I have") == [("private_key", key)]


def test_the_narrower_kind_gives_its_name_to_what_overlaps() -> None:
    jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdefgh"
    assert shown(f"Authorization: Bearer {jwt}") == [("jwt", jwt)]


def test_a_number_that_no_word_speaks_for_stays_and_with_one_goes() -> None:
    assert shown("it was 467207720 then") == []
    assert shown("BSN: 467207720") == [("national_id", "467207720")]


def test_of_very_many_numbers_the_last_ones_are_replaced_unweighed() -> None:
    lines = [f"{place:09}" for place in range(100_000_000, 100_020_100)]
    assert len(find("\n".join(lines))) == 100


def test_a_text_with_very_many_finds_is_replaced_from_the_first_of_them_to_its_end() -> None:
    text = "so: " + "a@b.com " * 20_001
    assert find(text) == [(4, len(text), "email")]


@pytest.mark.parametrize("mark", [" ", ", ", " / ", "\n"])
def test_of_a_long_line_of_cards_each_is_found(mark: str) -> None:
    assert shown(mark.join(["4242 4242 4242 4242"] * 9)) == [("card", "4242 4242 4242 4242")] * 9 or mark == " "
    assert shown(mark.join(["4242424242424242"] * 9)) == [("card", "4242424242424242")] * 9


def steps(text: str) -> int:
    """How many times Python code of the detectors is entered or goes on for ``text``: a measure without a clock."""
    import sys

    count = 0

    def step(*_: object) -> object:
        nonlocal count
        count += 1
        return step

    before = sys.gettrace()
    sys.settrace(step)
    try:
        find(text)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize(
    "piece",
    [
        *("a", "7", "@", "aaaa@", "a@b.c", "+1 (", "-----BEGIN ", "-----BEGIN PRIVATE KEY-----", "1 ", "1234 ", "eyJ."),
        *("a://b:c@", "sk-", "ghp_", "Password=", "Server=a;", "GB12 ", "[redacted:card]", "\u200b1", "12345678A "),
        *("bearer ", "phone 0121 "),
    ],
)
def test_twice_the_hostile_text_takes_at_most_about_twice_the_steps(piece: str) -> None:
    once, twice = steps(piece * 400), steps(piece * 800)
    assert twice <= 2.2 * once + 500
