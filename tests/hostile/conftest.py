"""Real servers, shared by the tests of a file."""

from collections.abc import Iterator

import pytest

from tests.hostile.targets import Target, targets


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Target]]:
    with targets(tmp_path_factory.mktemp("hostile")) as made:
        yield made
