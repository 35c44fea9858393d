"""Mutated real bodies against the running function: no 5xx, no HTML, no long refusal, memory flat.

Half of them are damaged in their bytes, half in their structure, which leaves them JSON and takes them further in.

FUZZ_BODIES says how many (2 000 in the suite; `make fuzz` sends 10 000), FUZZ_SEED which ones.
"""

import os
import random

import httpx
import psutil

from tests.fuzz.corpus import originals
from tests.fuzz.mutation import mutated, restructured
from tests.live.host import function_host, stub_store
from tests.published import check_response

BODIES = int(os.environ.get("FUZZ_BODIES", "2000"))
SEED = int(os.environ.get("FUZZ_SEED") or "20261127")


def test_a_fuzzed_body_is_captured_or_refused_and_nothing_else(tmp_path):
    rng = random.Random(SEED)
    sources = originals()
    statuses: dict[int, int] = {}
    with (
        stub_store() as store,
        function_host(tmp_path, store=store.url, LOG_LEVEL="ERROR") as host,
        httpx.Client(base_url=host.url, timeout=30, event_hooks={"response": [check_response]}) as client,
    ):
        worker = psutil.Process(host.workers()[0])
        before = 0
        for number in range(BODIES):
            path, body = rng.choice(sources)
            damage = rng.choice([mutated, restructured])
            answer = client.post(path, content=damage(body, rng))
            statuses[answer.status_code] = statuses.get(answer.status_code, 0) + 1
            assert answer.status_code in {200, 400, 413}, (SEED, number, answer.text[:300])
            assert answer.headers["content-type"] == "application/json"
            if answer.status_code != 200:
                assert len(answer.content) < 16 * 1024
            if number == BODIES // 4:
                before = worker.memory_info().rss
        grown = worker.memory_info().rss - before
    print(f"{BODIES} bodies, seed {SEED}: {statuses}, worker grew {grown / 2**20:.1f} MiB after the first quarter")
    assert len(store.writes) == statuses.get(200, 0)
    assert grown < 16 * 2**20
