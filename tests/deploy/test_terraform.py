"""The Terraform module: as terraform fmt writes it, each name in it known, each block as the provider has it."""

from __future__ import annotations

import ast
import importlib.util
import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import REPOSITORY
from tests.deploy.terraform_module import TERRAFORM, Module, arguments, references

SCHEMA = json.loads((Path(__file__).parent / "google_provider.json").read_text())
# What Terraform itself takes in a block of any provider.
META = {"count", "depends_on", "for_each", "lifecycle", "provider", "provisioner"}
needs_terraform = pytest.mark.skipif(
    shutil.which("terraform") is None, reason="no terraform here: its own check of form is left out"
)


@pytest.fixture(scope="module")
def module() -> Module:
    return Module()


@needs_terraform
def test_the_files_are_as_terraform_fmt_writes_them() -> None:
    done = subprocess.run(
        ["terraform", "fmt", "-check", "-diff", "-recursive", str(TERRAFORM)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_each_file_is_parsed_and_holds_something(module: Module) -> None:
    assert {block.file for block in module.blocks} == {path.name for path in module.files}
    assert len(module.files) >= 10


def test_each_reference_names_something_of_the_module(module: Module) -> None:
    assert unresolved(module) == []


def test_each_variable_is_used_and_says_what_it_is_for(module: Module) -> None:
    used = {re.split(r"[.\[]", found)[1] for block in module.blocks for found in references(block.body)}
    assert sorted(set(module.variables) - used) == []
    silent = [name for name, body in module.variables.items() if "description" not in body or "type" not in body]
    assert silent == []


def test_each_local_is_used(module: Module) -> None:
    used = {re.split(r"[.\[]", found)[1] for block in module.blocks for found in references(block.body)}
    assert sorted(set(module.locals) - used) == []


def test_each_resource_is_as_the_provider_has_it(module: Module) -> None:
    assert schema_problems(module) == []


def test_each_exported_attribute_that_is_read_is_one(module: Module) -> None:
    wrong = []
    for block in module.blocks:
        for found in references(block.body):
            place = re.match(r"(?P<data>data\.)?(?P<type>google_\w+)\.\w+(?:\[[^\]]*\])?\.(?P<name>\w+)", found)
            if place:
                schema = SCHEMA["data" if place["data"] else "resource"][place["type"]]
                if place["name"] not in {
                    name for kind in ("arguments", "exported", "blocks") for name in schema.get(kind, ())
                }:
                    wrong.append(found)
    assert wrong == []


def test_the_schema_is_that_of_the_provider_that_the_module_asks_for(module: Module) -> None:
    (terraform,) = [block.body for block in module.blocks if block.kind == "terraform"]
    asked = terraform["required_providers"][0]["google"]["version"].strip('"')
    assert asked.startswith("~> ")
    assert SCHEMA["provider"].rpartition(".")[0] == asked.removeprefix("~> ")


def test_no_role_is_given_in_the_project_but_to_the_build(module: Module) -> None:
    given = {
        (name, body["role"].strip('"'), body["member"])
        for name, body in module.resources("google_project_iam_member").items()
    }
    build = "${google_service_account.build.member}"
    assert given == {
        ("build_logs", "roles/logging.logWriter", build),
        ("build_source", "roles/storage.objectViewer", build),
    }
    (condition,) = module.resources("google_project_iam_member")["build_source"]["condition"]
    assert "gcf-v2-sources-" in condition["expression"]


def test_everybody_may_call_the_store_alone_and_only_from_inside(module: Module) -> None:
    public = [labels for labels, body in module.of("resource").items() if "allUsers" in str(body.get("member", ""))]
    assert public == [("google_cloud_run_v2_service_iam_member", "store")]
    assert module.value("${local.services.store.ingress}") == "ALLOW_INTERNAL_ONLY"


def test_no_secret_passes_through_the_state(module: Module) -> None:
    kinds = {kind for kind, _ in module.of("resource")}
    assert kinds & {"google_secret_manager_secret_version", "google_sql_user"} == set()


def test_the_targets_of_the_readme_s_first_step_are_those_that_the_module_s_own_test_applies(module: Module) -> None:
    targets = re.findall(r"-target=([\w.]+)", (TERRAFORM / "README.md").read_text())
    (tested,) = re.findall(r"target = \[(.*)\]", (TERRAFORM / "tests/module.tftest.hcl").read_text())
    assert targets == tested.split(", ")
    assert all(tuple(target.split(".")) in module.of("resource") for target in targets)


def test_the_readme_names_each_variable_and_each_output(module: Module) -> None:
    rows = set(re.findall(r"^\| `(\w+)` \|", (TERRAFORM / "README.md").read_text(), re.MULTILINE))
    assert rows == set(module.variables) | {name for (name,) in module.of("output")}


def test_a_misspelt_argument_and_a_missing_one_are_found(tmp_path: Path) -> None:
    shutil.copytree(TERRAFORM, tmp_path / "t")
    queue = tmp_path / "t/queue.tf"
    queue.write_text(queue.read_text().replace("minimum_backoff", "min_backoff").replace("ttl = ", "time = ", 1))
    assert schema_problems(Module(tmp_path / "t")) == [
        "google_pubsub_subscription.push.expiration_policy has no time",
        "google_pubsub_subscription.push.expiration_policy needs ttl",
        "google_pubsub_subscription.push.retry_policy has no min_backoff",
    ]


def test_a_reference_to_nothing_is_found(tmp_path: Path) -> None:
    shutil.copytree(TERRAFORM, tmp_path / "t")
    (tmp_path / "t/more.tf").write_text(
        'output "more" {\n  value = "${google_pubsub_topic.deed.id} ${var.regoin}"\n}\n'
    )
    assert unresolved(Module(tmp_path / "t")) == ["more.tf: google_pubsub_topic.deed.id", "more.tf: var.regoin"]


def unresolved(module: Module) -> list[str]:
    """The references, with their files, that name nothing of the module."""
    there = {
        "var": set(module.variables),
        "local": set(module.locals),
        "data": {name for name, _ in module.of("data")},
    }
    missing = []
    for block in module.blocks:
        for found in references(block.body):
            head, name, *_ = found.split(".")
            name = name.partition("[")[0]
            if name not in there.get(head, module.resources(head)):
                missing.append(f"{block.file}: {found}")
    return missing


def schema_problems(module: Module) -> list[str]:
    """What the provider would refuse: names that it does not have, and required ones that are missing."""
    return [
        problem
        for kind in ("resource", "data")
        for (type_, name), body in module.of(kind).items()
        for problem in _block_problems(f"{type_}.{name}", body, SCHEMA[kind][type_])
    ]


def _block_problems(place: str, body: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[str]:
    blocks = schema.get("blocks", {})
    there = {name: value for name, value in arguments(body).items() if name not in META}
    within = [(name, inner) for name, value in there.items() if name in blocks for inner in value]
    for dynamic in there.pop("dynamic", []):
        ((label, block),) = dynamic.items()
        within += [(label.strip('"'), inner) for inner in block["content"]]
    names = set(there) | {name for name, _ in within}
    yield from (f"{place} has no {name}" for name in sorted(names - set(schema.get("arguments", {})) - set(blocks)))
    yield from (f"{place} needs {name}" for name in schema.get("required", []) if name not in names)
    for name, inner in within:
        if name in blocks:
            yield from _block_problems(f"{place}.{name}", inner, blocks[name])


def test_the_schema_covers_the_types_that_are_used_and_no_other(module: Module) -> None:
    for kind in ("resource", "data"):
        assert {labels[0] for labels in module.of(kind)} == set(SCHEMA[kind])


GENERATED = """
class Thing(_cdktf_9a.TerraformResource):
    @jsii.member(jsii_name="tfResourceType")
    @builtins.property
    def tf_resource_type(self): ...
    @builtins.property
    def email(self): ...
    @builtins.property
    def name_input(self): ...

class ThingConfig(_cdktf_9a.TerraformMetaArguments):
    def __init__(
        self, *, count: typing.Any = None, name: builtins.str, ipv4enabled: typing.Optional[typing.Union[
        builtins.bool, _cdktf_9a.IResolvable]] = None, rules: typing.Optional[typing.Union[_cdktf_9a.IResolvable,
        typing.Sequence[typing.Union["ThingRules", typing.Dict[builtins.str, typing.Any]]]]] = None,
    ) -> None:
        '''
        :param name: Its name. {@link https://x/docs/resources/thing#name Thing#name}
        :param ipv4enabled: Yes. {@link https://x/docs/resources/thing#ipv4_enabled Thing#ipv4_enabled}
        '''

class ThingRules:
    def __init__(self, *, ports: typing.Sequence[jsii.Number]) -> None: ...
"""


def test_the_schema_is_read_from_what_was_generated_of_the_provider() -> None:
    path = REPOSITORY / "scripts/extract_provider_schema.py"
    spec = importlib.util.spec_from_file_location("extract_provider_schema", path)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.resource_schema(ast.parse(GENERATED)) == {
        "arguments": {"name": "string", "ipv4_enabled": "bool"},
        "blocks": {"rules": {"arguments": {"ports": "list(number)"}, "required": ["ports"], "many": True}},
        "required": ["name"],
        "exported": ["email"],
    }
