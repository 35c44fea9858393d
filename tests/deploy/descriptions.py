"""What Terraform, deploy.sh and service.yaml each say of the services, in one form, so that they can be compared."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tests.conftest import REPOSITORY
from tests.deploy.terraform_module import TERRAFORM, Module

DEPLOY = REPOSITORY / "deploy"
_NAME = re.compile(r"\b[A-Z][A-Z0-9_]+(?= = )")
_INGRESS = {"ALLOW_ALL": "all", "ALLOW_INTERNAL_ONLY": "internal-only"}
_EGRESS = {"ALL_TRAFFIC": "all", "PRIVATE_RANGES_ONLY": "private-ranges-only", "all-traffic": "all"}
_PLACEHOLDERS = {"${each.value}": "the named", '"allUsers"': "everybody", "${local.pubsub_agent}": "Pub/Sub"}


class Service(NamedTuple):
    """One service. ``environment`` holds the names that are always set, ``optional`` those that an option adds, and
    ``secrets`` the secret of each variable that comes from one, those of an option included: ``optional_secrets`` are
    their names. ``files`` is the secret that is mounted as the file which a variable names: each of them by an option.
    """

    name: str
    target: str
    account: str
    memory: str
    cpu: str
    threads: str
    concurrency: str
    timeout_s: str
    max_instances: str
    ingress: str
    egress: str
    environment: frozenset[str]
    optional: frozenset[str]
    secrets: Mapping[str, str]
    optional_secrets: frozenset[str]
    files: Mapping[str, str]


class Grant(NamedTuple):
    """A role that ``member`` has at ``place``: an account's own name, or who it is."""

    member: str
    role: str
    place: str


# --- Terraform ---


def services_of_terraform(module: Module) -> dict[str, Service]:
    """The services of the module, by name, with its variables at their defaults."""
    functions = module.resources("google_cloudfunctions2_function")
    found = {}
    for key, written in module.locals["services"].items():
        (config,) = functions["store" if key == "store" else "caller"]["service_config"]
        always, _, optional = config["environment_variables"].partition("}")
        assert config["max_instance_request_concurrency"].endswith("value.threads}" if key != "store" else ".threads}")
        extra = str(module.locals["telemetry"]) if "local.telemetry" in optional else ""
        for each in ("limits", "content"):
            extra += str(module.locals[each]) if f"local.{each}" in str(written[each]) else ""
        others = ("secrets", "key_files", "limits", "content")
        one = {name: str(module.value(value)) for name, value in written.items() if name not in others}
        found[one["name"]] = Service(
            **{name: one[name] for name in ("name", "target", "account", "memory", "cpu", "threads", "max_instances")},
            concurrency=one["threads"],
            timeout_s=one["timeout"],
            ingress=_INGRESS[one["ingress"]],
            egress=_EGRESS[one["egress"]],
            environment=frozenset(_NAME.findall(always)),
            optional=frozenset(_NAME.findall(extra)),
            secrets=_secrets(written["secrets"]),
            optional_secrets=frozenset(_NAME.findall(" ".join(re.findall(r"\? \{[^}]*\}", str(written["secrets"]))))),
            files=_secrets(written["key_files"]),
        )
    return found


def _secrets(written: Mapping[str, str] | str) -> dict[str, str]:
    if isinstance(written, str):
        return dict(re.findall(r'([A-Z_]+) = "([\w-]+)"', written))
    return {name: value.strip('"') for name, value in written.items() if name.isupper()}


def grants_of_terraform(module: Module) -> set[Grant]:
    """Every role that the module gives."""
    return {grant for labels, body in module.of("resource").items() for grant in _grants(module, labels[0], body)}


def _grants(module: Module, kind: str, body: Mapping[str, Any]) -> Iterator[Grant]:
    if not kind.endswith("_iam_member"):
        return
    role, member = module.value(body["role"]), body["member"]
    if kind == "google_secret_manager_secret_iam_member":
        for service in services_of_terraform(module).values():
            secrets = [*service.secrets.values(), *service.files.values()]
            yield from (Grant(service.account, role, secret) for secret in secrets)
        return
    places = ("service_account_id", "subscription", "repository", "bucket", "topic", "name", "project")
    place = next(body[name] for name in places if name in body)
    who = _PLACEHOLDERS.get(member) or module.value(member)
    yield Grant(who, role, "the project" if place == "${var.project}" else str(module.value(place)).rpartition("/")[2])


# --- deploy.sh ---

# What adds a secret.
_WITH_KEYS = ("--metrics-key", "--capture-keys", "--recall-keys", "--content-hash-key")
# What adds a variable.
_WITH_MORE = ("--observatory-url", "https://otlp.example", "--rate-limit", "9/second", "--content", "none")


def dry_run(*options: str) -> list[list[str]]:
    """The commands that deploy.sh prints, as words."""
    place = ("--project", "my-project", "--region", "europe-west6", "--vpc-connector", "inside")
    script = ["bash", str(DEPLOY / "deploy.sh"), "--dry-run", *place, *options]
    printed = subprocess.run(script, capture_output=True, text=True, check=True)
    lines = re.sub(r"^\w+=\$\((.*)\)$", r"\1", printed.stdout, flags=re.MULTILINE).splitlines()
    return [shlex.split(command) for line in lines for command in line.split(" >/dev/null 2>&1 || ")]


def services_of_script() -> dict[str, Service]:
    """The services that deploy.sh makes, by name: with no option, and what its options add."""
    always = {call[3]: _flags(call) for call in dry_run() if call[:3] == ["gcloud", "functions", "deploy"]}
    more = {
        call[3]: _flags(call)
        for call in dry_run(*_WITH_MORE, *_WITH_KEYS)
        if call[:3] == ["gcloud", "functions", "deploy"]
    }
    found = {}
    for name, flags in always.items():
        environment, with_all = _pairs(flags["set-env-vars"]), _pairs(more[name]["set-env-vars"])
        secrets = {key: value.removesuffix(":latest") for key, value in _pairs(more[name]["set-secrets"]).items()}
        # A variable whose value is the path of a secret.
        files = {variable: secrets.pop(path) for variable, path in with_all.items() if path in secrets}
        found[name] = Service(
            name=name,
            target=flags["entry-point"],
            account=flags["service-account"].partition("@")[0],
            memory=flags["memory"],
            cpu=flags["cpu"],
            threads=environment["THREADS"],
            concurrency=flags["concurrency"],
            timeout_s=flags["timeout"].removesuffix("s"),
            max_instances=flags["max-instances"],
            ingress=flags["ingress-settings"],
            egress=flags["egress-settings"],
            environment=frozenset(environment),
            optional=frozenset(with_all) - set(environment) - set(files),
            secrets=secrets,
            optional_secrets=frozenset(secrets) - set(_pairs(flags["set-secrets"])),
            files=files,
        )
    return found


def grants_of_script() -> set[Grant]:
    """Every role that deploy.sh gives."""
    found = set()
    for call in dry_run("--invoker", "group:the-named@example.com", *_WITH_KEYS):
        flags = _flags(call)
        if "add-iam-policy-binding" in call:
            place = call[call.index("add-iam-policy-binding") + 1].partition("@")[0]
            found.add(Grant(_member(flags["member"]), flags["role"], place))
        if "--allow-unauthenticated" in call:
            found.add(Grant("everybody", "roles/run.invoker", call[3]))
    return found


def _member(written: str) -> str:
    if "gcp-sa-pubsub" in written:
        return "Pub/Sub"
    return "the named" if "the-named" in written else written.removeprefix("serviceAccount:").partition("@")[0]


def _flags(call: list[str]) -> dict[str, str]:
    return dict(word[2:].split("=", 1) for word in call if word.startswith("--") and "=" in word)


def _pairs(written: str) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in written.split(","))


# --- service.yaml ---


def service_of_yaml() -> Service:
    """The service that service.yaml describes."""
    written = yaml.safe_load((DEPLOY / "service.yaml").read_text())
    template = written["spec"]["template"]
    notes, spec = template["metadata"]["annotations"], template["spec"]
    (container,) = spec["containers"]
    plain = {each["name"]: each["value"] for each in container["env"] if "value" in each}
    return Service(
        name=written["metadata"]["name"],
        target=plain.pop("FUNCTION_TARGET"),
        account=spec["serviceAccountName"].partition("@")[0],
        memory=container["resources"]["limits"]["memory"],
        cpu=container["resources"]["limits"]["cpu"],
        threads=plain["THREADS"],
        concurrency=str(spec["containerConcurrency"]),
        timeout_s=str(spec["timeoutSeconds"]),
        max_instances=notes["autoscaling.knative.dev/maxScale"],
        ingress=written["metadata"]["annotations"]["run.googleapis.com/ingress"],
        egress=_EGRESS[notes["run.googleapis.com/vpc-access-egress"]],
        environment=frozenset(plain),
        optional=frozenset(),
        secrets={
            each["name"]: each["valueFrom"]["secretKeyRef"]["name"] for each in container["env"] if "valueFrom" in each
        },
        optional_secrets=frozenset(),
        files={},
    )


def variables_of_files() -> dict[str, dict[str, str]]:
    """The variables that Dockerfile and cloudbuild.yaml set for a running function, with their values, by file."""
    dockerfile = (DEPLOY / "Dockerfile").read_text()
    lines = re.findall(r"^ENV (.+)$", dockerfile, re.MULTILINE)
    build = (DEPLOY / "cloudbuild.yaml").read_text()
    return {
        "Dockerfile": dict(pair.split("=", 1) for line in lines for pair in shlex.split(line)),
        "cloudbuild.yaml": dict(re.findall(r"--env=(\w+)=(\S+)", build)),
    }


def terraform_text() -> str:
    """All of the module, as it is written."""
    return "\n".join(path.read_text() for path in sorted(Path(TERRAFORM).glob("*.tf")))
