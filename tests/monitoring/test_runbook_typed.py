"""The commands of the runbook, typed into a shell while the deployment is as the alert says, and after it is mended."""

from __future__ import annotations

import base64
import gzip
import hashlib
import itertools
import re
import shlex
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg
import pytest

from agent.bootstrap import new_id
from tests.deploy.test_deploy_sh import unknown_to_gcloud
from tests.live.payloads import encoded, own_session
from tests.monitoring.deployment import KEYS, READ, WRITE, Deployment
from tests.monitoring.desk import CONTENT, Desk, World, lines, part, typed
from tests.monitoring.queries import RUNBOOK, SERVICE_LEVELS, alerts, blocks
from tests.monitoring.site import SERVICES
from tests.monitoring.traffic import captures, no_capture, post, pushed
from tests.store import postgres_server

UNKNOWN = "a-key-that-nobody-knows-1"
UP, FIGURES = 1, 2
PARTS = ("A machine in the network", "Tools", *(alert.name for alert in alerts()), *CONTENT)


@pytest.fixture
def deployment(tmp_path: Path) -> Iterator[Deployment]:
    with ExitStack() as running:
        yield Deployment(tmp_path, running)


def test_the_tools_show_each_part_and_the_figures_of_the_store(deployment: Deployment) -> None:
    up = deployment.desk.type(typed("Tools", UP))
    assert up.code == 0, up.err
    assert len(re.findall(r'"status": ?"ok"', up.out)) >= 3
    assert '"accepted"' in up.out
    assert '{"status":"ready"' in up.out
    assert "ruvector_appends_total" in deployment.desk.type(typed("Tools", FIGURES)).out
    assert not list(deployment.desk.home.glob("*.db"))


def test_where_nobody_says_the_stores_address_no_file_is_checked_in_its_place(deployment: Deployment) -> None:
    del deployment.desk.world.services["conversation-store"]
    said = deployment.desk.type(typed("StoreUnreachable", -1))
    assert said.code != 0
    assert "memory-graph looks at a file of its own" in said.err
    assert "nothing differs" not in said.out
    assert "clean" not in said.out


def test_a_store_that_is_away_is_no_all_clear_and_one_that_is_back_is(deployment: Deployment) -> None:
    desk, afterwards = deployment.desk, typed("StoreUnreachable", -1)
    assert deployment.send(captures(1)) == {200}
    deployment.store.end()
    assert deployment.send(captures(1)) == {502}
    look = desk.type(typed("StoreUnreachable", 0))
    assert '"status":"degraded"' in look.out
    assert "curl: (7)" in look.err
    for number, line in enumerate(afterwards.splitlines()):
        # The last one asks the database, which was never away.
        assert (desk.type(line).code == 0) == (number == 2), line
    deployment.start_store()
    assert deployment.send(captures(1)) == {200}
    mended = desk.type(f"set -e\n{afterwards}")
    assert mended.code == 0, mended.err
    assert re.search(r"^identical +2$", mended.out, re.MULTILINE)
    assert re.search(r"^store +clean$", mended.out, re.MULTILINE)
    assert not list(desk.home.glob("*.db"))


def test_a_database_that_nobody_names_is_no_all_clear(deployment: Deployment) -> None:
    del deployment.desk.world.secrets["conversation-store-url"]
    said = deployment.desk.type(typed("StoreUnreachable", -1).splitlines()[-1])
    assert said.code != 0
    assert "clean" not in said.out


@pytest.mark.parametrize(
    ("key", "status", "says"),
    [
        (UNKNOWN, 401, "refused"),
        (READ, 403, "accepted"),
    ],
)
def test_a_wrong_key_of_writers_is_found_and_the_right_one_too(
    deployment: Deployment, key: str, status: int, says: str
) -> None:
    desk = deployment.desk
    log, key_check, _, smoke = lines("StoreRefuses")
    desk.world.secrets["conversation-store-write-key"] = key
    deployment.function("handler", key)
    assert deployment.send(captures(2)) == {502}
    # As the page says of "Tools": none of it shows it.
    up = desk.type(typed("Tools", UP))
    assert "degraded" not in up.out
    assert '"accepted"' in up.out
    assert desk.type(log).out.splitlines()[1:] == [f"conversation-memory\t{status}"] * 2
    assert f"| {status} |" in part("StoreRefuses")
    assert _key_told(desk.type(key_check).out) == (says, key == READ)
    assert desk.type(smoke).code == 1
    desk.world.secrets["conversation-store-write-key"] = WRITE
    deployment.function("handler", WRITE)
    assert _key_told(desk.type(key_check).out) == ("cannot read: right for one that only appends", True)
    mended = desk.type(smoke)
    assert mended.code == 0, mended.out
    assert "is erased" in mended.out


def _key_told(out: str) -> tuple[str, bool]:
    """What is said of the key, and whether the store's list has it."""
    digits = out.splitlines()[-1]
    (told,) = re.findall(r"^key +(.+?)(?:, as a function's)?$", out, re.MULTILINE)
    return told, f"acme-{digits}" in out


def test_the_digits_that_are_shown_are_those_of_the_keys_name(deployment: Deployment) -> None:
    said = deployment.desk.type(typed("StoreRefuses", 1))
    assert re.search(rf"^acme-{hashlib.sha256(WRITE.encode()).hexdigest()[:8]} +write$", said.out, re.MULTILINE)


def dead_letter(body: bytes, **attributes: str) -> dict[str, Any]:
    """A message as gcloud prints it, which writes base64 in the alphabet of URLs."""
    data = base64.urlsafe_b64encode(body).decode()
    message = {"data": data, "attributes": attributes, "messageId": "4711", "publishTime": "2026-11-28T20:00:00Z"}
    return {"ackId": "ack-1", "message": message}


def packed_capture() -> bytes:
    """A capture as gzip whose base64 has both of the letters that the two alphabets do not share."""
    every = (gzip.compress(encoded(own_session())) for _ in itertools.count())
    return next(body for body in every if set(b"-_") <= set(base64.urlsafe_b64encode(body)))


CHAT = b'{"session_id": "chat-7", "messages": [{"role": "user", "content": "Gr\xc3\xbc\xc3\x9fe>>>???"}]}'


@pytest.mark.parametrize(
    "letter",
    [
        dead_letter(packed_capture(), **{"content-encoding": "gzip"}),
        dead_letter(encoded(own_session())),
        dead_letter(CHAT, format="openai-chat"),
    ],
    ids=["gzip", "native", "openai-chat"],
)
def test_a_dead_letter_that_is_a_capture_is_stored_and_then_taken_away(
    deployment: Deployment, letter: dict[str, Any]
) -> None:
    deployment.desk.world.dead.append(letter)
    said = deployment.desk.type("\n".join(lines("EventsRefused")))
    assert said.code == 0, said.err
    assert len(deployment.sessions) == 1
    assert deployment.desk.acknowledged == ["ack-1"]
    assert not list((deployment.desk.folder / "tmp").iterdir())


@pytest.mark.parametrize("broken", ["no capture", "a wrong key", "no store"])
def test_a_dead_letter_that_is_not_stored_is_left_where_it_is(deployment: Deployment, broken: str) -> None:
    body = no_capture() if broken == "no capture" else packed_capture()
    deployment.desk.world.dead.append(dead_letter(body))
    if broken == "a wrong key":
        deployment.desk.world.secrets["conversation-store-write-key"] = READ
    if broken == "no store":
        deployment.store.end()
    deployment.desk.type("\n".join(lines("EventsRefused")))
    assert any(call[:3] == ["pubsub", "subscriptions", "pull"] for call in deployment.desk.calls)
    assert deployment.desk.acknowledged == []


def test_the_log_says_why_an_event_was_refused(deployment: Deployment) -> None:
    events = deployment.function("capture_event", WRITE)
    assert set(post(events.url, [pushed(no_capture())])) == {400}
    said = deployment.desk.type(typed("EventsRefused", 0).splitlines()[0])
    assert len([line for line in said.out.splitlines() if '"rules"' in line]) == 1


def test_the_quota_of_each_key_is_told(deployment: Deployment) -> None:
    deployment.desk.world.variables["RUVECTOR_QUOTAS"] = "acme:2/second"
    said = deployment.desk.type(typed("RateLimited", -1))
    assert said.code == 0, said.err
    assert re.search(r"^acme-\w{8} +write, 2 requests a second for acme$", said.out, re.MULTILINE)


def test_a_session_is_pruned_with_the_key_that_the_page_has_for_it(deployment: Deployment) -> None:
    payload = own_session()
    assert deployment.send([encoded(payload)]) == {200}
    commands = re.sub(r"^SESSION=.*$", f"SESSION={payload['session_id']}", typed("RecallsSlow", -1), flags=re.MULTILINE)
    for line in commands.splitlines()[1:]:
        said = deployment.desk.type(f"SESSION={payload['session_id']}\n{line}")
        assert said.code == 0, said.err


def test_the_secret_of_the_database_opens_psql_and_a_connection_is_ended(tmp_path: Path) -> None:
    server = postgres_server.server()
    with server.database() as url, server.connect(postgres_server.name_in(url)) as holder:
        desk = Desk(tmp_path, World(secrets={"conversation-store-url": url}))
        who, end = lines("StorePoolExhausted")
        shown = desk.type_alone(who)
        assert shown.code == 0, shown.err
        assert re.search(rf"^ *{holder.info.backend_pid} \|", shown.out, re.MULTILINE)
        assert desk.type_alone(who + end.replace("PID", str(holder.info.backend_pid))).code == 0
        with pytest.raises(psycopg.OperationalError):
            holder.execute("SELECT 1")


def test_every_command_of_ours_comes_to_its_end(deployment: Deployment) -> None:
    """As many events as one: less than any command asks for."""
    assert deployment.send(captures(1)) == {200}
    ours = re.findall(r"^(?:[A-Z_]+=\S+ )*memory-graph .*?(?= &&$|$)", RUNBOOK.read_text(), re.MULTILINE)
    assert len(ours) > 10
    set_by_the_page = (
        f"DEAD=. FORMAT=native QUOTAS= SESSION={new_id()} PERSON=ann WORD=zebra STORE={deployment.database}"
    )
    said = deployment.desk.type("\n".join([set_by_the_page, *ours, "echo the end"]))
    assert said.out.endswith("the end\n")


@pytest.fixture
def page(tmp_path: Path) -> Desk:
    """A desk where only gcloud answers."""
    names = ("store-url", "store-keys", "store-write-key", "store-read-key", "store-metrics-key")
    world = World(
        services=dict.fromkeys((*SERVICES.values(), "conversation-store"), "https://a.example"),
        secrets={f"conversation-{name}": KEYS for name in names},
        dead=[dead_letter(CHAT)],
    )
    return Desk(tmp_path, world, stubs=("curl", "psql", "git", "memory-graph"))


@pytest.mark.parametrize("name", PARTS)
def test_a_part_uses_no_variable_that_neither_it_nor_the_tools_have_set(page: Desk, name: str) -> None:
    (page.home / "build").mkdir()
    commands = "\n".join(lines(name))
    said = page.type_alone(commands) if name.startswith("A ") else page.type(commands)
    assert "unbound variable" not in said.err
    assert not re.search(r"^gcloud: what is", said.err, re.MULTILINE), said.err


@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which("gcloud") is None, reason="no gcloud here: its list of commands and flags is not known"
)
def test_gcloud_takes_each_command_of_the_page(page: Desk, tmp_path: Path) -> None:
    for name in PARTS:
        page.type("\n".join(lines(name)))
    assert page.type_alone("set -e\n" + "\n".join(blocks(SERVICE_LEVELS, "sh"))).code == 0
    assert [name for name, _ in page.world.added] == ["conversation-store-metrics-key"]
    commands = {shlex.join(["gcloud", *call]) for call in page.calls}
    assert len(commands) > 30
    assert unknown_to_gcloud(sorted(commands), tmp_path) == []
