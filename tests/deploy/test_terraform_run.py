"""Terraform itself on the module: it validates, plans and applies against the provider's schema, no cloud behind it."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY
from tests.deploy.terraform_module import TERRAFORM

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("terraform") is None, reason="no terraform here: the module is not planned"),
    pytest.mark.skipif(importlib.util.find_spec("grpc") is None, reason="no grpcio here: Terraform gets no provider"),
]
Terraform = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def attached() -> Iterator[str]:
    """What tells a Terraform how to reach the provider that has the schema alone."""
    provider = Path(__file__).parent / "schema_provider.py"
    with subprocess.Popen(
        [sys.executable, str(provider)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("{"), "the provider did not start"
        yield line
        process.communicate()


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The module in a folder that it may be changed in, with the monitoring that it loads beside it."""
    of_this_machine = shutil.ignore_patterns(".terraform*", "*.tfstate*", "*.tfvars")
    shutil.copytree(TERRAFORM, tmp_path / "deploy/terraform", ignore=of_this_machine)
    shutil.copytree(REPOSITORY / "deploy/monitoring", tmp_path / "deploy/monitoring")
    return tmp_path / "deploy/terraform"


@pytest.fixture
def terraform(attached: str, copy: Path, tmp_path: Path) -> Terraform:
    """Runs Terraform in the copied module."""
    settings = tmp_path / "terraform.rc"
    settings.write_text("disable_checkpoint = true\n")
    variables = {"TF_REATTACH_PROVIDERS": attached, "TF_CLI_CONFIG_FILE": str(settings), "TF_IN_AUTOMATION": "1"}

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["terraform", *words, "-no-color"],
            cwd=copy,
            env=os.environ | variables,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_the_module_is_valid(terraform: Terraform) -> None:
    done = terraform("validate")
    assert (done.returncode, done.stderr) == (0, "")


def test_the_module_s_own_tests_pass(terraform: Terraform) -> None:
    done = terraform("test")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("... pass") == 1 + (TERRAFORM / "tests/module.tftest.hcl").read_text().count('\nrun "')


@pytest.mark.parametrize(
    ("file", "written", "instead", "said"),
    [
        ("services.tf", "available_cpu ", "available_cpus ", "Unsupported argument"),
        ("queue.tf", "google_pubsub_topic.dead.id", "google_pubsub_topic.dead.ids", "Unsupported attribute"),
        ("locals.tf", "var.store_metrics ?", "var.store_metric ?", "Reference to undeclared input variable"),
        ("sql.tf", "tier ", "# tier ", "Missing required argument"),
    ],
)
def test_a_fault_is_found_by_terraform_too(
    terraform: Terraform, copy: Path, file: str, written: str, instead: str, said: str
) -> None:
    text = (copy / file).read_text()
    assert written in text
    (copy / file).write_text(text.replace(written, instead, 1))
    done = terraform("validate")
    assert done.returncode == 1
    assert said in done.stderr


def test_a_binding_that_opens_the_store_to_the_internet_is_refused(terraform: Terraform, copy: Path) -> None:
    text = (copy / "locals.tf").read_text()
    head, store = text.split("    store = {", 1)
    (copy / "locals.tf").write_text(head + "    store = {" + store.replace("ALLOW_INTERNAL_ONLY", "ALLOW_ALL", 1))
    done = terraform("test", "-filter=tests/module.tftest.hcl")
    assert done.returncode == 1
    assert "only callers of the network may reach it" in " ".join(done.stderr.replace("│", " ").split())
