"""Every JSON Schema of ``schemas/`` says that it is 2020-12 and is valid by that meta-schema.

``openapi.json`` and ``*.openapi.json`` are no JSON Schemas: openapi-spec-validator looks at them. Refuses a folder
without schemas.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def problems(folder: Path) -> list[str]:
    """What is wrong with the schemas in ``folder``, a sentence each; empty where nothing is."""
    files = sorted(file for file in folder.glob("*.json") if not file.name.endswith("openapi.json"))
    if not files:
        return [f"{folder.name}: no JSON Schema"]
    return [f"{file.name}: {problem}" for file in files if (problem := _problem(file.read_bytes()))]


def _problem(text: bytes) -> str | None:
    try:
        schema = json.loads(text)
    except ValueError:
        return "not JSON"
    if not isinstance(schema, dict) or schema.get("$schema") != DIALECT:
        return f"$schema is not {DIALECT}"
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return f"{error.json_path} breaks {error.validator}"
    return None


def main() -> int:
    """Print the problems; the exit code says whether there are any."""
    found = problems(Path(__file__).resolve().parents[1] / "schemas")
    for problem in found:
        print(problem, file=sys.stderr)
    if not found:
        print("JSON Schemas: valid")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
