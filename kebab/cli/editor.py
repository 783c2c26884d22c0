"""Builds and runs the command that opens a document at a citation, in an editor or a viewer.

Files with lines of their own go to the editor. Any other file is no text, so it goes to the
viewer of `PDFVIEWER` if it is a PDF, else to the program that the system has for it.
"""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path, PurePath

from kebab.cli.channels import OutputChannels
from kebab.core.progress import require_own_process
from kebab.errors.system import build_missing_program, build_read_error
from kebab.wire.citation import Citation, CodeCitation, LineCitation, PageCitation

_Arguments = Callable[[str, int], list[str]]


def _plus(file: str, line: int) -> list[str]:
    return [f"+{line}", file]


def _goto(file: str, line: int) -> list[str]:
    return ["--goto", f"{file}:{line}"]


def _colon(file: str, line: int) -> list[str]:
    return [f"{file}:{line}"]


def _flag(file: str, line: int) -> list[str]:
    return ["--line", str(line), file]


def _put_line_in_flag(file: str, line: int) -> list[str]:
    return [f"-n{line}", file]


_EDITORS_BY_SYNTAX: Mapping[_Arguments, str] = {
    _plus: "vi vim nvim gvim mvim view nano pico rnano micro kak hx helix joe jed mg ne"
    " emacs emacsclient gedit xed pluma gnome-text-editor bbedit less",
    _goto: "code code-insiders codium vscodium cursor windsurf positron",
    _colon: "subl sublime_text zed zeditor atom pulsar lapce",
    _flag: "idea pycharm webstorm goland clion rubymine phpstorm rustrover rider fleet kate kwrite"
    " mate",
    _put_line_in_flag: "notepad++",
}
_EDITORS = {
    name: arguments for arguments, names in _EDITORS_BY_SYNTAX.items() for name in names.split()
}
"""How each editor takes a line; the JetBrains editors take `--line` before the file."""

_OPENERS = {"darwin": "open"}


def build_command(file: str, line: int, environ: Mapping[str, str]) -> list[str]:
    """Return the command of `VISUAL` or `EDITOR`, else that of the system, which knows no lines.

    An editor that is not known gets the file without the line.

    Raises:
        DependencyMissing: There is no editor and no program of the system.
    """
    editor = environ.get("VISUAL", "").strip() or environ.get("EDITOR", "").strip()
    if editor:
        words = split_words(editor)
        name = PurePath(words[0]).name.lower().removesuffix(".exe")
        known = _EDITORS.get(name)
        return [*words, *(known(file, line) if known else [file])]
    return build_opener_command(file, environ, "export EDITOR=vi")


def build_opener_command(file: str, environ: Mapping[str, str], remedy: str) -> list[str]:
    """Return the command of the system that opens a file.

    Raises:
        DependencyMissing: There is none; `remedy` names another program.
    """
    opener = _OPENERS.get(sys.platform, "xdg-open")
    if shutil.which(opener, path=environ.get("PATH")) is None:
        raise build_missing_program(opener, "opening a file", remedy)
    return [opener, file]


def split_words(command: str) -> list[str]:
    """Return the words of a command; a path with blanks that exists is one word."""
    if os.path.exists(command):  # noqa: PTH110 - a text of the environment
        return [command]
    try:
        return shlex.split(command) or [command]
    except ValueError:  # a quotation mark without its pair
        return command.split()


def run_command(words: list[str], file: str, channels: OutputChannels, *, quiet: bool) -> None:
    """Run the command at the terminal and wait; with `quiet` it has no terminal.

    Raises:
        DependencyMissing: The program does not exist.
        IoError: The program cannot be started, or fails.
    """
    require_own_process()
    out = subprocess.DEVNULL if quiet else channels.out.descriptor
    err = subprocess.DEVNULL if quiet else channels.err.descriptor
    try:
        done = subprocess.run(  # noqa: S603 - the editor that the user names
            words, stdin=subprocess.DEVNULL if quiet else None, stdout=out, stderr=err, check=False
        )
    except FileNotFoundError as fault:
        feature = f"opening a file with `{words[0]}`"
        raise build_missing_program(words[0], feature, "export EDITOR=vi") from fault
    except OSError as fault:
        cause = f"`{words[0]}` cannot be started, {fault.strerror}"
        raise build_read_error(file, cause) from fault
    if done.returncode:
        raise build_read_error(file, f"`{words[0]}` ended with status {done.returncode}")


def _put_page_behind_flag(letter: str) -> _Arguments:
    return lambda file, page: [letter, str(page), file]


def _put_page_behind_file(file: str, page: int) -> list[str]:
    return [file, str(page)]


def _put_page_in_address(file: str, page: int) -> list[str]:
    return [f"{Path(file).as_uri()}#page={page}"]


_VIEWER_SYNTAX: Mapping[str, _Arguments] = {
    "zathura": _put_page_behind_flag("-P"),
    "okular": _put_page_behind_flag("-p"),
    "sioyek": _put_page_behind_flag("--page"),
    "sumatrapdf": _put_page_behind_flag("-page"),
    "qpdfview": lambda file, page: [f"{file}#{page}"],
    "skim": lambda file, page: ["open", f"skim://{Path(file).as_uri()[7:]}#page={page}"],
    **dict.fromkeys(("evince", "xreader", "papers"), lambda file, page: ["-i", str(page), file]),
    **dict.fromkeys(("atril", "foxitreader"), lambda file, page: ["-p", str(page), file]),
    **dict.fromkeys(("mupdf", "mupdf-gl", "mupdf-x11", "xpdf", "tdf"), _put_page_behind_file),
    **dict.fromkeys(
        ("firefox", "chromium", "chromium-browser", "google-chrome", "brave", "brave-browser"),
        _put_page_in_address,
    ),
}
"""How each viewer takes a page, counted from 1."""


def build_open_command(
    file: str, citation: Citation, line: int, environ: Mapping[str, str]
) -> list[str]:
    """Return the command that opens a file at a citation; `line` is used for lines only.

    Raises:
        DependencyMissing: There is no program for the file.
    """
    if isinstance(citation, LineCitation | CodeCitation):
        return build_command(file, line, environ)
    viewer = environ.get("PDFVIEWER", "").strip()
    if viewer and isinstance(citation, PageCitation):
        words = split_words(viewer)
        name = PurePath(words[0]).name.lower().removesuffix(".exe")
        known = _VIEWER_SYNTAX.get(name)
        arguments = known(file, citation.page.number) if known else [file]
        return arguments if name == "skim" else [*words, *arguments]
    return build_opener_command(file, environ, "export PDFVIEWER=zathura")
