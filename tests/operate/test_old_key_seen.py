"""Whether somebody still sends the old key is seen in the log, by the commands of docs/operate/encryption.md."""

from __future__ import annotations

from pathlib import Path

import httpx

from agent.core.api_keys import digest_of, name_of
from tests.live.host import FunctionHost, function_host
from tests.live.payloads import base
from tests.monitoring.desk import Desk, World
from tests.operate.page import blocks, text_of

OLD, NEW = "the-old-caller-key-0000", "the-new-caller-key-1111"
WHO_USES_IT, WHO_IS_REFUSED = (block for block in blocks(text_of("encryption"), "") if "logging read" in block)


def ask(host: FunctionHost, key: str | None) -> int:
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    return httpx.post(host.url, json=base(), headers=headers, timeout=60).status_code


def test_the_commands_of_the_page_show_who_still_uses_the_old_key_and_nobody_else(tmp_path: Path) -> None:
    with function_host(tmp_path, store="embedded::memory:", CAPTURE_API_KEYS=f"{NEW},{OLD}") as host:
        secrets = {"conversation-capture-keys": f"{NEW}\n{OLD}"}
        desk = Desk(tmp_path, World(secrets=secrets, logs={"conversation-memory": str(host.log_path)}))
        assert [ask(host, key) for key in (NEW, None, f"{OLD}x")] == [200, 401, 401]
        # As "Tools" of the runbook sets the path.
        who_uses_it = f"PATH=$PWD/.venv/bin:$PATH\n{WHO_USES_IT}"
        before = desk.type_alone(who_uses_it)
        assert ask(host, OLD) == 200
        after, refused = desk.type_alone(who_uses_it), desk.type_alone(WHO_IS_REFUSED)
        refs = {line.get("key_name") or line.get("reason"): line["execution_ref"] for line in host.log_lines()[1:]}
    assert [(said.code, said.err) for said in (before, after, refused)] == [(0, "")] * 3
    assert [key in said.out for key in (OLD, NEW) for said in (before, after, refused)] == [False] * 6
    old, new = (name_of(digest_of(key)) for key in (OLD, NEW))
    assert [line.split()[0] for line in before.out.splitlines()] == ["keys", new, old]
    assert after.out.removeprefix(before.out).split("\t")[1:] == ["capture acknowledged", f"{refs[old]}\n"]
    assert refused.out.split("\t")[1:] == ["conversation-memory", f"{refs['unknown']}\n"]
