"""Bodies that have the most to be narrowed: taken in the function's memory and time, while others are served."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from tests.hostile.shapes import ATTACKS
from tests.hostile.watch import calling, forget_peak, peak_mib
from tests.live.host import FunctionHost, Reply, StubStore, function_host, stub_store
from tests.live.payloads import encoded, own_session

pytestmark = pytest.mark.slow

MEMORY_MIB = 256
# For a machine at work on much else: the effort is counted, in tests/content/test_bounded_effort.py, and not timed.
TIMEOUT_S = 120
MIB = 1024 * 1024
ROCKET = "\U0001f680"
VALUES = ", ".join(f'"4711{n:06d}"' for n in range(120_000, 124_000))


def said(text: str) -> bytes:
    """A capture that says ``text``, and as much of it as has room."""
    payload = own_session()
    payload["capture_options"] = {**payload.get("capture_options", {}), "extract_entities": True}
    payload["turns"][0]["content"] = text
    while len(encoded(payload)) > 10 * MIB:
        text = text[: int(len(text) * 0.95)]
        payload["turns"][0]["content"] = text
    return encoded(payload)


def kept(value: object) -> bytes:
    payload = own_session()
    payload["turns"][0]["metadata"] = {"kept": value}
    return encoded(payload)


BODIES: dict[str, Callable[[], bytes]] = {
    "one letter": lambda: said("x" * (10 * MIB - 4_000)),
    "addresses, wide": lambda: said(ROCKET + "".join(f"mia{n:06d}@example.org " for n in range(440_000))),
    "telephones": lambda: said("phone " + "4155552671, " * 860_000),
    "240 000 values": lambda: kept([f"mia{n:06d}@x.org 0121 234 {n:05d}" for n in range(240_000)]),
    "240 000 integers": lambda: kept([4111111111111111 + n for n in range(240_000)]),
    "escapes in JSON": lambda: said("[" + ",".join(f'"\\u0061{n:06d}@x.org"' for n in range(240_000)) + "]"),
    "empty lists in JSON": lambda: said("[" + "[]," * 3_400_000 + '"mia@example.org"]'),
    "escapes": lambda: said("\\n" * 2_500_000 + "mia@x.org"),
    "no width": lambda: said("a\u200b" * 2_600_000),
    **{name: lambda shape=shape: said(shape(10 * MIB - 4_000)) for name, shape in ATTACKS.items()},
    "values of a parameter, in a text": lambda: said('{"pin": [' + VALUES + "]} " + "4711123456, " * 800_000),
    "values of a parameter, in values": lambda: kept([{"pin": "4155552671"}, *["4155552671"] * 240_000]),
    "values of a parameter, without borders": lambda: said(
        json.dumps({"pin": [chr(0x4E00 + n) * 31 + "4155552671" for n in range(1000)]}) + "\u4e00\u4e01" * 1_700_000
    ),
}


def cpu_s(pid: int) -> float:
    """The CPU seconds that a process has had (proc(5), stat)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.fixture(scope="module")
def store() -> Iterator[StubStore]:
    with stub_store() as store:
        store.reply = lambda _count: Reply()
        yield store


@pytest.fixture(scope="module", params=["redacted", "none"])
def host(
    request: pytest.FixtureRequest, store: StubStore, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[FunctionHost]:
    folder = tmp_path_factory.mktemp("narrowed")
    intents = folder / "intents.yaml"
    intents.write_text("redaction: {params: [pin]}", encoding="utf-8")
    settings = {"CAPTURE_CONTENT": request.param, "INTENTS_CONFIG": str(intents), "THREADS": "8"}
    with function_host(folder, store=store.url, **settings) as host:
        yield host


@pytest.mark.parametrize("name", BODIES)
def test_a_body_that_has_the_most_to_be_narrowed_takes_no_more_than_a_function_has(
    host: FunctionHost, store: StubStore, name: str
) -> None:
    body = BODIES[name]()
    [worker] = host.workers()

    def ask() -> int:
        return httpx.post(host.url, content=encoded(own_session()), timeout=TIMEOUT_S).status_code

    forget_peak(worker)
    before = cpu_s(worker)
    with calling(ask, pause_s=1.0) as beside:
        answer = httpx.post(host.url, content=body, timeout=TIMEOUT_S)
    took = cpu_s(worker) - before
    peak = peak_mib(worker)
    assert answer.status_code == 200, answer.text[:1000]
    stored = [write.body for write in store.writes]
    store.writes.clear()
    assert not any(planted in body for body in stored for planted in (b"@x.org", b"4155552671"))
    print(f"{name}: {len(body)} bytes, {took:.1f} s of CPU, {peak:.0f} MiB, {len(beside.said)} beside")
    assert beside.all_served(), beside.said
    assert peak < MEMORY_MIB
