"""What every test may ask for: golden vectors, and the shared data where it is at hand."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# How long something takes on a machine that others use too fails no test.
settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")

pytest_plugins = ("tests.leak_watch",)

TESTS = Path(__file__).parent
REPOSITORY = TESTS.parent


def shared_folder() -> Path:
    """The folder with data and schemas that are not ours to commit; SHARED_DIR overrides where it is."""
    return Path(os.environ.get("SHARED_DIR", REPOSITORY.parent / "shared"))


def vectors(folder: str = ".") -> list[dict]:
    """The golden cases of tests/vectors, in order of their names."""
    return [json.loads(path.read_bytes()) for path in sorted((TESTS / "vectors" / folder).glob("[0-9]*.json"))]


@pytest.fixture(scope="session")
def shared() -> Path:
    """The shared folder; a fresh clone has none of it."""
    folder = shared_folder()
    if not folder.is_dir():
        pytest.skip(f"no shared data at {folder}: a fresh clone has none (SHARED_DIR names another place)")
    return folder


@pytest.fixture(scope="session")
def published_schema(shared: Path) -> dict:
    """The published contract's schema, which is not ours to commit."""
    return json.loads((shared / "public" / "conversation-memory.schema.json").read_bytes())
