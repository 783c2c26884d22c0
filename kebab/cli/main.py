"""The console entry point."""

import gc
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from kebab import __version__

if TYPE_CHECKING:
    from kebab.cli.channels import Channels
    from kebab.cli.session import Opener, Session

_COMPLETION = "_KEBAB_COMPLETE"
_GRACE_S = 1.0
"""How long leaving may take."""

_COLLECT_EVERY = 50_000
"""New objects between two searches for cycles; the usual 700 costs a short command much."""


def run() -> NoReturn:
    """Run kebab with the arguments of this process, and exit."""
    arguments = sys.argv[1:]
    if arguments == ["--version"] and _said_version():
        sys.exit(0)
    if _COMPLETION in os.environ:
        sys.exit(_complete(os.environ[_COMPLETION]))
    from kebab.cli.channels import take_over

    gc.set_threshold(_COLLECT_EVERY)
    status = main(arguments, take_over(), signals=True)
    # Everything was written and closed; tearing the interpreter down would only take time.
    os._exit(status)


def _said_version() -> bool:
    """Print the version without loading anything; on trouble the long way finds the words."""
    try:
        os.write(1, f"kebab {__version__}\n".encode())
    except OSError:
        return False
    return True


def main(
    arguments: Sequence[str],
    channels: "Channels",
    *,
    signals: bool = False,
    opener: "Opener | None" = None,
) -> int:
    """Run one command line on these channels; return the exit status.

    `signals` takes over Ctrl-C and SIGTERM; `opener` stands in for the real knowledge base.
    """
    import threading

    try:
        from kebab.cli.boundary import guarded
        from kebab.cli.interrupt import Interrupts
        from kebab.cli.session import Session
    except ImportError as fault:
        from kebab.cli.bare import bereft

        return bereft(fault, channels.err.write, arguments)

    def leave() -> None:
        timer = threading.Timer(_GRACE_S, _abandon, [session])
        timer.daemon = True
        timer.start()

    interrupts = Interrupts(leave)
    session = Session(channels, interrupts, tuple(arguments), opener)
    if signals:
        interrupts.install()
    return guarded(session, lambda: _dispatch(session))


def _dispatch(session: "Session") -> int:
    from kebab.cli.root import root

    width = min(session.channels.out.columns, 100)
    arguments = list(session.arguments) or ["--help"]
    with root.make_context("kebab", arguments, obj=session, terminal_width=width) as context:
        return int(root.invoke(context))


def _abandon(session: "Session") -> None:
    """End the process although its work does not end; say so unless that was said already."""
    from kebab.cli.boundary import guarded
    from kebab.errors.signal import Exit

    if not session.reported:
        session.on_leave()
        guarded(session, _interrupted)
    os._exit(Exit.INTERRUPTED)


def _interrupted() -> int:
    raise KeyboardInterrupt


def _complete(instruction: str) -> int:
    from click.shell_completion import shell_complete

    from kebab.cli.root import root

    return shell_complete(root, {}, "kebab", _COMPLETION, instruction)
