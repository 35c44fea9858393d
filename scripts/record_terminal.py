"""Records commands of the README on a real terminal, each tour as ``docs/<name>.cast`` and ``docs/<name>.svg``.

Each command runs in a pseudo-terminal, in a folder of its own with an embedded store, and what it printed is kept as
it was: as an asciicast v2 (``asciinema play``), and as an SVG that plays in a browser. The pauses for reading are ours,
and so are the seconds between lines; nothing else is. Refuses to record a command that fails.
"""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import struct
import subprocess  # nosec B404 # it records what commands print
import sys
import tempfile
import termios
from pathlib import Path
from typing import Final, NamedTuple
from xml.sax.saxutils import escape  # nosec B406 # it writes; nothing is parsed

from rich.color import Color
from rich.text import Text

_REPOSITORY: Final = Path(__file__).resolve().parents[1]
_COLUMNS: Final = 110
_ROWS: Final = 34
_PROMPT: Final = "$ "
_MEMORY: Final = "memory-graph agent conversation-memory"
_PAUSE_S: Final = 2.5
_LINE_S: Final = 0.05
_CHARACTER_S: Final = 0.02

_CELL: Final = (8.4, 18.0)
_MARGIN: Final = 16
_DEFAULT: Final = "#d7dae0"


class Shown(NamedTuple):
    """A line of the recording with its ANSI sequences, and the second at which it stands there."""

    at: float
    text: str


class Tour(NamedTuple):
    """A recording: the ``name`` of its files, its ``title``, what is typed.

    ``{ref}`` and ``{session}`` are read from the first command's output, as a person would copy them.
    """

    name: str
    title: str
    commands: tuple[str, ...]


TOURS: Final = (
    Tour(
        "terminal",
        "A real conversation is captured, inspected as a tree, replayed and erased",
        (
            f"{_MEMORY} capture --from openai-chat --input examples/data/tau-airline-booking.json",
            f"{_MEMORY} inspect {{ref}}",
            f"{_MEMORY} replay {{ref}} --dry-run",
            f"{_MEMORY} erase --session-id {{session}} --yes",
            f"{_MEMORY} replay {{ref}} --dry-run || echo exit code $?",
        ),
    ),
    Tour(
        "import",
        "A ChatGPT export is imported, looked at as a graph, and exported as Markdown",
        (
            f"{_MEMORY} import examples/data/chatgpt-export.json",
            f"{_MEMORY} sessions",
            f"{_MEMORY} graph --session-id conv-chatgpt-2",
            f"{_MEMORY} export --session-id conv-chatgpt-2 --to markdown",
            f"{_MEMORY} import examples/data/chatgpt-export.json",
        ),
    ),
)


def main() -> None:
    """Run every tour and write its two files."""
    for tour in TOURS:
        with tempfile.TemporaryDirectory() as folder:
            lines = record(tour, Path(folder))
        documents = _REPOSITORY / "docs"
        (documents / f"{tour.name}.cast").write_text(_cast(tour, lines), encoding="utf-8")
        (documents / f"{tour.name}.svg").write_text(_svg(tour, lines), encoding="utf-8")


def record(tour: Tour, folder: Path) -> list[Shown]:
    """What ``tour`` shows, its commands run in ``folder``."""
    (folder / "examples").symlink_to(_REPOSITORY / "examples")
    lines: list[Shown] = []
    known = {"ref": "", "session": ""}
    now = 0.5
    for command in tour.commands:
        typed = command.format(**known)
        now += len(typed) * _CHARACTER_S
        lines.append(Shown(now, f"\x1b[1m{_PROMPT}{typed}\x1b[0m"))
        now += 0.3
        printed = _run(typed, folder)
        for name, title in (("ref", "execution ref"), ("session", "session")):
            found = re.search(rf"^{title} +([0-9a-f-]{{36}})", Text.from_ansi(printed).plain, re.MULTILINE)
            known[name] = known[name] or (found[1] if found else "")
        for line in printed.splitlines():
            now += _LINE_S
            lines.append(Shown(now, line))
        lines.append(Shown(now, ""))
        now += _PAUSE_S
    return lines


def _run(command: str, folder: Path) -> str:
    """What ``command`` prints on a terminal. Raises CalledProcessError where it fails."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, _COLUMNS, 0, 0))
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("RUVECTOR", "COLUMNS"))}
    path = f"{Path(sys.executable).parent}:{kept.get('PATH', '')}"
    process = subprocess.Popen(  # noqa: S603 - the commands above  # nosec B603, B607
        ["bash", "-c", command],  # noqa: S607 - the one that people type into
        cwd=folder,
        env={**kept, "PATH": path, "TERM": "xterm-256color", "LANG": "C.UTF-8"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    printed = b""
    try:
        while piece := os.read(ours, 65536):
            printed += piece
    except OSError:
        # EIO: the terminal's other side is closed (Linux, pty(7)).
        pass
    os.close(ours)
    if process.wait():
        raise subprocess.CalledProcessError(process.returncode, command, printed)
    return printed.decode().replace("\r\n", "\n")


def _cast(tour: Tour, lines: list[Shown]) -> str:
    """An asciicast v2: a header, then ``[seconds, "o", text]`` a line."""
    header = {"version": 2, "width": _COLUMNS, "height": _ROWS, "title": tour.title}
    events = [[round(line.at, 2), "o", f"{line.text}\r\n"] for line in lines]
    return "".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in [header, *events])


def _svg(tour: Tour, lines: list[Shown]) -> str:
    """An SVG whose lines appear in their time and scroll when the window is full; it plays for ever."""
    width, height = _COLUMNS * _CELL[0] + 2 * _MARGIN, _ROWS * _CELL[1] + 2 * _MARGIN
    total = lines[-1].at + 2 * _PAUSE_S
    texts, appear = [], []
    scrolls = ["0% { transform: translateY(0) }"]
    for place, line in enumerate(lines):
        share = f"{line.at / total * 100:.2f}%"
        appear.append(f"@keyframes a{place} {{ 0% {{ opacity: 0 }} {share} {{ opacity: 1 }} }}")
        style = f"animation: a{place} {total:.1f}s step-end infinite"
        texts.append(f'<text y="{(place + 1) * _CELL[1]:.0f}" style="{style}">{_spans(line.text)}</text>')
        hidden = place + 1 - _ROWS
        if hidden > 0:
            scrolls.append(f"{share} {{ transform: translateY({-hidden * _CELL[1]:.0f}px) }}")
    scroll = f"@keyframes scroll {{ {' '.join(scrolls)} }}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" role="img">\n'
        f"<title>{tour.title}</title>\n"
        f"<style>text {{ font: 14px/18px ui-monospace, 'DejaVu Sans Mono', monospace; fill: {_DEFAULT}; "
        f"white-space: pre }}\n.s {{ animation: scroll {total:.1f}s step-end infinite }}\n"
        f"{scroll}\n{chr(10).join(appear)}\n</style>\n"
        f'<rect width="100%" height="100%" rx="8" fill="#1b1d23"/>\n'
        f'<svg x="{_MARGIN}" y="{_MARGIN}" width="{width - 2 * _MARGIN:.0f}" height="{height - 2 * _MARGIN:.0f}">\n'
        f'<g class="s">\n{chr(10).join(texts)}\n</g>\n</svg>\n</svg>\n'
    )


def _spans(line: str) -> str:
    """A line's text with its colours, each piece at the column where it stands."""
    text = Text.from_ansi(line)
    pieces = []
    column = 0
    for piece in text.divide(sorted({span.start for span in text.spans} | {span.end for span in text.spans})):
        style = piece.spans[0].style if piece.spans else ""
        look = "" if isinstance(style, str) else _look(style.color, bold=bool(style.bold), dim=bool(style.dim))
        if piece.plain:
            pieces.append(f'<tspan x="{column * _CELL[0]:.1f}"{look}>{escape(piece.plain)}</tspan>')
        column += piece.cell_len
    return "".join(pieces)


def _look(color: Color | None, *, bold: bool, dim: bool) -> str:
    look = f' fill="{color.get_truecolor().hex}"' if color is not None else ""
    look += ' font-weight="bold"' if bold else ""
    return look + (' opacity="0.6"' if dim else "")


if __name__ == "__main__":
    main()
