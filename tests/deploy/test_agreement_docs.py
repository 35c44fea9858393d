"""The documents name what the code reads and what is deployed, all of it and nothing else."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.deploy.code_settings import COMMAND_LINE, THIRD_PARTY, is_known, may_be_set, read_by
from tests.deploy.descriptions import DEPLOY, Service, dry_run, services_of_terraform, terraform_text
from tests.deploy.documented import (
    OPERATE,
    README,
    deploy_commands,
    documents,
    operate_documents,
    ours,
    resources_named,
    roles_named,
    service_rows,
    settings_of,
    variables_named,
)
from tests.deploy.terraform_module import Module

# Which target's settings a table is about.
TABLES = {
    "README.md": ("handler", "capture_event", "recall"),
    "docs/recall.md": ("recall",),
    "docs/semantic.md": ("recall",),
    "docs/store.md": ("store",),
}
# Read, and no settings to choose: set by the platform.
NO_CHOICE = {"K_SERVICE"}
# Error codes, and names that a document warns of.
NO_SETTINGS = {
    "RUVECTOR_CONNECTION_ERROR", "RUVECTOR_WRITE_ERROR", "CAPTURE_API_KEY", "RECALL_API_KEY", "CAPTURE_CONTENTS",
}  # fmt: skip
WORD = r"(?<![\w$])[A-Z][A-Z0-9_]+"
# Roles of others than our accounts: who deploys, the project's build account, agents for a key, a collector.
OF_OTHERS = {
    "roles/iam.serviceAccountUser", "roles/owner", "roles/cloudkms.cryptoKeyEncrypterDecrypter",
    "roles/cloudbuild.builds.builder", "roles/cloudtrace.agent", "roles/monitoring.metricWriter",
}  # fmt: skip


@cache
def services() -> dict[str, Service]:
    return services_of_terraform(Module())


def of_project(path: Path) -> str:
    return str(path.relative_to(REPOSITORY))


@pytest.mark.parametrize("document", TABLES)
def test_each_setting_of_a_table_is_read_by_what_the_table_is_about(document: str) -> None:
    settings = settings_of(REPOSITORY / document)
    assert settings
    assert [name for name in sorted(settings) if not any(may_be_set(name, target) for target in TABLES[document])] == []


@pytest.mark.parametrize("target", ["handler", "capture_event", "recall", "store"])
def test_each_setting_that_a_target_reads_stands_in_a_table(target: str) -> None:
    tables = set().union(*(settings_of(REPOSITORY / name) for name, targets in TABLES.items() if target in targets))
    read = {name for name in read_by(target) if not name.startswith("OTEL_")} - NO_CHOICE
    if target != "handler":
        read.discard("CAPTURE_API_KEYS")  # the events function reads it to refuse it
    assert sorted(read - tables) == []


def test_what_is_no_choice_is_named_where_a_reader_looks() -> None:
    texts = [path.read_text() for path in [README, REPOSITORY / "docs/command-line.md"]]
    unnamed = [name for name in NO_CHOICE | COMMAND_LINE if not any(re.search(rf"\b{name}\b", text) for text in texts)]
    assert sorted(unnamed) == []


@pytest.mark.parametrize("document", documents(), ids=of_project)
def test_each_variable_of_ours_that_a_document_names_is_read_by_somebody(document: Path) -> None:
    assert unknown(ours(variables_named(document)), document.read_text()) == []


def unknown(names: set[str], text: str) -> list[str]:
    """Those that nobody reads. A shell's or a shown program's own variable is used in the same text."""
    own = set(re.findall(r"(?:\$\{?|environ\[\")(\w+)", text)) | set(re.findall(r'"(\w+)" in os\.environ', text))
    return [name for name in sorted(names - own - NO_SETTINGS) if not is_known(name)]


def test_each_file_of_the_deployment_names_variables_of_ours_that_somebody_reads() -> None:
    # In a script a name alone may be a word of its help; what it sets is followed by a sign.
    patterns = {".sh": r"(?<![\w$])[A-Z][A-Z0-9_]+(?==)", ".yaml": WORD, ".tf": WORD, ".hcl": WORD, "": WORD}
    files = [path for path in sorted(DEPLOY.rglob("*")) if path.is_file() and ".terraform" not in path.parts]
    texts = {path: path.read_text() for path in files if path.suffix in patterns}
    named = {path: ours(set(re.findall(patterns[path.suffix], text))) for path, text in texts.items()}
    assert {path.name: wrong for path, text in texts.items() if (wrong := unknown(named[path], text))} == {}
    assert "RUVECTOR_API_KEY" in named[DEPLOY / "service.yaml"] & named[DEPLOY / "deploy.sh"]
    assert "RUVECTOR_SERVICE_URL" in named[DEPLOY / "terraform/services.tf"]


@pytest.mark.parametrize("document", [README, *operate_documents()], ids=of_project)
def test_each_command_that_deploys_a_function_deploys_it_as_agreed(document: Path) -> None:
    for name, flags in deploy_commands(document):
        service = services()[name]
        said = {
            "entry-point": service.target,
            "memory": {service.memory, service.memory + "B"},
            "timeout": {service.timeout_s, service.timeout_s + "s"},
            "max-instances": service.max_instances,
            "concurrency": service.concurrency,
        }
        for flag, expected in said.items():
            assert flag not in flags or flags[flag] in ({expected} if isinstance(expected, str) else expected), flag
        if "service-account" in flags:
            assert flags["service-account"].partition("@")[0] == service.account
        for pair in flags.get("set-env-vars", "").split(","):
            assert not pair or may_be_set(pair.partition("=")[0], service.target), pair
        for pair in filter(None, flags.get("set-secrets", "").split(",")):
            variable, _, secret = pair.partition("=")
            assert service.secrets.get(variable) == secret.partition(":")[0], pair


@pytest.mark.parametrize("document", [README, *operate_documents()], ids=of_project)
def test_each_row_about_a_service_says_of_it_what_is_deployed(document: Path) -> None:
    columns = {
        "target": "target", "account": "account", "memory": "memory", "concurrency": "concurrency",
        "timeout": "timeout_s", "instances": "max_instances",
    }  # fmt: skip
    for row in service_rows(document):
        service = services()[row["service"]]
        for column, name in columns.items():
            if column in row:
                cell = re.sub(r"(?<=\d)(Mi)?(?:B|s)$", r"\1", row[column].replace(" ", ""))
                assert cell == getattr(service, name), (row["service"], column)


def test_the_module_s_readme_has_a_row_for_each_service() -> None:
    assert [row["service"] for row in service_rows(DEPLOY / "terraform/README.md")] == list(services())


@pytest.mark.parametrize("document", operate_documents(), ids=of_project)
def test_each_name_of_a_service_an_account_a_secret_or_a_topic_is_one_that_is_made(document: Path) -> None:
    made = set(re.findall(r'"(conversation-[a-z-]+)"', terraform_text())) | {"conversation-memory-agent"}
    # What a page has its reader make himself, such as a collector.
    made |= set(re.findall(r"gcloud [a-z -]+ (?:create|deploy) (conversation-[a-z-]+)", document.read_text()))
    assert sorted(resources_named(document) - made) == []


def test_each_service_secret_and_topic_is_named_in_the_documents_for_who_operates_it() -> None:
    named = set().union(*map(resources_named, OPERATE.glob("*.md")))
    secrets = {
        secret for service in services().values() for secret in (*service.secrets.values(), *service.files.values())
    }
    subscriptions = {call[4] for call in dry_run() if call[1:4] == ["pubsub", "subscriptions", "create"]}
    topics = {call[4] for call in dry_run() if call[1:4] == ["pubsub", "topics", "create"]}
    assert sorted({*services(), *secrets, *subscriptions, *topics} - named) == []


@pytest.mark.parametrize("document", operate_documents(), ids=of_project)
def test_each_role_that_a_document_names_is_given_to_somebody(document: Path) -> None:
    given = set(re.findall(r"roles/[a-zA-Z.]+\w", terraform_text() + (DEPLOY / "deploy.sh").read_text()))
    assert sorted(roles_named(document) - given - OF_OTHERS) == []


def test_the_module_s_readme_names_each_role_that_the_module_gives() -> None:
    given = set(re.findall(r'"(roles/[a-zA-Z.]+)"', terraform_text()))
    assert sorted(given - roles_named(DEPLOY / "terraform/README.md")) == []


def test_what_others_read_is_said_to_be_read_by_somebody() -> None:
    assert [name for name, reader in THIRD_PARTY.items() if len(reader) < 10] == []
