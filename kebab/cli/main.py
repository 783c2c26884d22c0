"""Contains the console entry point.

It imports no slow module of the standard library: `typing` alone takes more than half as long as
the start of the interpreter.
"""

import gc
import os
import sys

from kebab import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

    from kebab.cli.channels import OutputChannels
    from kebab.cli.context import CommandContext, KebabFactory

COMPLETION_VARIABLE = "_KEBAB_COMPLETE"
"""The environment variable by which a shell asks for completions."""

_GRACE_S = 1.0
"""The longest time to unwind before the process ends without it."""

_COLLECT_EVERY = 50_000
"""New objects between two garbage collections; the default of 700 slows short commands."""


def run() -> "NoReturn":
    """Run kebab with the arguments of this process, and exit."""
    arguments = sys.argv[1:]
    if arguments == ["--version"] and _print_version():
        sys.exit(0)
    if COMPLETION_VARIABLE in os.environ:
        sys.exit(_print_completions(os.environ[COMPLETION_VARIABLE]))
    from kebab.cli.channels import open_channels

    gc.set_threshold(_COLLECT_EVERY)
    status = main(arguments, open_channels(), signals=True)
    # All output is written, and a regular shutdown of the interpreter takes time.
    os._exit(status)


def _print_version() -> bool:
    """Print the version without importing anything; return whether that worked."""
    try:
        os.write(1, f"kebab {__version__}\n".encode())
    except OSError:
        return False
    return True


def main(
    arguments: "Sequence[str]",
    channels: "OutputChannels",
    *,
    signals: bool = False,
    kebab_factory: "KebabFactory | None" = None,
) -> int:
    """Run one command line on these channels; return the exit status.

    With `signals` it handles Ctrl-C and SIGTERM; `kebab_factory` replaces the facade.
    """
    import threading

    from kebab.cli.errors import report_missing_library, run_reporting_errors

    try:
        from kebab.cli.context import CommandContext
        from kebab.cli.interrupt import Interrupts
    except ImportError as error:
        return report_missing_library(error, channels.err.write, arguments)

    def leave() -> None:
        timer = threading.Timer(_GRACE_S, _end_process, [context])
        timer.daemon = True
        timer.start()

    interrupts = Interrupts(leave)
    context = CommandContext(channels, interrupts, tuple(arguments), kebab_factory)
    if signals:
        interrupts.install()
    return run_reporting_errors(context, lambda: _dispatch(context))


def _dispatch(context: "CommandContext") -> int:
    from kebab.cli.command import root

    width = min(context.channels.out.columns, 100)
    arguments = list(context.arguments) or ["--help"]
    with root.make_context("kebab", arguments, obj=context, terminal_width=width) as call:
        return int(root.invoke(call))


def _end_process(context: "CommandContext") -> None:
    """Report the interruption once, and end the process without unwinding."""
    from kebab.cli.errors import report_safely
    from kebab.errors.signal import Exit

    if not context.error_reported:
        context.on_abort()
        report_safely(context, KeyboardInterrupt())
    os._exit(Exit.INTERRUPTED)


def _print_completions(instruction: str) -> int:
    """Answer the request of a shell, such as `bash_complete`; return the exit status."""
    from click.shell_completion import shell_complete

    from kebab.cli.channels import OutputChannel, OutputChannels
    from kebab.cli.command import root
    from kebab.cli.context import CommandContext
    from kebab.cli.interrupt import Interrupts

    out = OutputChannel(1, "<stdout>")
    channels = OutputChannels(out, OutputChannel(2, "<stderr>", best_effort=True))
    context = CommandContext(channels, Interrupts(lambda: None))
    return shell_complete(root, {"obj": context}, "kebab", COMPLETION_VARIABLE, instruction)
