"""Captures what kebab shows on a terminal.

Run from a checkout: `python -m tools.captures OUT FOLDER [COMMAND LINE…]` writes one file per
command and width. Each command runs on a pseudo-terminal, so colours and links are the real ones.
"""

import fcntl
import os
import pty
import re
import shlex
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

WIDTHS = (80, 120)
ROWS = 24
_ESCAPES = re.compile("\x1b\\[[0-9;?]*[A-Za-z]|\x1b\\]8;;[^\x1b]*\x1b\\\\")
_SHOW_CURSOR = "\x1b[?25h"
_AFTER_LIVE = re.compile(r"\A(?:\s|\x1b\[[0-9]*[AKJ])+")
_UNSAFE = re.compile(r"[^\w.=-]+")
QUESTION = "how do I mount a storage volume"
COMMANDS = (
    f'search "{QUESTION}"',
    "search mount storage-box",
    'search "스냅샷 마운트"',
    'search "tag:ops mount" --trace -n 2',
    "search zebra crossing",
    "search xyzzyplugh",
    f'ask --extractive "{QUESTION}"',
    'ask --extractive "who won the world cup in 1998"',
    "list -n 12",
    "inspect doc mine/obsidian.md",
    "inspect chunk {chunk}",
    "fetch chunk {chunk}",
    "related mine/obsidian.md",
    "dupes -n 3",
    "why mount mine/obsidian.md",
    "doctor",
    "schema",
    "errors",
    "explain locked",
    "model list",
    "session list",
    "inspect doc nothing.md",
    "search --limit 0 x",
)
"""The command lines to capture; `{chunk}` is the first passage of the first hit."""


def capture(
    arguments: list[str], columns: int, rows: int = ROWS, environ: Mapping[str, str] | None = None
) -> str:
    """Return what a command line leaves on a terminal of this size: stdout, then stderr.

    Live displays, which disappear when they end, are omitted.
    """
    terminals = [_open_terminal(columns, rows) for _ in range(2)]
    (out, far_out), (err, far_err) = terminals
    inherited = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    process = subprocess.Popen(  # noqa: S603 - it runs this checkout
        [sys.executable, "-m", "kebab", *arguments],
        env={
            **inherited,
            "TERM": "xterm-256color",
            **(environ or {}),
        },
        stdin=far_out,
        stdout=far_out,
        stderr=far_err,
    )
    for _, far in terminals:
        os.close(far)
    with ThreadPoolExecutor(2) as readers:
        shown = [b"".join(part) for part in readers.map(_read, (out, err))]
    process.wait()
    for near, _ in terminals:
        os.close(near)
    left, said = (one.decode("utf-8", "replace").replace("\r\n", "\n") for one in shown)
    return left + _AFTER_LIVE.sub("", said.rpartition(_SHOW_CURSOR)[2])


def _open_terminal(columns: int, rows: int) -> tuple[int, int]:
    near, far = pty.openpty()
    fcntl.ioctl(far, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    return near, far


def _read(descriptor: int) -> list[bytes]:
    """Return what arrives until the other end of a terminal is closed."""
    parts: list[bytes] = []
    while True:
        try:
            part = os.read(descriptor, 65_536)
        except OSError:
            part = b""
        if not part:
            return parts
        parts.append(part)


def remove_escapes(text: str) -> str:
    """Return the text of a terminal without colours and links."""
    return _ESCAPES.sub("", text)


def main(arguments: list[str]) -> int:
    """Ingest a folder twice, run every command, and write what each shows."""
    out, folder, *lines = arguments
    commands = [f"ingest {shlex.quote(folder)}"] * 2 + [*(lines or COMMANDS)]
    for number, line in enumerate(commands):
        for columns in WIDTHS[: 1 if number == 0 else None]:
            shown = capture(shlex.split(line.format(chunk=_find_chunk(line))), columns)
            name = _UNSAFE.sub("-", f"{number:02} {line}")[:60]
            path = Path(out) / str(columns) / f"{name}.ansi"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(shown, encoding="utf-8")
            path.with_suffix(".txt").write_text(remove_escapes(shown), encoding="utf-8")
    return 0


def _find_chunk(line: str) -> str:
    """Return the id of the first hit when a command line needs one."""
    if "{chunk}" not in line:
        return ""
    found = subprocess.run(
        [sys.executable, "-m", "kebab", "search", "mount storage-box", "-n", "1", "--json"],
        check=True,
        capture_output=True,
        text=True,
    )
    match = re.search(r'"chunk_id":"(\w+)"', found.stdout)
    return match[1] if match else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
