"""Opens an address in the browser of the user."""

import shlex
from collections.abc import Mapping
from subprocess import DEVNULL, Popen, TimeoutExpired
from threading import Thread

from kebab.cli.editor import build_opener_command, split_words
from kebab.errors.system import build_missing_program, build_read_error
from kebab.platform import separate_group

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
            words,
            stdin=DEVNULL,
            stdout=DEVNULL,
            stderr=DEVNULL,
            **separate_group(),
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
