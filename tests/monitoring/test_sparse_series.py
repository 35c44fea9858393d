"""Few captures on short-lived instances are counted: each brings a series that was not there before."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from scripts.expand_monitoring import FILES, FOLDER, expanded, main, source_of
from tests.monitoring.prometheus_names import Series
from tests.monitoring.promtool import Rows, firing, row

COUNTER = "conversation_memory_captures_total"


def rules(folder: Path, query: str) -> Path:
    file = folder / "rules.yaml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "one", "rules": [{"alert": "Grew", "expr": query}]}]}))
    return file


def one_failure_each(*starts: int) -> Rows:
    """An instance at each of these minutes that counts one failure, exports it once, and is gone."""
    return [row(Series.of(COUNTER, {"instance": f"i-{start}"}), f"_x{start} 1") for start in starts]


def test_three_failures_of_three_instances_are_three(tmp_path: Path) -> None:
    query = expanded(f"added({COUNTER}[10m]) == 3")
    assert firing(rules(tmp_path, query), one_failure_each(30, 33, 36), [37], tmp_path) == {37: {"Grew"}}


def test_prometheus_own_increase_sees_none_of_them(tmp_path: Path) -> None:
    query = f"sum(increase({COUNTER}[10m])) > 0"
    assert firing(rules(tmp_path, query), one_failure_each(30, 33, 36), range(60), tmp_path) == {}


def test_what_grew_before_the_window_does_not_count(tmp_path: Path) -> None:
    rows = [row(Series.of(COUNTER, {"instance": "i-1"}), "2+2x60")]
    query = expanded(f"added({COUNTER}[5m]) == 10")
    assert firing(rules(tmp_path, query), rows, [50], tmp_path) == {50: {"Grew"}}


def test_an_instance_that_said_nothing_for_an_hour_is_not_counted_anew(tmp_path: Path) -> None:
    rows = [row(Series.of(COUNTER, {"instance": "i-1"}), "7 _x59 8")]
    query = expanded(f"added({COUNTER}[5m]) == 1")
    assert firing(rules(tmp_path, query), rows, [60], tmp_path) == {60: {"Grew"}}


def test_an_instance_that_is_gone_takes_nothing_away(tmp_path: Path) -> None:
    gone = row(Series.of(COUNTER, {"instance": "i-1"}), "100+100x20")
    lives = row(Series.of(COUNTER, {"instance": "i-2"}), "_x40 4")
    query = expanded(f"added({COUNTER}[10m]) == 4")
    assert firing(rules(tmp_path, query), [gone, lives], [42], tmp_path) == {42: {"Grew"}}


@pytest.mark.parametrize(
    "text", ["added(a)", "added(a[1d])", "added(sum(a)[5m])", "added by (a[5m])", "added(a[5m] offset 1h)"]
)
def test_an_added_of_another_shape_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"not added\(SELECTOR\[WINDOW\]\)"):
        expanded(text)


@pytest.mark.parametrize("name", FILES)
def test_each_file_is_what_its_source_says(name: str) -> None:
    assert (FOLDER / name).read_text() == expanded(source_of(name).read_text())
    assert main(["--check"]) == 0
