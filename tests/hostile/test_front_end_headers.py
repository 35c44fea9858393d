"""No header of a request is taken for the word of a proxy: there is none that a server of ours would know."""

import pytest

from tests.hostile.heads import get, said
from tests.hostile.targets import NAMES, Target

pytestmark = pytest.mark.slow

# What a server behind a proxy of its own would believe: where it is mounted, what was asked for, and by which scheme.
CLAIMED = {
    "where it is mounted": b"SCRIPT_NAME: /x\r\n",
    "where it is mounted, in small letters": b"script_name: /health\r\n",
    "what was asked for": b"PATH_INFO: /nowhere\r\n",
    "who asks": b"REMOTE_USER: ann\r\nREMOTE_ADDR: 127.0.0.1\r\n",
    "two schemes at once": b"X-Forwarded-Proto: https\r\nX-Forwarded-Ssl: off\r\n",
    "a length by another name": b"CONTENT_LENGTH: 5\r\n",
    "a coding by another name": b"TRANSFER_ENCODING: chunked\r\n",
    "all addresses": b"X-Forwarded-For: 192.0.2.1\r\nForwarded: for=192.0.2.1;proto=https\r\nX-Real-IP: 192.0.2.1\r\n",
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("claim", CLAIMED)
def test_what_a_request_claims_of_a_proxy_changes_no_answer(running: dict[str, Target], name: str, claim: str) -> None:
    for path in (b"/health", b"/nowhere"):
        plain, claimed = (said(running[name].port, get(path, headers)) for headers in (b"", CLAIMED[claim]))
        assert claimed == plain, path
        assert claimed.is_typed


@pytest.mark.parametrize("name", NAMES)
def test_a_path_is_the_one_of_the_request_line(running: dict[str, Target], name: str) -> None:
    for header in (b"SCRIPT_NAME: /x\r\n", b"PATH_INFO: /health\r\n"):
        plain, claimed = (said(running[name].port, get(b"/x/health", headers)) for headers in (b"", header))
        assert claimed == plain


@pytest.mark.parametrize("name", NAMES)
def test_a_proxy_is_announced_by_no_line_before_the_request(running: dict[str, Target], name: str) -> None:
    answer = said(running[name].port, b"PROXY TCP4 127.0.0.1 192.0.2.1 5 80\r\n" + get(b"/health"))
    assert [status // 100 for status in answer.statuses] == [4]
    assert answer.is_typed
