"""Terraform, deploy.sh, service.yaml, Dockerfile, cloudbuild.yaml say the same, and what the code reads, both ways."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache

import pytest
import yaml

from agent.capture.events.settings import event_settings
from agent.config import RecallSettings, Settings
from agent.content.policy import MODES
from agent.errors import ConfigurationError
from store.engines import postgres
from store.settings import StoreSettings
from tests.conftest import REPOSITORY
from tests.deploy.code_settings import TARGETS, THIRD_PARTY, is_known, may_be_set, names_in_the_code
from tests.deploy.descriptions import (
    DEPLOY,
    Grant,
    Service,
    dry_run,
    grants_of_script,
    grants_of_terraform,
    service_of_yaml,
    services_of_script,
    services_of_terraform,
    terraform_text,
    variables_of_files,
)
from tests.deploy.terraform_module import Module

NAMES = ("conversation-memory", "conversation-memory-events", "conversation-recall", "conversation-store")
DESCRIPTIONS = ("terraform", "deploy.sh", "service.yaml")
# What only Terraform gives: deploy.sh builds by the account that --build-service-account names, and leaves it to the
# caller who may publish.
OF_TERRAFORM_ALONE = {
    Grant("conversation-build", "roles/artifactregistry.writer", "conversation-memory"),
    Grant("conversation-build", "roles/logging.logWriter", "the project"),
    Grant("conversation-build", "roles/storage.objectViewer", "${var.project}-conversation-memory-source"),
    Grant("conversation-build", "roles/storage.objectViewer", "the project"),
    Grant("the named", "roles/pubsub.publisher", "conversation-captures"),
}
# Set in the image for pip, for Python and for whoever runs it.
OF_THE_IMAGE = {"PIP_DISABLE_PIP_VERSION_CHECK", "PIP_NO_CACHE_DIR", "PIP_ROOT_USER_ACTION", "PYTHONUNBUFFERED", "HOME"}
# Texts in the code that are written like variables and are none.
NO_VARIABLES = {
    "WSGI and CGI (RFC 3875)": {
        "CONTENT_LENGTH", "CONTENT_TYPE", "PATH_INFO", "QUERY_STRING", "RAW_URI", "REMOTE_ADDR", "REQUEST_METHOD",
        "REQUEST_URI", "SCRIPT_NAME", "SERVER_NAME", "SERVER_PORT", "SERVER_PROTOCOL",
    },
    "error codes": {
        "INTERNAL_ERROR", "RATE_LIMIT_EXCEEDED", "RUVECTOR_CONNECTION_ERROR", "RUVECTOR_WRITE_ERROR",
        "VALIDATION_ERROR",
    },
    "types of entities": {
        "DATE_TIME", "EMAIL_ADDRESS", "FILE_PATH", "FLIGHT_NUMBER", "IP_ADDRESS", "PHONE_NUMBER", "REFERENCE_CODE",
        "USER_ID", "WORK_OF_ART",
    },
    "options of sockets": {"TCP_INFO"},
    "classes of agents": {"MEMORY_READ", "MEMORY_WRITE"},
    "placeholders of the command line's help": {"EXECUTION_REF", "TURN_ID"},
    "endings of CONVERSATION_...": {"MAX_CONTEXT_TOKENS", "MAX_HISTORY_MESSAGES", "MIN_RECENT", "RESERVED_TOKENS"},
    "names of Python's own": {
        "LONGEST_MODEL", "LONGEST_QUERY", "LONG_GAP", "MAX_MESSAGES_IGNORED", "MOST_TOKENS", "OVER_MODEL_LIMIT",
        "UNKNOWN_MODEL",
    },
}  # fmt: skip


@cache
def module() -> Module:
    return Module()


@cache
def services(described: str) -> dict[str, Service]:
    """The services by name, as one description has them."""
    if described == "service.yaml":
        return {service_of_yaml().name: service_of_yaml()}
    return services_of_terraform(module()) if described == "terraform" else services_of_script()


def compared(service: Service) -> dict[str, object]:
    """What has to be the same everywhere: not what an option adds."""
    return {name: value for name, value in service._asdict().items() if name not in ("optional", "files")}


@pytest.mark.parametrize("name", NAMES)
def test_terraform_and_the_script_make_the_same_service(name: str) -> None:
    assert compared(services("deploy.sh")[name]) == compared(services("terraform")[name])


def test_they_make_the_same_services_and_no_other() -> None:
    assert sorted(services("deploy.sh")) == sorted(services("terraform")) == list(NAMES)
    assert [service.target for service in services("terraform").values()] == list(TARGETS)


def test_the_container_service_is_the_function_it_stands_for_without_what_options_add() -> None:
    service = service_of_yaml()
    function = services("terraform")[service.name]
    secrets = {name: secret for name, secret in function.secrets.items() if name not in function.optional_secrets}
    assert compared(service) == compared(function._replace(secrets=secrets, optional_secrets=frozenset()))


def test_what_the_container_service_shows_of_content_is_what_options_add_to_the_function() -> None:
    function = services("terraform")["conversation-memory"]
    shown = re.sub(r"^( *)# (?=- | )", r"\1", (DEPLOY / "service.yaml").read_text(), flags=re.MULTILINE)
    (container,) = yaml.safe_load(shown)["spec"]["template"]["spec"]["containers"]
    env = {each.pop("name"): each for each in container["env"]}
    assert env["CAPTURE_CONTENT"]["value"] in MODES
    assert env["CONTENT_HASH_KEY"]["valueFrom"]["secretKeyRef"]["name"] == function.secrets["CONTENT_HASH_KEY"]


def test_each_function_of_main_is_deployed() -> None:
    there = set(re.findall(r"^def (\w+)\(", (REPOSITORY / "main.py").read_text(), re.MULTILINE))
    assert there == {service.target for service in services("terraform").values()}


@pytest.mark.parametrize("described", DESCRIPTIONS)
def test_as_many_requests_come_at_once_as_the_server_has_threads(described: str) -> None:
    assert [
        service.name
        for service in services(described).values()
        if service.concurrency != service.threads or "THREADS" not in service.environment
    ] == []


@pytest.mark.parametrize("described", DESCRIPTIONS)
def test_each_variable_that_is_set_is_read_by_that_target(described: str) -> None:
    unread = {
        (service.name, name)
        for service in services(described).values()
        for name in {*service.environment, *service.optional, *service.secrets, *service.files}
        if not may_be_set(name, service.target)
    }
    assert unread == set()


@pytest.mark.parametrize("described", ["terraform", "deploy.sh"])
def test_what_an_option_adds_is_there_in_both(described: str) -> None:
    for name, service in services(described).items():
        assert ("LLM_OBSERVATORY_URL" in service.optional) == (service.target != "store"), name
        assert ("RATE_LIMIT" in service.optional) == (service.target in ("handler", "recall")), name
        assert ("CAPTURE_CONTENT" in service.optional) == (service.target in WRITERS), name
        assert ("CONTENT_HASH_KEY" in service.optional_secrets) == (service.target in WRITERS), name
        assert service.files == KEY_FILES.get(service.target, {}), name


def test_terraform_and_the_script_take_the_modes_that_the_code_takes() -> None:
    (condition,) = [each["condition"] for each in module().variables["capture_content"]["validation"]]
    assert re.findall(r'"(\w+)"', condition) == list(MODES)
    assert f"'|{'|'.join(MODES)}'" in (DEPLOY / "deploy.sh").read_text()


@pytest.mark.parametrize("target", TARGETS)
def test_the_callers_keys_are_given_to_no_function_that_does_not_start_with_them(target: str) -> None:
    environ = {name: VALUES[name] for name in VALUES if may_be_set(name, target)} | {"K_SERVICE": "one"}
    given = KEY_FILES.get(target, {})
    READERS[target]({**environ, **dict.fromkeys(given, "/etc/secrets/keys")})
    if target == "capture_event":
        for variable in ("CAPTURE_API_KEYS", "CAPTURE_API_KEYS_FILE"):
            with pytest.raises(ConfigurationError, match=f"^{variable}: guards nothing here"):
                READERS[target]({**environ, variable: VALUES["METRICS_KEY"]})


def test_the_image_is_by_default_the_capture_function() -> None:
    image, capture = variables_of_files()["Dockerfile"], services("terraform")["conversation-memory"]
    assert (image["FUNCTION_TARGET"], image["THREADS"]) == (capture.target, capture.threads)


@pytest.mark.parametrize("file", ["Dockerfile", "cloudbuild.yaml"])
def test_each_variable_of_the_image_and_its_build_is_read(file: str) -> None:
    assert variables_of_files()[file]
    unread = {
        name
        for name in variables_of_files()[file]
        if name not in OF_THE_IMAGE and not may_be_set(name, "handler") and name not in THIRD_PARTY
    }
    assert unread == set()


VALUES = {
    "RUVECTOR_SERVICE_URL": "https://conversation-store.example",
    "RUVECTOR_API_KEY": "0123456789abcdef01234567",
    "RUVECTOR_STORE": "postgresql+psycopg://memory:change-me@10.0.0.3/memory",
    "RUVECTOR_KEYS": "acme:0123456789abcdef01234567:write",
    "METRICS_KEY": "76543210fedcba9876543210",
    "CONTENT_HASH_KEY": "0123456789abcdef0123456789abcdef",
}
WRITERS = ("handler", "capture_event")
# Of each target the secret that an option mounts as the file that the variable names.
KEY_FILES = {
    "handler": {"CAPTURE_API_KEYS_FILE": "conversation-capture-keys"},
    "recall": {"RECALL_API_KEYS_FILE": "conversation-recall-keys"},
}
READERS = {
    "handler": Settings.of_capture_function,
    "capture_event": event_settings,
    "recall": RecallSettings.from_env,
    "store": StoreSettings.from_env,
}


@pytest.mark.parametrize("described", DESCRIPTIONS)
def test_with_what_is_set_each_target_starts_and_without_its_store_or_key_it_does_not(described: str) -> None:
    for service in services(described).values():
        names = {*service.environment, *service.secrets}
        environ = {name: VALUES[name] for name in names if name in VALUES} | {"K_SERVICE": service.name}
        READERS[service.target](environ)
        needed = {"RUVECTOR_STORE"} if service.target == "store" else {"RUVECTOR_SERVICE_URL", "RUVECTOR_API_KEY"}
        for name in needed:
            with pytest.raises(ConfigurationError, match=name):
                READERS[service.target]({key: value for key, value in environ.items() if key != name})


def test_terraform_and_the_script_give_the_same_roles() -> None:
    assert grants_of_script() == grants_of_terraform(module()) - OF_TERRAFORM_ALONE
    assert grants_of_terraform(module()) >= OF_TERRAFORM_ALONE


def test_each_secret_is_read_by_exactly_the_accounts_whose_service_has_it() -> None:
    wanted = {
        (each.account, secret)
        for each in services("terraform").values()
        for secret in (*each.secrets.values(), *each.files.values())
    }
    role = "roles/secretmanager.secretAccessor"
    assert {(grant.member, grant.place) for grant in grants_of_script() if grant.role == role} == wanted


def test_each_service_runs_as_an_account_of_its_own() -> None:
    accounts = [service.account for service in services("terraform").values()]
    assert len(set(accounts)) == len(accounts)
    made = {call[4] for call in dry_run() if call[1:4] == ["iam", "service-accounts", "create"]}
    assert made == {*accounts, "conversation-push"}
    others = {body["account_id"].strip('"') for body in module().resources("google_service_account").values()}
    assert {name for name in others if "$" not in name} == {"conversation-push", "conversation-build"}


def test_one_port_runs_through_the_image_its_build_and_its_service() -> None:
    image = (DEPLOY / "Dockerfile").read_text()
    (container,) = yaml.safe_load((DEPLOY / "service.yaml").read_text())["spec"]["template"]["spec"]["containers"]
    ports = {
        variables_of_files()["Dockerfile"]["PORT"],
        *re.findall(r"^EXPOSE (\d+)$", image, re.MULTILINE),
        *(str(port["containerPort"]) for port in container["ports"]),
        *(str(container[probe]["httpGet"]["port"]) for probe in ("startupProbe", "livenessProbe")),
        *re.findall(r"http://127\.0\.0\.1:(\d+)", (DEPLOY / "cloudbuild.yaml").read_text()),
    }
    assert ports == {"8080"}


def test_the_image_is_pushed_where_the_service_and_the_module_have_it() -> None:
    build = yaml.safe_load((DEPLOY / "cloudbuild.yaml").read_text())["substitutions"]
    (container,) = yaml.safe_load((DEPLOY / "service.yaml").read_text())["spec"]["template"]["spec"]["containers"]
    pushed = build["_IMAGE"].replace("${_REGION}", "REGION").replace("${PROJECT_ID}", "PROJECT_ID")
    assert container["image"] == pushed.replace("${_REPOSITORY}", build["_REPOSITORY"]) + ":VERSION"
    (repository,) = module().resources("google_artifact_registry_repository").values()
    assert module().value(repository["repository_id"]) == build["_REPOSITORY"]


def test_all_are_built_for_one_python_and_by_one_rule_for_bytecode() -> None:
    builds = [body["build_config"][0] for body in module().resources("google_cloudfunctions2_function").values()]
    calls = [call for call in dry_run() if call[:3] == ["gcloud", "functions", "deploy"]]
    (runtime,) = {module().value(build["runtime"]) for build in builds}
    assert {word for call in calls for word in call if word.startswith("--runtime=")} == {f"--runtime={runtime}"}
    (python,) = re.findall(r"^FROM python:(\d\.\d+)", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)
    assert runtime == "python" + python.replace(".", "")
    ((name, value),) = [
        (name, module().value(value)) for name, value in module().value(builds[0]["environment_variables"]).items()
    ]
    assert all(f"--set-build-env-vars={name}={value}" in call for call in calls)
    assert {build["environment_variables"] for build in builds} == {"${local.build_environment}"}


def test_terraform_and_the_script_make_the_same_queue() -> None:
    assert queue_of_script() == queue_of_terraform()


def queue_of_terraform() -> dict[str, str]:
    """The queue's figures as the module has them."""
    subscriptions = module().resources("google_pubsub_subscription")
    push, dead = subscriptions["push"], subscriptions["dead"]
    (retry,), (letters,), (pushed,) = push["retry_policy"], push["dead_letter_policy"], push["push_config"]
    found = {
        "queue": push["topic"], "name": push["name"], "ack": push["ack_deadline_seconds"],
        "retention": push["message_retention_duration"], "least": retry["minimum_backoff"],
        "most": retry["maximum_backoff"], "letters": letters["dead_letter_topic"],
        "attempts": letters["max_delivery_attempts"], "as": pushed["oidc_token"][0]["service_account_email"],
        "kept": dead["name"], "kept of": dead["topic"], "kept for": dead["message_retention_duration"],
        "kept ack": dead["ack_deadline_seconds"],
    }  # fmt: skip
    return {name: str(module().value(value)) for name, value in found.items()}


def queue_of_script() -> dict[str, str]:
    """The queue's figures as deploy.sh has them."""
    made = {call[4]: call for call in dry_run() if call[1:4] == ["pubsub", "subscriptions", "create"]}
    flags = {name: dict(word[2:].split("=", 1) for word in call if "=" in word) for name, call in made.items()}
    ((push_name, push),) = [(name, found) for name, found in flags.items() if "push-endpoint" in found]
    ((dead_name, dead),) = [(name, found) for name, found in flags.items() if "push-endpoint" not in found]
    return {
        "queue": push["topic"], "name": push_name, "ack": push["ack-deadline"],
        "retention": _seconds(push["message-retention-duration"]), "least": push["min-retry-delay"],
        "most": push["max-retry-delay"], "letters": push["dead-letter-topic"],
        "attempts": push["max-delivery-attempts"], "as": push["push-auth-service-account"].partition("@")[0],
        "kept": dead_name, "kept of": dead["topic"], "kept for": _seconds(dead["message-retention-duration"]),
        "kept ack": dead["ack-deadline"],
    }  # fmt: skip


def _seconds(days: str) -> str:
    return f"{int(days.removesuffix('d')) * 86400}s"


def test_a_delivery_is_given_up_later_than_the_function_is() -> None:
    (events,) = [service for service in services("terraform").values() if service.target == "capture_event"]
    assert int(queue_of_terraform()["ack"]) > int(events.timeout_s)


def test_the_database_gets_as_many_connections_as_the_store_takes() -> None:
    taken = module().value("${local.connections_an_instance}")
    assert taken == postgres._MAX_CONNECTIONS
    store = services("terraform")["conversation-store"]
    assert int(store.threads) <= taken
    needed = 2 * int(store.max_instances) * taken + module().value("${local.connections_kept_free}")
    assert needed <= module().value("${var.database_max_connections}")


def test_each_text_of_the_code_that_looks_like_a_variable_was_seen_to_be_read() -> None:
    excused = set().union(*NO_VARIABLES.values())
    unseen = {
        name: sorted(files)
        for name, files in names_in_the_code().items()
        if not is_known(name) and not name.startswith("HTTP_") and name not in excused
    }
    assert unseen == {}


def test_what_is_excused_stands_in_the_code() -> None:
    assert set().union(*NO_VARIABLES.values()) - set(names_in_the_code()) == set()


def test_the_secrets_that_are_no_service_s_are_none_of_the_module_s() -> None:
    secrets = {secret for service in services("terraform").values() for secret in service.secrets.values()}
    assert set(re.findall(r"conversation-(?:store|content)-[a-z-]+", terraform_text())) == secrets


def test_the_alerts_that_terraform_loads_have_what_it_takes_of_them() -> None:
    rules = yaml.safe_load((DEPLOY / "monitoring/alerts.yaml").read_text())["groups"]
    for rule in (rule for group in rules for rule in group["rules"] if "alert" in rule):
        wanted: Mapping[str, object] = rule["annotations"]
        assert {"summary", "description", "runbook"} <= set(wanted), rule["alert"]
        assert rule["labels"]["severity"] in {"page", "ticket"}, rule["alert"]
    intervals = {group.get("interval", "1m") for group in rules} | {
        rule["for"] for group in rules for rule in group["rules"] if "for" in rule
    }
    assert [each for each in intervals if not re.fullmatch(r"[0-9]+[smhd]", each)] == []
    json.loads((DEPLOY / "monitoring/dashboard.json").read_text())
