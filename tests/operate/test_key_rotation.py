"""Keys are changed while captures go on, in the order of docs/operate/encryption.md; the wrong order is refused."""

from __future__ import annotations

import threading
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from store.http.access import ROLES
from store.settings import StoreSettings
from store.urls import open_store
from tests.cli.store.running import capture
from tests.cli.store.server import store_server
from tests.live.host import function_host
from tests.monitoring.desk import Desk, World
from tests.operate.page import blocks, text_of
from tests.operate.relay import Relay, relay
from tests.store.postgres_server import server
from tests.store.surface import Surface

OLD, NEW = "the-old-store-key-0000", "the-new-store-key-1111"
READER = "the-reading-key-22222"
OLD_CALLER, NEW_CALLER = "the-old-caller-key-0000", "the-new-caller-key-1111"


def body() -> dict[str, object]:
    turn = {"turn_id": str(uuid.uuid4()), "role": "user", "content": "hello", "timestamp": "2026-03-02T08:15:00Z"}
    return {"session_id": str(uuid.uuid4()), "conversation_id": str(uuid.uuid4()), "turns": [turn]}


def post(url: str, caller: str) -> httpx.Response:
    return httpx.post(url, json=body(), headers={"Authorization": f"Bearer {caller}"}, timeout=60)


class Writer:
    """A caller that captures without a pause, one request after the other, with the key of the moment."""

    def __init__(self, url: str, caller: str) -> None:
        self.caller = caller
        self.answers: Counter[int] = Counter()
        self._url = url
        self._stop = threading.Event()
        self._came = threading.Condition()
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def goes_on(self, number: int = 5) -> None:
        """Wait until so many more captures were answered."""
        with self._came:
            wanted = self.answers.total() + number
            assert self._came.wait_for(lambda: self.answers.total() >= wanted, timeout=120)

    def end(self) -> None:
        self._stop.set()
        self._thread.join(60)
        assert not self._thread.is_alive()

    def _write(self) -> None:
        while not self._stop.is_set():
            status = post(self._url, self.caller).status_code
            with self._came:
                self.answers[status] += 1
                self._came.notify_all()


class Platform:
    """The store and the capture function, each at an address that stays while its revisions change."""

    def __init__(self, folder: Path, running: ExitStack) -> None:
        self._folder = folder
        self._running = running
        self._revisions = 0
        self._relays: dict[str, Relay] = {}
        # What ends the revision that a service has now.
        self._ends: dict[str, Callable[[], object]] = {}

    @property
    def store_url(self) -> str:
        return self._relays["store"].url

    @property
    def url(self) -> str:
        return self._relays["function"].url

    def store(self, *keys: str) -> None:
        """A new revision of the store: it takes over, and then the one before is ended."""
        listed = ",".join([*(f"acme:{key}:write" for key in keys), f"acme:{READER}:read"])
        database = f"sqlite:///{self._folder / 'store.db'}"
        new = self._running.enter_context(store_server(self._next(), RUVECTOR_STORE=database, RUVECTOR_KEYS=listed))
        self._takes_over("store", new.port, new.end)

    def function(self, store_key: str, *callers: str) -> None:
        """A new revision of the capture function."""
        keys = {"RUVECTOR_API_KEY": store_key, "CAPTURE_API_KEYS": ",".join(callers)}
        new = self._running.enter_context(function_host(self._next(), store=self.store_url, **keys))

        def end() -> None:
            new.process.terminate()
            new.process.wait(60)

        self._takes_over("function", new.port, end)

    def _takes_over(self, service: str, port: int, end: Callable[[], object]) -> None:
        if service not in self._relays:
            self._relays[service] = self._running.enter_context(relay(port))
        self._relays[service].to = port
        self._ends.get(service, lambda: None)()
        self._ends[service] = end

    def _next(self) -> Path:
        self._revisions += 1
        folder = self._folder / str(self._revisions)
        folder.mkdir()
        return folder


@pytest.fixture
def platform(tmp_path) -> Iterator[Platform]:
    with ExitStack() as running:
        yield Platform(tmp_path, running)


def events(platform: Platform) -> int:
    answer = httpx.get(f"{platform.store_url}/v1/stats", headers={"Authorization": f"Bearer {READER}"}, timeout=60)
    return int(answer.json()["events"])


def test_the_stores_key_and_the_callers_key_are_changed_and_no_capture_is_refused(platform):
    platform.store(OLD)
    platform.function(OLD, OLD_CALLER)
    writer = Writer(platform.url, OLD_CALLER)
    writer.goes_on()
    platform.store(OLD, NEW)
    writer.goes_on()
    platform.function(NEW, OLD_CALLER, NEW_CALLER)
    writer.goes_on()
    writer.caller = NEW_CALLER
    writer.goes_on()
    platform.store(NEW)
    writer.goes_on()
    platform.function(NEW, NEW_CALLER)
    writer.goes_on()
    writer.end()
    assert set(writer.answers) == {200}
    assert events(platform) == writer.answers.total()
    assert post(platform.url, OLD_CALLER).status_code == 401
    refused = httpx.post(
        f"{platform.store_url}/v1/decision-events", json={}, headers={"Authorization": f"Bearer {OLD}"}, timeout=60
    )
    assert refused.status_code == 401
    assert events(platform) == writer.answers.total()


def test_a_function_whose_key_is_taken_away_first_is_refused_until_it_is_put_back(platform):
    platform.store(NEW)
    platform.function(OLD, OLD_CALLER)
    answer = post(platform.url, OLD_CALLER)
    error = answer.json()["error"]
    assert (answer.status_code, error["error_code"]) == (502, "RUVECTOR_WRITE_ERROR")
    assert error["details"]["upstream_status"] == 401
    platform.store(OLD, NEW)
    assert post(platform.url, OLD_CALLER).status_code == 200


@pytest.fixture
def two_roles() -> Iterator[Callable[[str], Surface]]:
    """Opens a store on one new database in the name of its owner ``memory``, or of ``memory_b``, its member."""
    postgres = server()
    with postgres.connect("postgres") as admin, ExitStack() as opened:
        admin.execute("CREATE ROLE memory LOGIN")
        admin.execute("CREATE ROLE memory_b LOGIN IN ROLE memory")
        admin.execute("CREATE DATABASE turns OWNER memory")

        def of(role: str) -> Surface:
            surface = Surface(open_store(f"postgresql+psycopg://{role}@/turns?host={postgres.sockets}"))
            opened.callback(surface.close)
            return surface

        yield of
        opened.close()
        for statement in ("DROP DATABASE turns WITH (FORCE)", "DROP ROLE memory_b", "DROP ROLE memory"):
            admin.execute(statement)


def test_two_roles_of_one_database_serve_in_turns_with_the_rights_of_its_owner(two_roles):
    for role in ("memory", "memory_b", "memory"):
        surface = two_roles(role)
        session = capture(surface, "hello")
        assert session in {row["session_id"] for row in surface.client.get("/v1/sessions").json()["sessions"]}
        erased = surface.client.delete(f"/v1/sessions/{session}").json()
        assert (erased["turns"], erased["files"]) == (1, "rewritten")
        surface.close()


def test_an_erasure_rewrites_the_files_while_both_roles_are_connected(two_roles):
    first, second = two_roles("memory"), two_roles("memory_b")
    session = capture(first, "hello")
    capture(second, "hello")
    assert first.client.delete(f"/v1/sessions/{session}").json()["files"] == "rewritten"


@pytest.mark.parametrize("before", ["", f"other:{OLD_CALLER}:write,"])
def test_the_commands_of_the_page_change_the_one_key_and_keep_all_others(tmp_path, before):
    rest = f"default:{READER}:read,default:an-admins-key-33333:admin"
    secrets = {
        "conversation-store-keys": f"{before}default:{OLD}:write,{rest}",
        "conversation-store-write-key": OLD,
    }
    desk = Desk(tmp_path, World(secrets=secrets))
    said = desk.type_alone("\n".join(blocks(text_of("encryption"))))
    assert said.code == 0, said.err
    assert OLD not in said.out + said.err
    (_, both), (second, new), (_, last) = desk.world.added
    assert second == "conversation-store-write-key"
    assert both == f"default:{new}:write,{secrets['conversation-store-keys']}"
    assert last == f"{before}default:{new}:write,{rest}"
    assert [key.rights for key in StoreSettings.from_env({"RUVECTOR_KEYS": both}).keys][:1] == [ROLES["write"]]


def test_the_commands_of_the_page_leave_a_list_alone_that_does_not_have_the_key(tmp_path):
    keys = f"default:{READER}:read"
    desk = Desk(tmp_path, World(secrets={"conversation-store-keys": keys, "conversation-store-write-key": OLD}))
    desk.type_alone(blocks(text_of("encryption"))[0])
    assert desk.world.added == []
