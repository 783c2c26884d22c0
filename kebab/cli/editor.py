"""Opens documents at citations in an editor, and addresses in a browser.

Files with lines of their own go to the editor. Any other file is no text, so it goes to the program
that the system has for it.
"""

import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import PurePath
from subprocess import DEVNULL, Popen, TimeoutExpired
from threading import Thread

from kebab import platform
from kebab.cli.channels import OutputChannels
from kebab.core.media import CitationKind, detect_media_type, get_media_type
from kebab.errors.system import build_missing_program, build_read_error
from kebab.wire.citation import Citation, CodeCitation, LineCitation

_EDITORS = {
    "vi vim nvim gvim mvim view nano pico rnano micro kak hx helix joe jed mg ne emacs emacsclient"
    " gedit xed pluma gnome-text-editor bbedit less": ("+{number}", "{file}"),
    "code code-insiders codium vscodium cursor windsurf positron": ("--goto", "{file}:{number}"),
    "subl sublime_text zed zeditor atom pulsar lapce": ("{file}:{number}",),
    "idea pycharm webstorm goland clion rubymine phpstorm rustrover rider fleet kate kwrite mate": (
        "--line",
        "{number}",
        "{file}",
    ),
    "notepad++": ("-n{number}", "{file}"),
}
"""How editors take a line; the JetBrains editors take `--line` before the file."""

_SYSTEM_OPENERS = ("open", "xdg-open")
_OPENERS, _TEXT_OPENERS = {"darwin": ("open",)}, {"darwin": ("open", "-t")}
"""What shows a text; the others run a script, which a document may be."""


def build_command(file: str, line: int, environ: Mapping[str, str]) -> list[str]:
    """Return the command of `VISUAL` or `EDITOR`, else that of the system, which knows no lines.

    An editor that is not known gets the file without the line.

    Raises:
        DependencyMissing: There is no editor and no program of the system.
    """
    editor = environ.get("VISUAL", "").strip() or environ.get("EDITOR", "").strip()
    if not editor:
        return build_opener_command(file, environ, _name_editor(), is_text=True)
    words = split_words(editor)
    name = PurePath(words[0]).name.lower().removesuffix(".exe")
    found = (syntax for names, syntax in _EDITORS.items() if name in names.split())
    return [*words, *(one.format(file=file, number=line) for one in next(found, ("{file}",)))]


def _name_editor() -> str:
    """Return the command that names an editor of this machine."""
    return f"export EDITOR={platform.find_editor()}"


def build_opener_command(
    file: str, environ: Mapping[str, str], remedy: str, *, is_text: bool = False
) -> list[str]:
    """Return the command of the system that opens a file, in an editor if it is a text.

    Raises:
        DependencyMissing: There is none; `remedy` names another program.
    """
    openers = _TEXT_OPENERS if is_text else _OPENERS
    opener = openers.get(platform.SYSTEM, ("xdg-open",))
    if shutil.which(opener[0], path=environ.get("PATH")) is None:
        raise build_missing_program(opener[0], "opening a file", remedy)
    return [*opener, file]


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
    out = subprocess.DEVNULL if quiet else channels.out.descriptor
    err = subprocess.DEVNULL if quiet else channels.err.descriptor
    try:
        done = subprocess.run(  # noqa: S603 - the editor that the user names
            words, stdin=subprocess.DEVNULL if quiet else None, stdout=out, stderr=err, check=False
        )
    except FileNotFoundError as fault:
        feature = f"opening a file with `{words[0]}`"
        raise build_missing_program(words[0], feature, _name_editor()) from fault
    except OSError as fault:
        cause = f"`{words[0]}` cannot be started, {fault.strerror}"
        raise build_read_error(file, cause) from fault
    if done.returncode and words[0] in _SYSTEM_OPENERS and _has_lines(file):
        # The system knows no program for texts.
        raise build_missing_program(words[0], f"opening {file}", _name_editor())
    if done.returncode:
        raise build_read_error(file, f"`{words[0]}` ended with status {done.returncode}")


def _has_lines(file: str) -> bool:
    media = get_media_type(detect_media_type(file) or "")
    return media.cites in (CitationKind.LINE, CitationKind.CODE)


_WINDOWLESS = (
    "vi vim nvim view nano pico rnano micro kak hx helix joe jed mg ne emacs emacsclient less"
)
"""Editors that need a terminal."""


def build_window_command(
    file: str, citation: Citation, line: int, environ: Mapping[str, str]
) -> list[str]:
    """Return the command that opens a file at a citation without a terminal.

    Raises:
        DependencyMissing: There is no program for the file.
    """
    editor = environ.get("VISUAL", "").strip() or environ.get("EDITOR", "").strip()
    name = PurePath(split_words(editor)[0]).name.lower() if editor else ""
    if name in _WINDOWLESS.split() and isinstance(citation, LineCitation | CodeCitation):
        return build_opener_command(file, environ, "export VISUAL=code", is_text=True)
    return build_open_command(file, citation, line, environ)


def build_open_command(
    file: str, citation: Citation, line: int, environ: Mapping[str, str]
) -> list[str]:
    """Return the command that opens a file at a citation; `line` is used for lines only.

    Raises:
        DependencyMissing: There is no program for the file.
    """
    if isinstance(citation, LineCitation | CodeCitation):
        return build_command(file, line, environ)
    return build_opener_command(file, environ, f"kebab fetch {shlex.quote(citation.uri)}")


_WAIT_S = 3.0
"""How long a program may take to fail; a browser may run on as long as it is open."""
PRINT_HINT = "kebab open --web --print"


def open_browser(url: str, environ: Mapping[str, str]) -> None:
    """Open an address in the browser of `BROWSER`, else in that of the system.

    Raises:
        DependencyMissing: There is none.
        IoError: It cannot be started, or fails.
    """
    named = environ.get("BROWSER", "").strip()
    words = [*split_words(named), url] if named else build_opener_command(url, environ, PRINT_HINT)
    start_program(words, PRINT_HINT)


def start_program(words: list[str], remedy: str) -> None:
    """Start a program with windows of its own, and wait a little whether it fails.

    Raises:
        DependencyMissing: It does not exist; `remedy` is what helps.
        IoError: It cannot be started, or fails.
    """
    name = shlex.quote(words[0])
    try:
        process = Popen(  # noqa: S603 - the program that the user names
            words, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True
        )
    except FileNotFoundError as fault:
        raise build_missing_program(words[0], f"opening with `{name}`", remedy) from fault
    except OSError as fault:
        raise build_read_error(words[0], f"it cannot be started, {fault.strerror}") from fault
    try:
        status = process.wait(_WAIT_S)
    except TimeoutExpired:
        Thread(target=process.wait, daemon=True).start()  # the system forgets it when it ends
        return
    if status:
        raise build_read_error(words[0], f"it ended with status {status}")
