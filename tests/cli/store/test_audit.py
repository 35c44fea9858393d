"""``store audit`` says who erased, exported or administered what and when, and finds a person's by the digest."""

import hashlib
import json
from contextlib import closing
from pathlib import Path

import pytest

from agent.cli.exit_codes import ExitCode
from agent.cli.output_format import Format
from agent.cli.store.audit import AuditCommand
from agent.cli.store.expire import ExpireCommand
from store.urls import open_store
from tests.cli.store.running import capture, run
from tests.store.surface import Surface

ANN = "ann@example.com"
DIGEST = hashlib.sha256(ANN.encode()).hexdigest()[:32]
AT = "2026-03-02T08:15:00.000000Z"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store in which ann was exported and erased, bob's session too, and a user of another tenant."""
    path = tmp_path / "s.db"
    with closing(Surface(open_store(f"sqlite:///{path}"))) as surface:
        capture(surface, "hers", user=ANN)
        session = capture(surface, "his", user="bob")
        surface.get(f"/v1/users/{ANN}/export")
        surface.erase("user", ANN)
        surface.erase("session", session)
        with closing(Surface(surface.store, tenant="acme")) as other:
            capture(other, "another's", user=ANN)
            other.erase("user", ANN)
    return path


def rows(path: Path, user: str | None = None) -> list[dict[str, object]]:
    code, out, err = run(AuditCommand(user), path)
    assert (code, err) == (ExitCode.OK, "")
    document = json.loads(out)
    assert document["complete"] is True
    return list(document["audit"])


def test_every_act_is_listed_in_each_tenant_oldest_first(store: Path) -> None:
    listed = rows(store)
    assert [(row["tenant"], row["id"], row["action"]) for row in listed] == [
        ("default", 1, "export_user"),
        ("default", 2, "erase_user"),
        ("default", 3, "erase_session"),
        ("acme", 1, "erase_user"),
    ]
    assert {row["at"] for row in listed} == {AT}
    assert list(listed[0]) == ["tenant", "id", "at", "key_name", "action", "subject"]


def test_a_person_is_found_by_name_although_no_row_has_the_name(store: Path) -> None:
    found = rows(store, ANN)
    assert [(row["tenant"], row["action"]) for row in found] == [
        ("default", "export_user"),
        ("default", "erase_user"),
        ("acme", "erase_user"),
    ]
    assert {row["subject"] for row in found} == {DIGEST}
    assert ANN not in json.dumps(rows(store))


def test_people_see_the_digest_whole(store: Path) -> None:
    code, out, err = run(AuditCommand(ANN), store, Format.TABLE)
    assert (code, err) == (ExitCode.OK, "")
    head, *lines = out.splitlines()
    assert head.split() == ["at", "action", "subject", "by", "tenant"]
    assert [line.split()[:3] for line in lines] == [
        ["2026-03-02T08:15:00Z", action, DIGEST] for action in ("export_user", "erase_user", "erase_user")
    ]


def test_nobody_with_this_name_is_an_answer_and_said(store: Path) -> None:
    assert rows(store, "nobody") == []
    code, _, err = run(AuditCommand("nobody"), store, Format.TABLE)
    digest = hashlib.sha256(b"nobody").hexdigest()[:32]
    assert (code, err) == (ExitCode.OK, f"memory-graph: no act found on the user whose digest is {digest}\n")


def test_a_store_without_acts_has_an_empty_list(tmp_path: Path) -> None:
    with closing(Surface(open_store(f"sqlite:///{tmp_path / 's.db'}"))) as surface:
        capture(surface, "kept")
    assert rows(tmp_path / "s.db") == []
    assert run(AuditCommand(None), tmp_path / "s.db", Format.TABLE)[2] == "memory-graph: no act found\n"


def test_what_a_command_did_is_listed_as_its_own(tmp_path: Path) -> None:
    with closing(Surface(open_store(f"sqlite:///{tmp_path / 's.db'}"))) as surface:
        session = capture(surface, "old", timestamp="2026-01-01T00:00:00.000000Z")
    run(ExpireCommand("30d", dry_run=False, batch=1), tmp_path / "s.db")
    (row,) = rows(tmp_path / "s.db")
    assert (row["key_name"], row["action"], row["subject"]) == ("command-line", "erase_session", session)


def test_more_acts_than_a_page_holds_are_all_listed(tmp_path: Path) -> None:
    with closing(Surface(open_store(f"sqlite:///{tmp_path / 's.db'}"))) as surface:
        capture(surface, "hers", user=ANN)
        for _ in range(5):
            surface.erase("user", ANN)
    command = AuditCommand(None, page=2)
    listed = json.loads(run(command, tmp_path / "s.db")[1])["audit"]
    assert [row["id"] for row in listed] == [1, 2, 3, 4, 5]


def test_a_name_that_is_none_is_2_and_a_store_that_is_not_there_1(tmp_path: Path) -> None:
    code, _, err = run(AuditCommand(""), tmp_path / "none.db", Format.TABLE)
    assert (code, err) == (ExitCode.USAGE, "memory-graph: --user-id: is empty\n")
    assert run(AuditCommand(None), tmp_path / "none.db")[0] == ExitCode.STORE
    assert list(tmp_path.iterdir()) == []
