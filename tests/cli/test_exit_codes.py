import pytest

from agent.cli.exit_codes import ExitCode, exit_code_of
from agent.errors import (
    AgentError,
    ConfigurationError,
    IdempotencyConflict,
    InternalError,
    NewerContract,
    PayloadTooLarge,
    RateLimitExceeded,
    StoreConnectionError,
    StoreWriteError,
    ValidationError,
)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (StoreConnectionError("down"), 1),
        (StoreWriteError("refused", upstream_status=500), 1),
        (RateLimitExceeded("slow down"), 1),
        (ValidationError("bad"), 2),
        (PayloadTooLarge("big"), 2),
        (IdempotencyConflict("used"), 2),
        (ConfigurationError("RUVECTOR_SERVICE_URL", "bad"), 2),
        (NewerContract(2), 5),
        (InternalError("ours"), 70),
    ],
)
def test_every_error_has_its_exit_code(error: AgentError, code: int) -> None:
    assert exit_code_of(error) == code


def test_the_codes_are_those_that_are_documented() -> None:
    assert {code.name: int(code) for code in ExitCode} == {
        "OK": 0,
        "STORE": 1,
        "USAGE": 2,
        "DIFFERS": 3,
        "PARTLY": 4,
        "NOT_POSSIBLE": 5,
        "INTERNAL": 70,
        "NOT_WRITTEN": 74,
        "INTERRUPTED": 130,
        "CLOSED_PIPE": 141,
    }
