"""The registry of foreign formats."""

import json

import pytest

from agent.errors import Problem, ValidationError
from agent.formats import READS, WRITES, format_named, reader
from schemas import openapi_bytes


@pytest.mark.parametrize("name", READS)
def test_every_format_is_detected_and_read_and_captured(name):
    assert {"detect", "read"} <= vars(format_named(name)).keys()
    assert callable(reader(name).read)


@pytest.mark.parametrize("name", WRITES)
def test_every_format_on_the_way_out_has_its_writer(name):
    assert "write" in vars(format_named(name))


def test_a_format_that_nobody_knows_has_no_module():
    with pytest.raises(LookupError):
        format_named("os")


@pytest.mark.parametrize("name", ["native", "OpenAI-Chat", "", "secret-value"])
def test_a_format_that_nobody_reads_is_refused_without_repeating_its_name(name):
    with pytest.raises(ValidationError) as refused:
        reader(name)
    assert refused.value.problems == (Problem("$", "enum"),)
    assert "secret" not in refused.value.message


def test_the_http_surface_names_the_formats_that_are_read():
    parameter = json.loads(openapi_bytes())["components"]["parameters"]["format"]
    assert tuple(parameter["schema"]["enum"]) == ("native", *READS)
