"""What the store's server listens on: checked and bound before anything else starts."""

import socket
import struct

import pytest

from agent.cli.store.listening import STALLED_AT_MOST_S, address_of, listening_socket
from agent.errors import ConfigurationError


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "localhost", "::1"])
def test_a_store_without_keys_listens_on_a_loopback_address(host):
    with listening_socket(host, 0, keyless=True) as bound:
        bound.listen()
        with socket.create_connection(bound.getsockname()[:2], timeout=5):
            pass


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_a_store_without_keys_listens_on_no_other(host):
    with pytest.raises(ConfigurationError, match="without keys") as caught:
        listening_socket(host, 0, keyless=True)
    assert caught.value.variable == "RUVECTOR_KEYS"
    with listening_socket(host, 0, keyless=False):
        pass


@pytest.mark.parametrize("host", ["", "no such name", "no.such.name.invalid", "a" * 70, "999.1.1.1", "192.0.2.1"])
def test_a_host_that_is_not_here_is_refused(host):
    with pytest.raises(ConfigurationError):
        listening_socket(host, 0, keyless=False)


def test_a_free_port_is_taken_and_told():
    with listening_socket("127.0.0.1", 0, keyless=True) as first, listening_socket("::1", 0, keyless=True) as second:
        assert address_of(first) == f"http://127.0.0.1:{first.getsockname()[1]}"
        assert address_of(second) == f"http://[::1]:{second.getsockname()[1]}"
        assert first.getsockname()[1] > 0


def test_a_connection_that_stalls_is_let_go_by_the_kernel():
    with listening_socket("127.0.0.1", 0, keyless=True) as bound:
        bound.listen()
        with socket.create_connection(bound.getsockname(), timeout=5), bound.accept()[0] as accepted:
            for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
                seconds, microseconds = struct.unpack("ll", accepted.getsockopt(socket.SOL_SOCKET, option, 16))
                assert (seconds, microseconds) == (STALLED_AT_MOST_S, 0)
