"""The ports of the capture side, faked, for whoever tests its HTTP surface."""

import pytest

from tests.capture.fakes import FakeStore, FakeTelemetry


@pytest.fixture
def store() -> FakeStore:
    return FakeStore()


@pytest.fixture
def telemetry() -> FakeTelemetry:
    return FakeTelemetry()
