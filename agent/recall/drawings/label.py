r"""Labels of a drawing that is sent to another program: a text's start on one line, of visible characters alone.

Whoever reads the answer may print it on a terminal: what would act there, or hide, stands as an escape (``\x1b``).
"""

from __future__ import annotations


def label(text: str, width: int) -> str:
    """The start of ``text`` in at most ``width`` characters, white space as single blanks, ``...`` where it was cut."""
    # An escape has ten characters at most, and blanks may fall together: what is behind this is cut in any case.
    line = " ".join(text[: 4 * width].split())
    shown = "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in line)
    is_whole = len(text) <= 4 * width and len(shown) <= width
    return shown if is_whole else shown[: width - 3].rstrip() + "..."
