"""A person that OpenAI's own field names, through the whole product: posted to the function, and erased at the store.

And the entities of such a capture, read back as docs/entities.md says.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from agent import ConversationMemory
from agent.cli.exit_codes import ExitCode
from agent.cli.memory.taking_away.erase import EraseCommand
from agent.cli.output_format import Format
from tests.cli.memory.event_store import ran
from tests.conftest import REPOSITORY
from tests.live.host import function_host
from tests.live.stored import served
from tests.published import check_answer

pytestmark = pytest.mark.slow

PAGE = (REPOSITORY / "docs" / "entities.md").read_text()
READ_BACK = PAGE[PAGE.index("## Read back") : PAGE.index("## Types")]
SAID = "Write to bob@example.org about it."


class Site(NamedTuple):
    """The function's address, the store's, and the file under it."""

    function: str
    store: str
    file: Path


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    file = tmp_path / "store.db"
    with served(file) as store, function_host(tmp_path, store=store) as function:
        yield Site(function.url, store, file)


def post(site: Site, **more: Any) -> Any:
    body = {"session_id": "s", "messages": [{"role": "user", "content": SAID}], **more}
    answer = httpx.post(f"{site.function}/?format=openai-chat", json=body, timeout=60).json()
    check_answer(answer)
    assert answer["success"], answer
    return answer


def test_a_person_that_the_field_user_names_is_erased_by_that_id(site: Site) -> None:
    assert post(site, user="ann-9")["warnings"] == []
    [listed] = httpx.get(f"{site.store}/v1/sessions", params={"user_id": "ann-9"}).json()["sessions"]
    assert listed["users"] == ["ann-9"]
    command = EraseCommand(session=None, turn=None, user="ann-9", yes=True)
    code, receipt, _ = ran(command, site.store, Format.JSON)
    assert (code, json.loads(receipt)["turns"]) == (ExitCode.OK, 1)
    [turn] = httpx.get(f"{site.store}/v1/sessions/{listed['session_id']}/turns").json()["turns"]
    assert turn["erased"] is True
    files = [each.read_bytes() for each in site.file.parent.glob("store.db*")]
    assert not any(text in each for text in (SAID.encode(), b"ann-9") for each in files)


def test_entities_are_read_back_over_http_and_in_python_as_the_page_says(site: Site) -> None:
    answer = post(site, capture_options={"extract_entities": True})
    entities, ref = answer["output"]["entities"], answer["decision_event"]["execution_ref"]
    assert [entity["text"] for entity in entities] == ["bob@example.org"]
    assert answer["decision_event"]["outputs"]["entities"] == entities

    (path,) = re.findall(r"^```http\nGET (.*)\n```$", READ_BACK, re.MULTILINE)
    event = httpx.get(site.store + path.format(execution_ref=ref)).json()
    assert event["payload"]["outputs"]["entities"] == entities
    (listed,) = re.findall(r"`GET (\S+\?session_id=\S+)`", READ_BACK)
    page = httpx.get(site.store + listed.format(session_id=answer["output"]["session_id"])).json()
    assert [each["payload"]["outputs"]["entities"] for each in page["events"]] == [entities]

    (program,) = re.findall(r"^```python\n(.*?)^```$", READ_BACK, re.MULTILINE | re.DOTALL)
    with ConversationMemory(site.store) as memory:
        named = {"memory": memory, "execution_ref": ref}
        exec(program, named)  # the page's own snippet
    assert named["entities"] == entities
