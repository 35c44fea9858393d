"""Which base URLs are those of a store, and what a request makes of them: what httpx makes of them."""

import httpx
import pytest

from agent.ruvector.address import Address, address_of

READ = {
    "http://store": Address("http", "store", 80, "store", ""),
    "https://Store.Example:443/": Address("https", "store.example", 443, "store.example", ""),
    "https://store.example:8443/a/b//": Address("https", "store.example", 8443, "store.example:8443", "/a/b"),
    "http://[::1]:8080/x": Address("http", "::1", 8080, "[::1]:8080", "/x"),
    "http://127.0.0.1:/a%20b{c}": Address("http", "127.0.0.1", 80, "127.0.0.1", "/a%20b%7Bc%7D"),
}


@pytest.mark.parametrize("given", READ)
def test_a_base_url_is_read_as_httpx_reads_it(given):
    address, url = address_of(given), httpx.URL(given)
    assert address == READ[given]
    assert (address.scheme.encode(), address.authority.encode()) == (url.raw_scheme, url.netloc)
    assert httpx.URL(address.url(address.path + "/health")).raw_path == url.raw_path.rstrip(b"/") + b"/health"
    assert (address.path + "/health").encode() == url.raw_path.rstrip(b"/") + b"/health"


@pytest.mark.parametrize(
    "given",
    [
        "",
        "/path",
        "ftp://127.0.0.1/",
        "http:///path",
        "http://[::1",
        "http://host:port",
        "http://host:65536",
        "http://a b",
        "http://a\r\nb",
        "http://a/\0",
        "http://st\u00f6re/",
        "http://me:secret@store/",
        "http://store/?a=b",
        "http://store/#a",
    ],
)
def test_what_is_no_address_of_a_store_is_refused_without_being_repeated(given):
    with pytest.raises(ValueError, match=r"(?i)URL|address|port|IPv6") as caught:
        address_of(given)
    assert "secret" not in str(caught.value)
