"""The dashboard is one that Cloud Monitoring takes, and shows every metric that we send."""

from __future__ import annotations

import itertools
import json

from agent.observability.metric_table import METRICS
from tests.monitoring.prometheus_names import metric_name
from tests.monitoring.queries import DASHBOARD, dashboard_queries, named_in

DOCUMENT = json.loads(DASHBOARD.read_text())
TILES = DOCUMENT["mosaicLayout"]["tiles"]


def test_it_has_a_name_and_each_tile_a_title_and_one_widget() -> None:
    assert DOCUMENT["displayName"]
    assert {len(tile["widget"]) for tile in TILES} == {2}
    assert all(tile["widget"]["title"] for tile in TILES)
    assert {kind for tile in TILES for kind in tile["widget"]} == {"title", "xyChart", "scorecard"}


def test_no_tile_lies_outside_or_over_another() -> None:
    areas = [(tile["xPos"], tile["yPos"], tile["width"], tile["height"]) for tile in TILES]
    assert all(x + width <= DOCUMENT["mosaicLayout"]["columns"] for x, _, width, _ in areas)
    for (x, y, width, height), (x2, y2, width2, height2) in itertools.combinations(areas, 2):
        assert x + width <= x2 or x2 + width2 <= x or y + height <= y2 or y2 + height2 <= y


def test_every_metric_that_the_functions_send_is_shown() -> None:
    sent = {metric_name(each.name, each.unit, is_counter=each.kind == "counter") for each in METRICS}
    shown = {
        named.metric.removesuffix("_bucket").removesuffix("_sum").removesuffix("_count")
        for query in dashboard_queries()
        for named in named_in(query)
    }
    assert sent - shown == set()
