"""A canary as the value of every setting: a start that ends names the variable, one that goes on says nothing of it."""

from __future__ import annotations

import itertools
import logging
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from agent.bootstrap import capture_function, event_function, recall_function, store_function
from agent.observability.logs import LOGGER_NAME
from tests.deploy.code_settings import TARGETS, read_by
from tests.leaks.canaries import CANARIES, first_found

FUNCTIONS: Mapping[str, Callable[[Mapping[str, str]], Any]] = {
    "handler": capture_function,
    "capture_event": event_function,
    "recall": recall_function,
    "store": store_function,
}
CASES = [(target, name) for target in TARGETS for name in sorted(read_by(target))]
# As people set them: a word, a URL, several entries, a path.
SHAPES = (
    "{}",
    "https://{}@canary.example",
    "https://canary.example/{}",
    "acme:{}:write,acme:{}",
    "embedded:/{}/x.db",
    "/{}",
)


@pytest.fixture(autouse=True)
def logger() -> Iterator[None]:
    """The product's loggers, left as they were found."""
    loggers = [logging.getLogger(name) for name in (LOGGER_NAME, "store")]
    before = [(each, each.level, each.propagate, list(each.handlers)) for each in loggers]
    yield
    for each, level, propagate, handlers in before:
        each.setLevel(level)
        each.propagate, each.handlers = propagate, handlers


def test_each_function_is_started_here() -> None:
    assert sorted(FUNCTIONS) == sorted(TARGETS)


@pytest.mark.parametrize(("target", "name"), CASES)
def test_a_start_says_nothing_of_a_setting_but_its_name(
    target: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for canary, shape in itertools.product(CANARIES, SHAPES):
        value = shape.format(canary.text, canary.text)
        with ExitStack() as opened:
            try:
                opened.callback(close, FUNCTIONS[target]({"RUVECTOR_STORE": f"sqlite:///{tmp_path}/x.db", name: value}))
            except SystemExit:
                told = capsys.readouterr().err
                assert re.search(r"the function does not start: [A-Z0-9_]+: ", told) is not None
            else:
                told = capsys.readouterr().err
        assert first_found(told) is None


def close(function: Any) -> None:
    """Let go of a function's telemetry, wherever it is held."""
    for cell in function.__closure__ or ():
        telemetry = getattr(cell.cell_contents, "_telemetry", None)
        if telemetry is not None:
            telemetry.close()
