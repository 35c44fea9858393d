"""YAML that a YAML 1.1 and a YAML 1.2 reader read as the same strings.

The versions disagree on what a bare word means: ``no``, ``on``, ``1:30`` and dates are no strings for 1.1, ``1e3``,
``0o17`` and ``08`` none for 1.2. So a string is bare only if it is a word of letters and underscores that no version
gives a meaning; every other string is double-quoted.
"""

from __future__ import annotations

import re
from typing import Any, Final

import yaml

_BARE: Final = re.compile(r"[A-Za-z_]+\Z", re.ASCII)
# YAML 1.1 type repository (bool, null, and float's words) and the YAML 1.2 core schema, in lower case.
_MEANINGFUL: Final = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null", "inf", "nan"})


class _Dumper(yaml.SafeDumper):
    """PyYAML's safe dumper without anchors, and with its strings quoted by the rule above."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - the base class calls it with the value
        """Write a value again where it comes again: an anchor would be one more thing to explain."""
        return True


def _string(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    bare = _BARE.match(text) is not None and text.lower() not in _MEANINGFUL
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if bare else '"')


_Dumper.add_representer(str, _string)


def yaml_text(value: dict[str, Any] | list[Any], *, allow_unicode: bool = True) -> str:
    """``value``, a JSON object or array, as one YAML document in block style; without ``allow_unicode`` as ASCII."""
    # No line is folded: a width beyond every line.
    text: str = yaml.dump(
        value, Dumper=_Dumper, sort_keys=False, allow_unicode=allow_unicode, default_flow_style=False, width=2**31
    )
    return text
