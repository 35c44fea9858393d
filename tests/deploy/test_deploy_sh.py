"""deploy.sh, against a gcloud that writes down what it is asked, and against the real one's list of flags."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.deploy.fake_gcloud import CONNECTED, PLACE, Project, deployed, flag

ACCOUNTS = "iam.gserviceaccount.com"
# What a function may differ in: target, account, memory, threads, instances, ingress.
FUNCTIONS = {
    "conversation-memory": ("handler", "conversation-capture", "256Mi", "8", "100", "all"),
    "conversation-memory-events": ("capture_event", "conversation-events", "256Mi", "8", "100", "internal-only"),
    "conversation-recall": ("recall", "conversation-recall", "512Mi", "8", "20", "all"),
    "conversation-store": ("store", "conversation-store", "512Mi", "16", "10", "internal-only"),
}
LOOKED_FOR = r"(service-accounts|topics|subscriptions) describe"


@pytest.fixture
def empty(tmp_path: Path) -> Project:
    """A project that has the secrets and nothing else yet."""
    return Project(tmp_path, absent=LOOKED_FOR)


def test_a_dry_run_prints_and_calls_nobody(empty: Project) -> None:
    done, calls = empty.deploy("--dry-run", *CONNECTED)
    assert (done.returncode, done.stderr, calls) == (0, "", [])
    assert "gcloud functions deploy conversation-memory " in done.stdout


@pytest.mark.parametrize("absent", [LOOKED_FOR, ""], ids=["an empty project", "a project where all is there"])
def test_what_a_dry_run_prints_does_in_a_shell_what_the_script_does(tmp_path: Path, absent: str) -> None:
    project = Project(tmp_path, absent)
    options = (*CONNECTED, "--invoker", "group:agents@example.com", "--observatory-url", "https://otlp.example/x?a=b&c")
    printed, _ = project.deploy("--dry-run", *options)
    pasted, calls = project.paste(printed.stdout)
    assert pasted.returncode == 0, pasted.stderr
    _, own = project.deploy(*options)
    assert calls == own
    assert len(own) > 20


def test_a_second_run_makes_nothing_new(tmp_path: Path) -> None:
    done, calls = Project(tmp_path).deploy(*CONNECTED)
    assert done.returncode == 0, done.stderr
    assert [call for call in calls if "create" in call] == []
    assert sorted(deployed(calls)) == sorted(FUNCTIONS)


def test_a_secret_without_a_version_is_named_before_anything_is_made(tmp_path: Path) -> None:
    done, calls = Project(tmp_path, absent="secret=conversation-store-(url|read-key)").deploy(*CONNECTED)
    assert done.returncode == 2
    assert "conversation-store-url conversation-store-read-key" in done.stderr
    assert "gcloud secrets create" in done.stderr
    assert {tuple(call[:3]) for call in calls if call[0] != "services"} == {("secrets", "versions", "describe")}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_function_is_deployed_as_agreed(empty: Project, name: str) -> None:
    _, calls = empty.deploy(*CONNECTED)
    call = deployed(calls)[name]
    flags = ("entry-point", "service-account", "memory", "concurrency", "max-instances", "ingress-settings")
    target, account, *rest = FUNCTIONS[name]
    assert [flag(call, each) for each in flags] == [target, f"{account}@my-project.{ACCOUNTS}", *rest]
    assert {"--gen2", "--cpu=1", "--timeout=30s", "--trigger-http", "--source=.", "--runtime=python311"} <= set(call)
    assert "--serve-all-traffic-latest-revision" in call  # else what was sent back once stays back
    environment = dict(pair.split("=", 1) for pair in flag(call, "set-env-vars").split(","))
    assert environment.pop("THREADS") == flag(call, "concurrency")
    of_clients = {"RUVECTOR_SERVICE_URL": "https://conversation-store.example", "GOOGLE_CLOUD_PROJECT": "my-project"}
    assert environment == ({} if target == "store" else of_clients)


def test_keys_come_from_secrets_that_one_account_each_may_read(empty: Project) -> None:
    _, calls = empty.deploy(*CONNECTED, "--metrics-key")
    assert {name: flag(call, "set-secrets").replace(":latest", "") for name, call in deployed(calls).items()} == {
        "conversation-memory": "RUVECTOR_API_KEY=conversation-store-write-key",
        "conversation-memory-events": "RUVECTOR_API_KEY=conversation-store-write-key",
        "conversation-recall": "RUVECTOR_API_KEY=conversation-store-read-key",
        "conversation-store": "RUVECTOR_STORE=conversation-store-url,RUVECTOR_KEYS=conversation-store-keys,"
        "METRICS_KEY=conversation-store-metrics-key",
    }
    granted = {
        (call[2], flag(call, "member").removeprefix("serviceAccount:").partition("@")[0], flag(call, "role"))
        for call in calls
        if call[:2] == ["secrets", "add-iam-policy-binding"]
    }
    role = "roles/secretmanager.secretAccessor"
    assert granted == {
        ("conversation-store-write-key", "conversation-capture", role),
        ("conversation-store-write-key", "conversation-events", role),
        ("conversation-store-read-key", "conversation-recall", role),
        ("conversation-store-url", "conversation-store", role),
        ("conversation-store-keys", "conversation-store", role),
        ("conversation-store-metrics-key", "conversation-store", role),
    }


def test_how_much_content_stays_is_said_to_both_that_write_and_to_no_other(empty: Project) -> None:
    done, calls = empty.deploy(*CONNECTED, "--content", "none", "--content-hash-key")
    assert done.returncode == 0, done.stderr
    variables = {name: flag(call, "set-env-vars").split(",") for name, call in deployed(calls).items()}
    secrets = {name: flag(call, "set-secrets").split(",") for name, call in deployed(calls).items()}
    key = "CONTENT_HASH_KEY=conversation-content-hash-key:latest"
    writers = {"conversation-memory", "conversation-memory-events"}
    assert {name for name in FUNCTIONS if "CAPTURE_CONTENT=none" in variables[name]} == writers
    assert {name for name in FUNCTIONS if key in secrets[name]} == writers
    readers = {
        flag(call, "member").partition("@")[0] for call in calls if call[2:3] == ["conversation-content-hash-key"]
    }
    assert readers == {"serviceAccount:conversation-capture", "serviceAccount:conversation-events"}


def test_a_mode_that_there_is_not_is_refused_in_a_dry_run_too(empty: Project) -> None:
    done, calls = empty.deploy("--dry-run", *CONNECTED, "--content", "redact")
    assert (done.returncode, done.stdout, calls) == (2, "", [])
    assert "--content takes one of full, redacted, none" in done.stderr


def test_no_function_that_the_internet_reaches_is_public(empty: Project) -> None:
    _, calls = empty.deploy(*CONNECTED, "--invoker", "user:ada@example.com")
    public = {name for name, call in deployed(calls).items() if "--allow-unauthenticated" in call}
    assert public == {"conversation-store"}  # its ingress is internal, its guard the keys
    assert all("--no-allow-unauthenticated" in call for name, call in deployed(calls).items() if name not in public)
    invokers = {
        (call[3], flag(call, "member")) for call in calls if call[:2] == ["run", "services"] and "add-" in call[2]
    }
    assert invokers == {
        ("conversation-memory", "user:ada@example.com"),
        ("conversation-memory-events", f"serviceAccount:conversation-push@my-project.{ACCOUNTS}"),
        ("conversation-recall", "user:ada@example.com"),
    }


def test_what_calls_the_store_leaves_by_the_connector(empty: Project) -> None:
    _, calls = empty.deploy(*CONNECTED)
    egress = {
        name: (flag(call, "vpc-connector"), flag(call, "egress-settings")) for name, call in deployed(calls).items()
    }
    assert egress.pop("conversation-store") == ("inside", "private-ranges-only")
    assert set(egress.values()) == {("inside", "all")}


def test_the_queue_retries_and_keeps_its_dead_letters(empty: Project) -> None:
    _, calls = empty.deploy(*CONNECTED, "--only", "events", "--max-delivery-attempts", "7")
    (push,) = [
        call for call in calls if call[:4] == ["pubsub", "subscriptions", "create", "conversation-captures-push"]
    ]
    assert flag(push, "push-endpoint") == "https://conversation-memory-events.example"
    assert flag(push, "dead-letter-topic") == "conversation-captures-dead"
    assert (flag(push, "max-delivery-attempts"), flag(push, "min-retry-delay"), flag(push, "max-retry-delay")) == (
        "7", "10s", "600s",
    )  # fmt: skip
    agent = "serviceAccount:service-4711@gcp-sa-pubsub.iam.gserviceaccount.com"
    granted = {(call[3], flag(call, "role")) for call in calls if f"--member={agent}" in call}
    assert granted == {
        (f"conversation-push@my-project.{ACCOUNTS}", "roles/iam.serviceAccountTokenCreator"),
        ("conversation-captures-dead", "roles/pubsub.publisher"),
        ("conversation-captures-push", "roles/pubsub.subscriber"),
    }


def test_a_store_that_runs_elsewhere_needs_no_connector_and_is_not_deployed(empty: Project) -> None:
    done, calls = empty.deploy("--store-url", "https://ruvector.example", "--env", "LOG_LEVEL=WARNING")
    assert done.returncode == 0, done.stderr
    assert sorted(deployed(calls)) == sorted(set(FUNCTIONS) - {"conversation-store"})
    for call in deployed(calls).values():
        assert "RUVECTOR_SERVICE_URL=https://ruvector.example" in flag(call, "set-env-vars")
        assert flag(call, "set-env-vars").endswith(",LOG_LEVEL=WARNING")
        assert "--clear-vpc-connector" in call  # an earlier run may have set one
    assert not any("conversation-store-url" in call or "conversation-store-keys" in call for call in calls)


def test_only_deploys_what_it_names(empty: Project) -> None:
    _, calls = empty.deploy(*CONNECTED, "--only", "recall")
    assert list(deployed(calls)) == ["conversation-recall"]
    assert [call[3] for call in calls if call[:3] == ["iam", "service-accounts", "create"]] == ["conversation-recall"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "--vpc-connector"),
        (("--vpc-connector",), "--vpc-connector needs a value"),
        (("--vpc-connector", "--dry-run"), "--vpc-connector needs a value"),
        ((*CONNECTED, "--store-url", ""), "--store-url needs a value"),
        ((*CONNECTED, "--project", "4711"), "--project takes the project's id"),
        ((*CONNECTED, "--region", "europe-west6-a"), "--region takes a region"),
        ((*CONNECTED, "--runtime", "python310"), "--runtime takes one of"),
        (("--store-url", "embedded:x"), "--store-url takes an http"),
        ((*CONNECTED, "--observatory-url", "otlp.example"), "--observatory-url takes an http"),
        ((*CONNECTED, "--only", "capture,memory"), "--only takes some of"),
        ((*CONNECTED, "--only", "capture,"), "--only takes some of"),
        ((*CONNECTED, "--max-delivery-attempts", "4"), "5 to 100"),
        ((*CONNECTED, "--ingress", "public"), "--ingress takes one of"),
        ((*CONNECTED, "--invoker", "allUsers"), "nobody else"),
        ((*CONNECTED, "--invoker", "allAuthenticatedUsers"), "nobody else"),
        ((*CONNECTED, "--invoker", "principalSet://goog/public:all"), "nobody else"),
        ((*CONNECTED, "--env", "CAPTURE_API_KEYS=abc"), "CAPTURE_API_KEYS would be readable"),
        ((*CONNECTED, "--env", "RUVECTOR_STORE=postgresql://x"), "RUVECTOR_STORE would be readable"),
        ((*CONNECTED, "--content", "some"), "--content takes one of full, redacted, none"),
        ((*CONNECTED, "--content"), "--content needs a value"),
        ((*CONNECTED, "--env", "CAPTURE_CONTENT=none"), "--content sets CAPTURE_CONTENT"),
        ((*CONNECTED, "--env", "CONTENT_HASH_KEY=abc"), "CONTENT_HASH_KEY would be readable"),
        ((*CONNECTED, "--env", "THREADS=80"), "THREADS is set already"),
        ((*CONNECTED, "--env", "A=1", "--env", "A=2"), "A is set already"),
        ((*CONNECTED, "--env", "lower=x"), "--env takes NAME=VALUE"),
        ((*CONNECTED, "--env", "X=$(id)"), "--env has a character"),
        ((*CONNECTED, "--store-url", "https://a b"), "--store-url has a character"),
        ((*CONNECTED, "--env", "X=wow!"), "--env has a character"),
        ((*CONNECTED, "--store-url", "https://a", "--only", "store"), "nothing to deploy"),
        (("--store-url", "https://a", "--only", "store,store"), "nothing to deploy"),
        ((*CONNECTED, "--typo", "x"), "there is no option --typo"),
        ((*CONNECTED, "now"), "what is now?"),
    ],
)
def test_an_option_that_does_not_hold_is_refused_before_anything_is_done(
    empty: Project, options: tuple[str, ...], said: str
) -> None:
    done, calls = empty.deploy(*options)
    assert (done.returncode, calls) == (2, [])
    assert said in done.stderr


def test_what_fails_ends_the_run_before_anybody_may_call_it(tmp_path: Path) -> None:
    options = (*CONNECTED, "--invoker", "user:ada@example.com")
    done, calls = Project(tmp_path, broken="functions deploy conversation-memory ").deploy(*options)
    assert done.returncode == 1
    assert list(deployed(calls)) == ["conversation-store", "conversation-memory"]
    assert calls[-1][:2] == ["functions", "deploy"]
    assert "deployed" not in done.stderr


@pytest.mark.parametrize("absent", ["conversation-store --project", "run services describe conversation-memory-events"])
def test_an_address_that_is_needed_and_not_there_ends_the_run_and_is_named(tmp_path: Path, absent: str) -> None:
    done, calls = Project(tmp_path, absent=f"{LOOKED_FOR}|{absent}").deploy(*CONNECTED, "--only", "events")
    assert done.returncode == 2
    assert "deploy.sh: nothing came of: gcloud run services describe conversation-" in done.stderr
    assert calls[-1][:3] == ["run", "services", "describe"]


@pytest.mark.parametrize("only", ["store", "capture,recall", "events", "store,capture,store", "recall,store"])
def test_any_choice_of_parts_deploys_them_and_asks_for_their_secrets_alone(empty: Project, only: str) -> None:
    done, calls = empty.deploy(*CONNECTED, "--only", only)
    assert done.returncode == 0, done.stderr
    of_part = dict(zip(("capture", "events", "recall", "store"), FUNCTIONS, strict=True))
    assert sorted(deployed(calls)) == sorted({of_part[part] for part in only.split(",")})
    asked = [flag(call, "secret") for call in calls if call[:3] == ["secrets", "versions", "describe"]]
    read = {
        pair.partition("=")[2].partition(":")[0]
        for call in deployed(calls).values()
        for pair in flag(call, "set-secrets").split(",")
    }
    assert sorted(asked) == sorted(read)


def test_a_folder_of_the_same_name_that_the_shell_knows_is_not_what_is_deployed(tmp_path: Path) -> None:
    (tmp_path / "deploy").mkdir()
    done = subprocess.run(
        ["bash", "deploy/deploy.sh", "--dry-run", *PLACE, *CONNECTED],
        cwd=REPOSITORY,
        env={"PATH": os.environ["PATH"], "CDPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("gcloud services enable ")
    assert "gcloud functions deploy conversation-memory " in done.stdout


def test_each_target_that_is_deployed_is_a_function_of_main(empty: Project) -> None:
    _, calls = empty.deploy(*CONNECTED)
    source = (REPOSITORY / "main.py").read_text()
    there = set(re.findall(r"^def (\w+)\(", source, re.MULTILINE))
    assert {flag(call, "entry-point") for call in deployed(calls).values()} == there


@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which("gcloud") is None, reason="no gcloud here: its list of commands and flags is not known"
)
def test_gcloud_has_each_command_and_each_flag(empty: Project, tmp_path: Path) -> None:
    options = (*CONNECTED, "--metrics-key", "--invoker", "user:ada@example.com", "--build-service-account", "b@example")
    options += ("--content", "none", "--content-hash-key")
    printed, _ = empty.deploy("--dry-run", *options)
    commands = [
        command
        for line in printed.stdout.splitlines()
        for command in re.sub(r"^\w+=\$\((.*)\)$", r"\1", line).split(" >/dev/null 2>&1 || ")
    ]
    refused = unknown_to_gcloud([*commands, "gcloud functions deploy x --gen2 --no-such-flag"], tmp_path)
    assert [command for command in refused if "--no-such-flag" not in command] == []
    assert len(refused) == 1


def unknown_to_gcloud(commands: list[str], folder: Path) -> list[str]:
    """The commands that gcloud's own check of a command line refuses; no network is needed for it."""
    listed = folder / "commands.json"
    listed.write_text(json.dumps([{"command_string": command} for command in commands]))
    checked = subprocess.run(
        ["gcloud", "meta", "lint-gcloud-commands", f"--commands-file={listed}"],
        env={"PATH": str(Path(shutil.which("gcloud") or "").parent) + ":/usr/bin:/bin", "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    results = json.loads(checked.stdout)
    assert len(results) == len(set(commands))
    return [result["command_string"] for result in results if not result["success"]]
