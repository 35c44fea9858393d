"""What a fake ``gcloud`` does: it answers out of the JSON file GCLOUD_WORLD, whose members are those of ``desk.World``.

Prints as gcloud does, as far as the runbook asks it. What changes something is written down in ``calls`` alone. Ends
with 1 for what the world does not have, and with 64 for a command or a format that is not known here.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

# Commands that change the project, by their beginnings.
_CHANGES = (
    "config set", "auth login", "services enable", "secrets create", "compute", "run services update",
    "run services add-iam", "sql",
    "pubsub subscriptions ack", "logging logs delete",
)  # fmt: skip
_LISTS = ("run revisions list", "secrets versions list", "pubsub subscriptions describe", "logging sinks list")
_CONDITION = re.compile(r'([\w.]+)(>=|=)"?([^"]*)"?')
# Where a service's standard error goes.
_LOG = "projects/my-project/logs/run.googleapis.com%2Fstderr"
_WORD = re.compile(r'"([^"]+)"')


def main(words: list[str]) -> None:
    """Answer the command ``words``, without the word gcloud itself."""
    folder = Path(os.environ["GCLOUD_WORLD"])
    world = json.loads((folder / "world.json").read_text())
    with (folder / "calls").open("a") as calls:
        calls.write(json.dumps(words) + "\n")
    command = " ".join(words)
    if command.startswith(("run services describe", "secrets versions access")):
        print(*_described(world, words))
    elif command.startswith("secrets versions add"):
        world["added"].append([words[3], sys.stdin.read()])
        (folder / "world.json").write_text(json.dumps(world))
    elif command == "auth print-identity-token":
        print("a-token")
    elif command.startswith("logging read"):
        for entry in _entries(world["logs"]):
            if _holds(entry, words[2]):
                print(_shown(entry, _flag(words, "format")))
    elif command.startswith("pubsub subscriptions pull"):
        print(json.dumps(world["dead"]))
    elif not command.startswith((*_CHANGES, *_LISTS)):
        _end(64, f"what is {command}?")


def _described(world: dict[str, Any], words: list[str]) -> Iterator[str]:
    if words[0] == "secrets":
        yield world["secrets"].get(_flag(words, "secret")) or _end(1, "NOT_FOUND: no such secret")
    elif _flag(words, "format") == "json":
        env = [{"name": name, "value": value} for name, value in world["variables"].items()]
        yield json.dumps({"spec": {"template": {"spec": {"containers": [{"env": env}]}}}})
    else:
        yield world["services"].get(words[3]) or _end(1, "NOT_FOUND: no such service")


def _entries(logs: dict[str, str]) -> Iterator[dict[str, Any]]:
    """The JSON lines of each service's log, as Cloud Logging keeps them."""
    for service, path in logs.items():
        for line in Path(path).read_text(errors="replace").splitlines():
            if line.startswith("{"):
                payload = json.loads(line)
                labels = {"labels": {"service_name": service}, "type": "cloud_run_revision"}
                yield {"jsonPayload": payload, "resource": labels, "severity": payload.get("severity"), "logName": _LOG}


def _holds(entry: dict[str, Any], conditions: str) -> bool:
    """Whether each condition holds. One by ``>=`` does where the field is there: no levels are compared here.

    A word in quotation marks holds where it stands in any field.
    """
    for condition in conditions.split(" AND "):
        if word := _WORD.fullmatch(condition):
            if word[1] not in json.dumps(entry["jsonPayload"], ensure_ascii=False):
                return False
            continue
        parsed = _CONDITION.fullmatch(condition)
        name, sign, wanted = parsed.groups() if parsed else _end(64, f"what is {condition}?")
        value = _value(entry, name)
        if value is None or (sign == "=" and json.dumps(value).strip('"') != wanted):
            return False
    return True


def _shown(entry: dict[str, Any], form: str) -> str:
    if names := re.fullmatch(r"value\((.*)\)", form):
        values = (_value(entry, name) for name in names[1].split(","))
        return "\t".join("" if value is None else str(value) for value in values)
    return json.dumps(entry)


def _value(entry: dict[str, Any], path: str) -> Any:
    value: Any = entry
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _flag(words: list[str], name: str) -> str:
    return next((after for word, after in itertools.pairwise(words) if word == f"--{name}"), "")


def _end(code: int, said: str) -> NoReturn:
    print(f"gcloud: {said}", file=sys.stderr)
    sys.exit(code)


if __name__ == "__main__":
    main(sys.argv[1:])
