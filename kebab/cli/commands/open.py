"""`kebab open` opens a file at a hit or a reference, or the web page.

Files with lines of their own go to the editor. Any other file is no text, so it goes to the program
that the system has for it. Addresses go to the browser, whose server is started when none runs.
"""

import os
import shlex
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import PurePath
from subprocess import DEVNULL, Popen, TimeoutExpired
from threading import Thread
from typing import TYPE_CHECKING

import click

from kebab import platform
from kebab.cli.channels import OutputChannels
from kebab.cli.command import declare_command
from kebab.cli.context import CommandContext, list_place_flags
from kebab.cli.options import complete
from kebab.config.settings import Settings, resolve_paths
from kebab.core.files import find_container
from kebab.core.media import CitationKind, detect_media_type, get_media_type
from kebab.errors.signal import Exit
from kebab.errors.system import build_missing_program, build_read_error
from kebab.wire.fetch import FetchRequest, OpenReport
from kebab.wire.health import RunningServer, WebPageReport
from kebab.wire.library import FetchResult
from kebab.wire.record import ABSENT, CodeCitation, LineCitation, NotFound, PageCitation

if TYPE_CHECKING:
    from kebab.server.running import ServerFolder

_MAX_RANK_DIGITS = 4


@declare_command(
    "open",
    examples=(
        "kebab open 2",
        "kebab open notes/backup.md:12",
        "kebab open 1 --print",
        "kebab open --web 'restore a backup'",
    ),
)
@click.argument("ref", metavar="N|REF|QUERY", required=False, shell_complete=complete("documents"))
@click.option("--web", is_flag=True, help="Open the web page, with the hits of a query.")
@click.option("--print", "print_only", is_flag=True, help="Print the command or the address only.")
def command(context: CommandContext, /, ref: str | None, *, web: bool, print_only: bool) -> Exit:
    """Open a file at a hit or a reference, or the web page.

    N is the rank of a hit of the last search at a terminal; REF is what `kebab fetch` takes. A text
    file opens in `$VISUAL` or `$EDITOR` at the line, any other file in the program that the system
    has for it.

    With `--web` the web page opens in `$BROWSER` or the browser of the system. The server that
    shows it is started when none runs, and ends two hours after the last request.
    """
    if web:
        return _open_page(context, ref, print_only=print_only)
    if ref is None:
        raise click.UsageError("missing `N|REF`")
    found = _find_place(context, ref)
    if isinstance(found, NotFound):
        return context.print_reply(found, lambda *_: ())
    from kebab.cli.render.hits import get_line

    # A program opens the file that holds the document.
    file, line = find_container(str(found.file)), get_line(found.citation)
    if line is not None:  # where a file no longer has the passage, its last line is shown
        line = max(1, min(line, found.line_count)) if file == found.file else None
    words = build_open_command(file, line, found.citation.uri, os.environ)
    if not print_only:
        run_command(words, file, context.channels, quiet=context.flags.machine)
    report = OpenReport(
        doc_id=found.doc_id,
        doc_path=found.doc_path,
        file=file,
        line=line or 1,
        page=found.citation.page.number if isinstance(found.citation, PageCitation) else None,
        command_line=words,
        ran=not print_only,
    )
    # A command that was run is not shown.
    return context.print_reply(report, lambda _, __: [] if report.ran else [shlex.join(words)])


def _open_page(context: CommandContext, query: str | None, *, print_only: bool) -> Exit:
    """Open the web page with the hits of a query."""
    settings = context.load_settings()
    folder, record, started = _find_or_start_server(context, settings)
    url = folder.build_login(record.url, query)
    if not print_only:
        open_browser(url, os.environ)
    shown = url if print_only else record.url
    report = WebPageReport(url=shown, started=started, ran=not print_only)
    return context.print_reply(report, lambda reply, _: [reply.url])


def _find_place(context: CommandContext, ref: str) -> FetchResult | NotFound:
    """Return the place of a rank or a reference whose file can be opened."""
    from kebab.app.last_hits import find_hit
    from kebab.app.references import build_lookup_fault

    refs: list[str] | NotFound = [ref]
    if ref.isdecimal() and ref.isascii() and len(ref) <= _MAX_RANK_DIGITS:
        refs = find_hit(context.load_settings(), int(ref))
    if isinstance(refs, NotFound):
        return refs
    results = context.run(FetchRequest(refs=refs)).results
    found = next((one for one in results if isinstance(one, FetchResult)), results[0])
    if isinstance(found, FetchResult):
        if found.freshness in ABSENT:
            state = "stayed with the publisher" if found.freshness == "published" else "is gone"
            return build_lookup_fault(ref, f"the file {state}: {found.doc_path}")
        if not isinstance(found.file, str):
            return build_lookup_fault(ref, f"this text has no file: {found.doc_path}")
    return found


_TERMINAL_EDITORS = (
    "vi vim nvim view nano pico rnano micro kak hx helix joe jed mg ne emacs emacsclient less"
)
_JETBRAINS = "idea pycharm webstorm goland clion rubymine phpstorm rustrover rider fleet"
_EDITORS = {
    f"{_TERMINAL_EDITORS} gvim mvim gedit xed pluma gnome-text-editor bbedit": "+{line} {file}",
    "code code-insiders codium vscodium cursor windsurf positron": "--goto {file}:{line}",
    "subl sublime_text zed zeditor atom pulsar lapce": "{file}:{line}",
    f"{_JETBRAINS} kate kwrite mate": "--line {line} {file}",
    "notepad++": "-n{line} {file}",
}
"""How editors take a line; the JetBrains editors take `--line` before the file."""

_SYSTEM_OPENERS = ("open", "xdg-open")
_WINDOW_REMEDY = "export VISUAL=code"


def build_open_command(
    file: str, line: int | None, ref: str, environ: Mapping[str, str], *, in_window: bool = False
) -> list[str]:
    """Return the command that opens a file: in an editor at a line, else in its own program.

    The editor is that of `VISUAL` or `EDITOR`; one that is not known gets the file only. With
    `in_window` an editor that needs a terminal is not used.

    Raises:
        DependencyMissing: There is no program for it; what helps shows the reference `ref`.
    """
    editor = environ.get("VISUAL", "").strip() or environ.get("EDITOR", "").strip()
    words = split_words(editor) if editor and line is not None else []
    name = PurePath(words[0]).name.lower().removesuffix(".exe") if words else ""
    if words and not (in_window and name in _TERMINAL_EDITORS.split()):
        found = (syntax for names, syntax in _EDITORS.items() if name in names.split())
        syntax = next(found, "{file}").split()
        return [*words, *(one.format(file=file, line=line) for one in syntax)]
    shows_text = line is not None and in_window
    remedy = _WINDOW_REMEDY if shows_text else f"kebab fetch {shlex.quote(ref)}"
    return build_opener_command(file, environ, remedy, is_text=line is not None)


def build_opener_command(
    file: str, environ: Mapping[str, str], remedy: str, *, is_text: bool = False
) -> list[str]:
    """Return the command of the system that opens a file, in an editor if it is a text.

    Raises:
        DependencyMissing: There is none; `remedy` names another program.
    """
    opener = "open" if platform.SYSTEM == "darwin" else "xdg-open"
    if shutil.which(opener, path=environ.get("PATH")) is None:
        raise build_missing_program(opener, "opening a file", remedy)
    # Without `-t` macOS runs a script, which a document may be.
    return [opener, *["-t"] * (is_text and opener == "open"), file]


def split_words(command: str) -> list[str]:
    """Return the words of a command; a path with blanks that exists is one word."""
    if os.path.exists(command):  # noqa: PTH110 - a text of the environment
        return [command]
    try:
        return shlex.split(command) or [command]
    except ValueError:  # a quotation mark without its pair
        return command.split()


@contextmanager
def _translate_start_errors(program: str, remedy: str) -> Iterator[None]:
    """Translate the errors of starting a program; `remedy` is what helps where it is missing."""
    try:
        yield
    except FileNotFoundError as fault:
        raise build_missing_program(program, f"opening with `{program}`", remedy) from fault
    except OSError as fault:
        raise build_read_error(program, f"it cannot be started, {fault.strerror}") from fault


def run_command(words: list[str], file: str, channels: OutputChannels, *, quiet: bool) -> None:
    """Run the command at the terminal and wait; with `quiet` it has no terminal.

    Raises:
        DependencyMissing: The program does not exist.
        IoError: The program cannot be started, or fails.
    """
    terminal = (None, channels.out.descriptor, channels.err.descriptor)
    stdin, out, err = (DEVNULL,) * 3 if quiet else terminal
    remedy = f"export EDITOR={platform.find_editor()}"
    with _translate_start_errors(words[0], remedy):
        done = subprocess.run(words, stdin=stdin, stdout=out, stderr=err, check=False)  # noqa: S603 - the editor that the user names
    media = get_media_type(detect_media_type(file) or "")
    has_lines = media.cites in (CitationKind.LINE, CitationKind.CODE)
    if done.returncode and words[0] in _SYSTEM_OPENERS and has_lines:
        # The system knows no program for texts.
        raise build_missing_program(words[0], f"opening {file}", remedy)
    if done.returncode:
        raise build_read_error(file, f"`{words[0]}` ended with status {done.returncode}")


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
    with _translate_start_errors(words[0], remedy):
        process = Popen(  # noqa: S603 - the program that the user names
            words, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True
        )
    try:
        status = process.wait(_WAIT_S)
    except TimeoutExpired:
        Thread(target=process.wait, daemon=True).start()  # the system forgets it when it ends
        return
    if status:
        raise build_read_error(words[0], f"it ended with status {status}")


def open_in_editor(found: FetchResult, line: int) -> None:
    """Open a document at a line in an editor with a window of its own, else in its program.

    Raises:
        DependencyMissing: There is no program for it.
        IoError: The program cannot be started, or fails.
    """
    file, uri = find_container(str(found.file)), found.citation.uri
    at = line if isinstance(found.citation, LineCitation | CodeCitation) else None
    start_program(build_open_command(file, at, uri, os.environ, in_window=True), _WINDOW_REMEDY)


_START_S, _PAUSE_S = 30.0, 0.05


def _find_or_start_server(
    context: CommandContext, settings: Settings
) -> "tuple[ServerFolder, RunningServer, bool]":
    """Return the server of this knowledge base, and whether it was started now.

    Raises:
        DependencyMissing: None runs, and none can be started in the background here.
    """
    from kebab.server.running import USUAL_PORT, find_server

    paths = resolve_paths(settings)
    if found := find_server(paths.state, paths.data):
        return *found, False
    started = None
    with socket.socket() as probe:
        port = USUAL_PORT
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            port = 0
    flags = [*list_place_flags(context.flags), *["--read-only"] * context.flags.read_only]
    # With `-P` the working directory is not searched for modules.
    words = [sys.executable, "-P", "-m", "kebab", "serve", "--background", "--port", str(port)]
    with suppress(OSError):
        started = Popen(  # noqa: S603 - this program
            [*words, *flags], stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True
        )
    ends_at = time.monotonic() + _START_S
    while started is not None and started.poll() is None and time.monotonic() < ends_at:
        if found := find_server(paths.state, paths.data):
            return *found, True
        time.sleep(_PAUSE_S)
    raise build_missing_program("kebab serve", "the web page", "kebab serve --open")
