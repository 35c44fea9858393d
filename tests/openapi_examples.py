"""The examples that stand in a description of an HTTP surface."""

from typing import Any


def examples(components: dict[str, Any]) -> list[tuple[str, dict[str, Any], Any]]:
    """Every example in JSON: its name, its schema, its value."""
    found = []
    for kind in ("responses", "requestBodies"):
        for name, component in components[kind].items():
            media = component.get("content", {}).get("application/json", {})
            found += [
                (f"{name}:{key}", media["schema"], one["value"]) for key, one in media.get("examples", {}).items()
            ]
    return found
