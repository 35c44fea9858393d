"""What ``apply_context_window`` gives: a list, or a provider's document, that also has its account.

Either is the plain list or dictionary that it looks like: equal to it, written as JSON like it, and sent like it. What
is made of it (a slice, a copy of its own, a sum) is a plain one. Pickled and copied it keeps its account.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from agent.core.window.manifest import Choice, Manifest


@dataclass(frozen=True)
class _Told:
    """An account that holds nothing of the conversation."""

    all_choices: tuple[Choice, ...]
    tokens_by_role: tuple[tuple[str, int], ...]
    hashed: str

    def choices(self) -> tuple[Choice, ...]:
        return self.all_choices

    def by_role(self) -> dict[str, int]:
        return dict(self.tokens_by_role)

    def hash(self) -> str:
        return self.hashed


def _alone(manifest: Manifest) -> Manifest:
    """``manifest`` without the conversation and the counter that it is worked out from."""
    return replace(manifest, account=_Told(manifest.choices, tuple(manifest.by_role.items()), manifest.hash))


class ContextMessages(list[Any]):
    """The messages that fit, in the form that they were given in: a list, with the account of what is not in it.

    ``manifest`` has a choice for each message that was given, in their order; one that is only sent with another (the
    reasoning before an item) shares its choice.
    """

    manifest: Manifest

    def __init__(self, messages: Iterable[Any], manifest: Manifest) -> None:
        super().__init__(messages)
        self.manifest = manifest

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (list(self), _alone(self.manifest))

    def __copy__(self) -> ContextMessages:
        return type(self)(self, self.manifest)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is close to its limit, by name."""
        return self.manifest.warnings


class ContextDocument(dict[str, Any]):
    """A provider's document, which the client is called with: a dictionary, with the account of what is not in it.

    ``left_out`` counts by kind what the provider's format does not say of the messages.
    """

    manifest: Manifest
    left_out: dict[str, int]

    def __init__(self, document: Mapping[str, Any], manifest: Manifest, left_out: Mapping[str, int]) -> None:
        super().__init__(document)
        self.manifest = manifest
        self.left_out = dict(left_out)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self), _alone(self.manifest), self.left_out)

    def __copy__(self) -> ContextDocument:
        return type(self)(self, self.manifest, self.left_out)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is close to its limit, by name."""
        return self.manifest.warnings
