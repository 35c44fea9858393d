"""A limit in front of recall: 429 as described; health and the description have none."""

from agent.callers.rate_limit import RateLimit, limits_of
from agent.core.api_keys import ApiKeys
from tests.callers.clock import Clock
from tests.recall.http.site import error_of, site

KEY = "caller-key-0123456789"


def test_a_request_too_many_is_429_with_the_time_to_wait():
    clock = Clock()
    limit = RateLimit(limits_of("RATE_LIMIT", "2/minute"), monotonic_ns=clock)
    keys = ApiKeys.parse("RECALL_API_KEYS", KEY)
    authorization = {"Authorization": f"Bearer {KEY}"}
    with site(keys=keys, limit=limit) as made:
        assert {made.ask("/health").status_code for _ in range(9)} == {200}
        assert {made.ask("/api/conversations").status_code for _ in range(9)} == {401}
        answers = [made.ask("/api/conversations", headers=authorization) for _ in range(3)]
        assert [answer.status_code for answer in answers] == [200, 200, 429]
        assert answers[2].headers["Retry-After"] == "60"
        assert (error_of(answers[2])["error_code"], error_of(answers[2])["details"]) == (
            "RATE_LIMIT_EXCEEDED",
            {"limit": "rate"},
        )
        clock.wait(60)
        assert made.ask("/api/conversations", headers=authorization).status_code == 200
