"""deploy.sh asks what is deployed first, and takes nothing away that guards content or callers unless it is told to."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import REPOSITORY
from tests.deploy.fake_gcloud import CONNECTED, Project, deployed, flag
from tests.deploy.test_deploy_sh import LOOKED_FOR

SCRIPTS = REPOSITORY / "deploy"
KEYS_FILE = "/etc/secrets/conversation-capture-keys/keys"
# What is deployed; the options that say it again; those that say that it may go; and what the refusal says.
GUARDED = [
    (
        "conversation-memory\tCAPTURE_CONTENT\tnone",
        ("--content", "none"),
        ("--content", "full"),
        "CAPTURE_CONTENT=none",
    ),
    (
        "conversation-memory-events\tCAPTURE_CONTENT\tredacted",
        ("--content", "redacted"),
        ("--content", "full"),
        "CAPTURE_CONTENT=redacted",
    ),
    (
        f"conversation-memory\tCAPTURE_API_KEYS_FILE\t{KEYS_FILE}",
        ("--capture-keys",),
        ("--drop", "CAPTURE_API_KEYS_FILE"),
        "CAPTURE_API_KEYS_FILE:",
    ),
    (
        "conversation-memory\tCAPTURE_API_KEYS\t",
        ("--capture-keys",),
        ("--drop", "CAPTURE_API_KEYS"),
        "CAPTURE_API_KEYS:",
    ),
    (
        "conversation-recall\tRECALL_API_KEYS_FILE\t/etc/secrets/conversation-recall-keys/keys",
        ("--recall-keys",),
        ("--drop", "RECALL_API_KEYS_FILE"),
        "RECALL_API_KEYS_FILE:",
    ),
    (
        "conversation-recall\tRECALL_API_KEYS\t",
        ("--recall-keys",),
        ("--drop", "RECALL_API_KEYS"),
        "RECALL_API_KEYS:",
    ),
    (
        "conversation-memory\tRATE_LIMIT\t100/second;5000/hour",
        ("--rate-limit", "100/second;5000/hour"),
        ("--drop", "RATE_LIMIT"),
        "RATE_LIMIT=100/second;5000/hour",
    ),
    (
        "conversation-recall\tRATE_LIMIT\t9/second",
        ("--rate-limit", "9/second"),
        ("--drop", "RATE_LIMIT"),
        "RATE_LIMIT=9/second",
    ),
    (
        "conversation-memory\tINTENTS_CONFIG\tconfig/intents.yaml",
        ("--env", "INTENTS_CONFIG=config/intents.yaml"),
        ("--drop", "INTENTS_CONFIG"),
        "INTENTS_CONFIG=config/intents.yaml",
    ),
    (
        "conversation-memory-events\tCONTENT_HASH_KEY\t",
        ("--content-hash-key",),
        ("--drop", "CONTENT_HASH_KEY"),
        "CONTENT_HASH_KEY:",
    ),
]
IDS = [" ".join(there.split("\t")[:2]) for there, *_ in GUARDED]
CHANGES = ("create", "deploy", "update", "add-iam-policy-binding")


@pytest.mark.parametrize(("there", "again", "may_go", "said"), GUARDED, ids=IDS)
def test_a_run_that_would_take_it_away_is_refused_before_anything_is_changed(
    tmp_path: Path, there: str, again: tuple[str, ...], may_go: tuple[str, ...], said: str
) -> None:
    done, calls = Project(tmp_path, there=(there,)).deploy(*CONNECTED)
    assert done.returncode == 2
    (line,) = [line for line in done.stderr.splitlines() if said in line]
    assert f"say {' '.join(again)} again, or {' '.join(may_go)}" in line
    assert there.partition("\t")[0] in line
    assert [call for call in calls if not set(CHANGES).isdisjoint(call)] == []


@pytest.mark.parametrize(("there", "again", "may_go"), [row[:3] for row in GUARDED], ids=IDS)
def test_a_run_that_says_it_again_or_that_it_may_go_goes_on(
    tmp_path: Path, there: str, again: tuple[str, ...], may_go: tuple[str, ...]
) -> None:
    for options in (again, may_go):
        done, calls = Project(tmp_path, there=(there,)).deploy(*CONNECTED, *options)
        assert done.returncode == 0, done.stderr
        assert len(deployed(calls)) == 4


def test_all_that_would_go_is_said_at_once_and_never_what_a_key_is(tmp_path: Path) -> None:
    there = (
        "conversation-memory\tCAPTURE_CONTENT\tnone",
        "conversation-memory\tCAPTURE_API_KEYS\ta-key-in-the-clear",
        "conversation-memory-events\tCAPTURE_CONTENT\tnone",
        "conversation-recall\tRATE_LIMIT\t9/second",
    )
    done, _ = Project(tmp_path, there=there).deploy(*CONNECTED)
    assert done.returncode == 2
    assert len([line for line in done.stderr.splitlines() if " again, or " in line]) == 4
    assert "a-key-in-the-clear" not in done.stderr + done.stdout


def test_a_quota_of_the_store_which_no_option_sets_goes_only_when_told(tmp_path: Path) -> None:
    project = Project(tmp_path, there=("conversation-store\tRUVECTOR_QUOTAS\tacme:2/second",))
    done, calls = project.deploy(*CONNECTED)
    assert done.returncode == 2
    assert "RUVECTOR_QUOTAS=acme:2/second: leave the store out (--only), or --drop RUVECTOR_QUOTAS" in done.stderr
    assert deployed(calls) == {}
    assert project.deploy(*CONNECTED, "--only", "capture,events,recall")[0].returncode == 0
    assert project.deploy(*CONNECTED, "--drop", "RUVECTOR_QUOTAS")[0].returncode == 0


@pytest.mark.parametrize(
    "there",
    [
        (),
        ("conversation-memory\tCAPTURE_CONTENT\tfull", "conversation-memory\tTHREADS\t8"),
        ("conversation-recall\tCAPTURE_CONTENT\tnone",),
        ("conversation-memory-of-others\tCAPTURE_CONTENT\tnone",),
    ],
    ids=["nothing is deployed", "all content stays already", "a part that does not write", "another's service"],
)
def test_where_nothing_of_ours_would_be_taken_away_a_run_goes_on(tmp_path: Path, there: tuple[str, ...]) -> None:
    done, calls = Project(tmp_path, there=there).deploy(*CONNECTED)
    assert done.returncode == 0, done.stderr
    assert len(deployed(calls)) == 4


def test_a_limit_may_be_said_again_as_any_other_variable(tmp_path: Path) -> None:
    project = Project(tmp_path, there=("conversation-recall\tRATE_LIMIT\t9/second",))
    assert project.deploy(*CONNECTED, "--env", "RATE_LIMIT=9/second")[0].returncode == 0


def test_a_part_that_is_not_deployed_now_keeps_what_it_has(tmp_path: Path) -> None:
    project = Project(tmp_path, there=("conversation-memory\tCAPTURE_CONTENT\tnone",))
    assert project.deploy(*CONNECTED, "--only", "recall,events")[0].returncode == 0


def test_a_run_that_narrows_needs_no_leave(tmp_path: Path) -> None:
    there = ("conversation-memory\tCAPTURE_CONTENT\tredacted", "conversation-memory-events\tCAPTURE_CONTENT\tredacted")
    done, calls = Project(tmp_path, there=there).deploy(*CONNECTED, "--content", "none")
    assert done.returncode == 0, done.stderr
    assert "CAPTURE_CONTENT=none" in flag(deployed(calls)["conversation-memory"], "set-env-vars")


def test_a_run_that_cannot_see_what_is_deployed_changes_nothing(tmp_path: Path) -> None:
    done, calls = Project(tmp_path, broken="run services list").deploy(*CONNECTED)
    assert done.returncode == 2
    assert "deploy.sh: what is deployed cannot be seen: gcloud run services list" in done.stderr
    assert [call for call in calls if not set(CHANGES).isdisjoint(call)] == []


def test_only_what_is_guarded_can_be_told_to_go(tmp_path: Path) -> None:
    done, calls = Project(tmp_path).deploy(*CONNECTED, "--drop", "CAPTURE_CONTENT")
    assert (done.returncode, calls) == (2, [])
    assert "--drop takes one of" in done.stderr


def test_what_is_guarded_is_what_the_page_says_and_what_can_be_told_to_go() -> None:
    guarded = set(re.findall(r"\b(capture|events|recall|store):([A-Z_]+)\b", (SCRIPTS / "before.sh").read_text()))
    page = (REPOSITORY / "docs/operate/deploy.md").read_text().partition("| deployed | a run goes on with |")[2]
    rows = [line.split("|")[1] for line in page.partition("\n\n")[0].splitlines()[2:]]
    assert guarded == {
        (part, name)
        for row in rows
        for name in re.findall(r"`([A-Z_]+)`", row)
        for part in re.findall(r"\b(capture|events|recall|store)\b", row)
    }
    droppable = "|".join(
        re.findall(r"^droppable\+?='\|?([A-Z_|]+)'$", (SCRIPTS / "deploy.sh").read_text(), re.MULTILINE)
    )
    assert {*droppable.split("|"), "CAPTURE_CONTENT"} == {name for _, name in guarded}


class _CloudRun(BaseHTTPRequestHandler):
    """Answers as Cloud Run does when it is asked for its services."""

    services: tuple[dict[str, Any], ...] = ()

    def do_GET(self) -> None:
        body = json.dumps({"apiVersion": "serving.knative.dev/v1", "kind": "ServiceList", "items": self.services})
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *args: Any) -> None:
        """Say nothing of a request."""


@contextmanager
def cloud_run(*services: dict[str, Any]) -> Iterator[int]:
    """Cloud Run with these services behind a proxy on loopback; gives the proxy's port."""
    handler = type("_Answers", (_CloudRun,), {"services": services})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join(5)


def service(name: str, env: list[dict[str, Any]]) -> dict[str, Any]:
    template = {"spec": {"containers": [{"image": "x", "env": env}]}}
    metadata = {"name": name, "namespace": "4711", "labels": {"cloud.googleapis.com/location": "europe-west6"}}
    return {
        "apiVersion": "serving.knative.dev/v1",
        "kind": "Service",
        "metadata": metadata,
        "spec": {"template": template},
    }


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("gcloud") is None, reason="no gcloud here: how it prints a service is not known")
def test_the_real_gcloud_says_it_as_the_script_reads_it(tmp_path: Path) -> None:
    _, calls = Project(tmp_path, absent=LOOKED_FOR).deploy(*CONNECTED)
    (look,) = [call for call in calls if call[:3] == ["run", "services", "list"]]
    hash_key = {"name": "CONTENT_HASH_KEY", "valueFrom": {"secretKeyRef": {"name": "a", "key": "latest"}}}
    ours = service(
        "conversation-memory",
        [{"name": "THREADS", "value": "8"}, {"name": "CAPTURE_CONTENT", "value": "none"}, hash_key],
    )
    others = (service("conversation-store", []), service("other", [{"name": "A_PASSWORD", "value": "x"}]))
    with cloud_run(ours, *others) as port:
        said = _gcloud(look, tmp_path, port)
    assert said.stdout.splitlines() == [
        "conversation-memory\tTHREADS\t8",
        "conversation-memory\tCAPTURE_CONTENT\tnone",
        "conversation-memory\tCONTENT_HASH_KEY\t",
    ]
    with cloud_run() as port:
        nothing = _gcloud(look, tmp_path, port)
    assert (nothing.stdout, nothing.stderr) == ("", "")


def _gcloud(words: list[str], folder: Path, port: int) -> subprocess.CompletedProcess[str]:
    (folder / "token").write_text("a-token")
    settings = {
        "AUTH_ACCESS_TOKEN_FILE": str(folder / "token"),
        "API_ENDPOINT_OVERRIDES_RUN": "http://run.invalid/",
        "PROXY_TYPE": "http",
        "PROXY_ADDRESS": "127.0.0.1",
        "PROXY_PORT": str(port),
        "CONFIG": str(folder / "gcloud"),
    }
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    environ |= {f"CLOUDSDK_{name}": value for name, value in settings.items()}
    return subprocess.run(["gcloud", *words], env=environ, capture_output=True, text=True, check=True)
