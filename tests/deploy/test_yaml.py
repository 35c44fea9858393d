"""The YAML of the deployment and of the workflows: each fits its schema, and says what it must."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import REPOSITORY

SERVICE = REPOSITORY / "deploy/service.yaml"
SERVICE_SCHEMA = REPOSITORY / "deploy/schemas/cloud-run-service.schema.json"
WORKFLOW = REPOSITORY / ".github/workflows/ci.yml"
CHECK = Path(sys.executable).parent / "check-jsonschema"
# Decodes a service as `gcloud run services replace` does, with the types of Cloud Run's own API.
_AS_GCLOUD = """
import json, sys
sys.path[:0] = [sys.argv[1] + "/lib", sys.argv[1] + "/lib/third_party"]
from apitools.base.py import encoding
from googlecloudsdk.generated_clients.apis.run.v1 import run_v1_messages

def unknown(message, path):
    for name in message.all_unrecognized_fields():
        yield path + "." + str(name)
    for field in message.all_fields():
        value = message.get_assigned_value(field.name)
        for each in value if isinstance(value, list) else [value]:
            if hasattr(each, "all_unrecognized_fields") and field.name not in ("annotations", "limits"):
                yield from unknown(each, path + "." + field.name)

print(json.dumps(list(unknown(encoding.PyValueToMessage(run_v1_messages.Service, json.load(sys.stdin)), "service"))))
"""


def fits(file: Path, *schema: str) -> bool:
    """Whether ``file`` fits a schema, by the same program that ``make check`` runs."""
    return subprocess.run([CHECK, "--quiet", *schema, file], capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize(
    ("name", "schema", "planted"),
    [
        ("deploy/cloudbuild.yaml", ("--builtin-schema", "vendor.cloudbuild"), ("VERIFIED", "PROVEN")),
        (".github/workflows/ci.yml", ("--builtin-schema", "vendor.github-workflows"), ("runs-on:", "run-on:")),
        ("deploy/service.yaml", ("--schemafile", str(SERVICE_SCHEMA)), ("/maxScale", "/max-scale")),
        ("deploy/service.yaml", ("--schemafile", str(SERVICE_SCHEMA)), ("key: latest", "key: newest")),
        ("deploy/service.yaml", ("--schemafile", str(SERVICE_SCHEMA)), ("containerConcurrency", "concurrency")),
        ("deploy/service.yaml", ("--schemafile", str(SERVICE_SCHEMA)), ("/cpu-throttling", "/cpu-throttle")),
        ("deploy/service.yaml", ("--schemafile", str(SERVICE_SCHEMA)), ("/openapi.json", "/healthz")),
        ("deploy/service.yaml", ("--schemafile", str(SERVICE_SCHEMA)), ("percent: 100", "percent: 10")),
    ],
)
def test_each_file_fits_its_schema_and_a_misspelt_one_does_not(
    tmp_path: Path, name: str, schema: tuple[str, ...], planted: tuple[str, str]
) -> None:
    text = (REPOSITORY / name).read_text()
    assert fits(REPOSITORY / name, *schema)
    assert planted[0] in text
    (tmp_path / "planted.yaml").write_text(text.replace(*planted))
    assert not fits(tmp_path / "planted.yaml", *schema)


@pytest.mark.skipif(shutil.which("gcloud") is None, reason="no gcloud here: the types of Cloud Run's API are not known")
def test_the_service_has_no_field_that_cloud_run_does_not_know() -> None:
    service = yaml.safe_load(SERVICE.read_text())
    assert unknown_to_cloud_run(service) == []
    service["spec"]["template"]["spec"]["timeout"] = 30
    assert unknown_to_cloud_run(service) == ["service.spec.template.spec.timeout"]


def unknown_to_cloud_run(service: dict[str, Any]) -> list[str]:
    """The fields that gcloud's own decoding of a service leaves over."""
    located = subprocess.run(
        ["gcloud", "info", "--format=value(installation.sdk_root,basic.python_location)"],
        capture_output=True,
        text=True,
        check=True,
    )
    root, python = located.stdout.split()
    decoded = subprocess.run(
        [python, "-c", _AS_GCLOUD, root], input=json.dumps(service), capture_output=True, text=True, check=True
    )
    unknown: list[str] = json.loads(decoded.stdout)
    return unknown


def test_each_action_is_pinned_to_a_commit_and_says_its_version() -> None:
    uses = re.findall(r"uses: *(\S+)(.*)", WORKFLOW.read_text())
    assert len(uses) >= 4
    for action, comment in uses:
        assert re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", action), action
        assert re.fullmatch(r" # v\d+\.\d+\.\d+", comment), (action, comment)


def test_the_workflow_may_read_and_nothing_else_and_runs_what_ci_runs() -> None:
    workflow = yaml.safe_load(WORKFLOW.read_text())
    assert workflow["permissions"] == {"contents": "read"}
    assert all("permissions" not in job for job in workflow["jobs"].values())
    runs = [step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step]
    assert runs == ["bash .ci/run", 'scripts/release.sh --tag "$GITHUB_REF_NAME"']
    # A name that somebody chose never becomes a part of a script.
    assert not any("${{" in run for run in runs)


def test_the_workflow_tests_each_python_that_the_package_names() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    named = [found[1] for each in project["classifiers"] if (found := re.search(r":: (3\.\d+)$", each))]
    assert yaml.safe_load(WORKFLOW.read_text())["jobs"]["test"]["strategy"]["matrix"]["python"] == named


def test_the_image_that_is_built_is_the_one_that_the_service_runs() -> None:
    build = yaml.safe_load((REPOSITORY / "deploy/cloudbuild.yaml").read_text())
    names = build["substitutions"]
    image = names["_IMAGE"].replace("${_REPOSITORY}", names["_REPOSITORY"])
    built = image.replace("${_REGION}", "REGION").replace("${PROJECT_ID}", "PROJECT_ID")
    (container,) = yaml.safe_load(SERVICE.read_text())["spec"]["template"]["spec"]["containers"]
    assert container["image"] == f"{built}:VERSION"
    assert build["images"] == ["${_IMAGE}:${_VERSION}"]
