"""An address ends as any country's do; what ends so too and is a file, a package, a decorator or a host is none."""

# ruff: noqa: RUF001 - marks of other scripts, in their own shapes

import pytest
from phonenumbers import SUPPORTED_REGIONS

from agent.content.detectors import find

# Those of Google's telephone plans, and domains of countries and territories that have none there.
COUNTRIES = sorted(
    {region.lower() for region in SUPPORTED_REGIONS}
    | {"aq", "bv", "eu", "gs", "hm", "pn", "su", "tf", "uk", "um", "рф", "укр", "бел", "срб", "қаз", "中国", "台灣"}
    | {"香港", "भारत", "இந்தியா", "مصر", "امارات", "ایران", "السعودية", "გე", "հայ", "ελ", "한국", "ไทย"}
)
FILES_TOO = ("app", "bar", "bat", "cab", "cc", "com", "dev", "foo", "mk", "ml", "mov", "name", "pl", "ps", "rs", "sh")


def addresses(text: str) -> list[str]:
    return [text[hit.start : hit.end] for hit in find(text) if hit.kind == "email"]


@pytest.mark.parametrize("last", [*COUNTRIES, *FILES_TOO, "so", "st", "vb", "zip"])
@pytest.mark.parametrize("domain", ["primaria", "gmail.com", "mail.casa-1"])
def test_an_address_of_any_country_is_found_in_any_wrap(last: str, domain: str) -> None:
    address = f"juan.perez@{domain}.{last}"
    for before, after in (
        *(("", ""), ("Escriba a ", " por favor"), ("<", ">"), ("mailto:", "?subject=x"), ('{"e":"', '"}')),
        *(("correo/", ", tel."), ("**", "**"), ("(", ")."), ("https://x.example/u/", "/edit"), ("a@b.py/", "/c@d.md")),
        *(("\\n", "\\nLine"), ("`", "`: sí"), ("e=", "&f=1")),
    ):
        assert address in addresses(f"{before}{address}{after}"), (before, after)


@pytest.mark.parametrize(
    "text",
    [
        *("user@host/file.py", "git@github.com:x/y.py", "git@github.com:x/y.md", "@pytest.fixture", "name@1.2.3.js"),
        *("@scope/pkg", 'from "@scope/pkg.name"', "@scope/pkg.md", "+@app.get('/x.py')", "@app.route.py", "x@2x.md"),
        *("pkg@1.2.3.zip", "pkg@v1.2.md", "left-pad@1.3.0.sh", "guide@v2.md", "logo@2x.png", "x@foo.ts", "a@app.js"),
        *(
            "docs/guide@next.md",
            "(src/me@main.py)",
            "./docs/guide@next.md",
            "see src/agent/me@main.py now",
            "/srv/a@b.py",
            "~/notes/a@today.md",
            "a@main.py:12",
        ),
        *("tests/a@b.py::test_x", "blob/a@readme.md#L10", "a@main.py:12:5", "actions/checkout@v4.1.py", "x@np.dot(y)"),
        *("scp a.py user@host:x/y.py", "rsync -a x ops@web.md", "https://user@host.py/x"),
    ],
)
def test_a_file_a_package_a_decorator_or_a_host_is_no_address(text: str) -> None:
    assert addresses(text) == []


@pytest.mark.parametrize("text", ["correo/ion@primaria.md", "docs/juan.perez@gmail.com.py", "ana/ion@casa.md"])
def test_one_folder_makes_no_file_of_an_address(text: str) -> None:
    assert addresses(text) == [text.partition("/")[2]]


@pytest.mark.parametrize("address", ["ion@999.md", "li@163.com", "a@1.pl", "ann@126.cc", "x@o2.pl", "ana@21.com.py"])
def test_a_domain_of_digits_is_one(address: str) -> None:
    assert addresses(f"to {address} today") == [address]


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("联系li@mail.example（工作）", "li@mail.example"),
        ("ann@example.org(home)", "ann@example.org"),
        ("ион@primaria.md（дом）", "ион@primaria.md"),
    ],
)
def test_what_a_bracket_says_of_an_address_makes_no_call_of_it(text: str, address: str) -> None:
    assert addresses(text) == [address]
