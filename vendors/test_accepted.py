"""Every document that our writers make is taken by its vendor's own types, but for those that ``refused`` names."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from accepting import ACCEPTING
from refused import REFUSED

WRITTEN = Path(os.environ.get("WRITTEN", Path(__file__).resolve().parents[1] / "build/vendors"))
HOWS = ("stored", "bare", "other")


def records(form: str, how: str) -> list[dict[str, Any]]:
    lines = (WRITTEN / f"{form}.jsonl").read_text(encoding="utf-8").splitlines()
    return [record for record in map(json.loads, lines) if record["how"] == how]


def refusal(form: str, record: dict[str, Any]) -> Exception | None:
    try:
        ACCEPTING[form](record["document"], exact=record["how"] != "stored")
    except Exception as error:  # noqa: BLE001  # whatever a vendor raises is a refusal
        return error
    return None


@pytest.mark.parametrize("form", ACCEPTING)
@pytest.mark.parametrize("how", HOWS)
def test_every_document_is_taken_by_its_vendors_own_types(
    form: str, how: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = records(form, how)
    errors = {record["name"]: error for record in found if (error := refusal(form, record)) is not None}
    expected = {name for name, written in REFUSED.get(form, {}) if written == how} & {each["name"] for each in found}
    with capsys.disabled():
        print(f"\n{form}, {how}: {len(found)} documents, {len(errors)} refused ", end="")
    assert found, f"nobody wrote a document of {form}"
    assert {name: str(error)[:2000] for name, error in errors.items() if name not in expected} == {}
    assert expected <= errors.keys(), "these are no longer refused: take them off the list"
