"""What of a text is written for people: where names are looked for. Lines of code, of logs and of JSON are not."""

from __future__ import annotations

import re
from typing import Final

_FENCE: Final = "```"
# Each begins with its first character, so that the search can leap from one of those to the next.
_MARK: Final = re.compile(
    r"[{}\t=\-:!+<>/\\;(\"'_](?:(?<=[{}\t])|(?<==)[>=\"']|(?<= =) |(?<=-)>|(?<=[a-z]:):"
    r"|(?<=[!+<>])=|(?<=<)/|(?<=/)>|(?<=\\)n"
    r"|(?<=;)[ \t]*$|(?<=[A-Za-z_]\()(?!e?s\)|ies\))[^ )\n]{0,30}[,)]|(?<=[\"']): ?[\"'\[\d]|(?<=\w_)\w{1,40}_\w)",
    re.MULTILINE,
)
_BEGINNINGS: Final = (
    *("def ", "class ", "import ", "return ", "#include", "#!", "$ ", ">>> ", "// ", "/*", "diff ", "+++ ", "--- "),
    *("function ", "Traceback", 'File "'),
)
_NUMBERED: Final = re.compile(
    r"[ \t]{0,12}(?:\d{1,6}[:|\t]|\[?\d{4}-\d\d-\d\d[T ]\d\d:|@\w+\(|from [\w.]{1,80} import )"
)


def prose(text: str, *, is_fenced: bool) -> tuple[str, bool]:
    """``text`` with blanks for what is code, every character in its place; and whether it ends inside a fence.

    ``is_fenced`` says whether it begins inside one, which the piece before it has opened.
    """
    if _FENCE not in text:
        return (_blanked(text) if is_fenced else _without_code_lines(text)), is_fenced
    parts = []
    for number, part in enumerate(text.split(_FENCE)):
        if number:
            is_fenced = not is_fenced
        parts.append(_blanked(part) if is_fenced else _without_code_lines(part))
    return "\n\n\n".join(parts), is_fenced


def _without_code_lines(text: str) -> str:
    return "\n".join(_blanked(line) if _is_code(line) else line for line in text.split("\n"))


def _is_code(line: str) -> bool:
    if len(line) < 3:
        return False
    return line.lstrip().startswith(_BEGINNINGS) or _NUMBERED.match(line) is not None or _MARK.search(line) is not None


def _blanked(text: str) -> str:
    return "\n" * len(text)
