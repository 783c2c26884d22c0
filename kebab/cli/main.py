"""Contains the console entry point. It imports little, because every call pays for it."""

import gc
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import NoReturn

    from kebab.cli.channels import OutputChannels
    from kebab.cli.context import CommandContext

COMPLETION_VARIABLE = "_KEBAB_COMPLETE"
"""The environment variable by which a shell asks for completions."""

_GRACE_S = 1.0
"""The longest time to unwind before the process ends without it."""

_COLLECT_EVERY = 50_000
"""New objects between two garbage collections; the default of 700 slows short commands."""


SIGNALS = (2, 15)
"""SIGINT and SIGTERM; the module `signal` takes milliseconds to import."""


def run() -> "NoReturn":
    """Run kebab with the arguments of this process, and exit."""
    arguments = sys.argv[1:]
    if COMPLETION_VARIABLE in os.environ:
        os._exit(_print_completions(os.environ[COMPLETION_VARIABLE]))
    from kebab.cli.channels import open_channels

    gc.set_threshold(_COLLECT_EVERY)
    status = main(arguments, open_channels(), signals=SIGNALS)
    # All output is written, and a regular shutdown of the interpreter takes time.
    os._exit(status)


def main(
    arguments: "Sequence[str]",
    channels: "OutputChannels",
    *,
    signals: "Sequence[int]" = (),
    leave: "Callable[[int], NoReturn]" = os._exit,
) -> int:
    """Run one command line on these channels; return the exit status.

    `leave` ends the process when unwinding takes too long.
    """
    from kebab.errors.start import ERROR, describe_start_failure

    def leave_soon() -> None:
        timer = threading.Timer(_GRACE_S, _end_process, [context, leave])
        timer.daemon = True
        timer.start()

    try:
        import threading

        from kebab.cli.errors import report_missing_library, run_reporting_errors
        from kebab.errors.system import guard_native_imports

        try:
            from kebab.cli.context import CommandContext, Interrupts
        except ImportError as error:
            return report_missing_library(error, channels.err.write, arguments)
        guard_native_imports()
        interrupts = Interrupts(leave_soon)
        context = CommandContext(channels, interrupts, tuple(arguments))
        interrupts.install(signals)
    except Exception as fault:  # noqa: BLE001 - only the channels reach the caller from here on
        channels.err.write(describe_start_failure(fault, arguments))
        return ERROR
    return run_reporting_errors(context, lambda: _dispatch(context))


def _dispatch(context: "CommandContext") -> int:
    from kebab.cli.command import root

    context.channels.out.require_open()
    width = min(context.channels.out.columns, 100)
    arguments = list(context.arguments) or ["--help"]
    with root.make_context("kebab", arguments, obj=context, terminal_width=width) as call:
        return int(root.invoke(call))


def _end_process(context: "CommandContext", leave: "Callable[[int], NoReturn]") -> None:
    """Report the interruption once, and end the process without unwinding."""
    import time

    from kebab.cli.errors import report_safely
    from kebab.errors.signal import Exit

    if context.error_reported:
        time.sleep(_GRACE_S)  # the report is being written
    else:
        context.on_abort()
        report_safely(context, KeyboardInterrupt())
    leave(Exit.INTERRUPTED)


def _print_completions(instruction: str) -> int:
    """Answer the request of a shell, such as `bash_complete`; return the exit status."""
    try:
        os.fstat(1)
    except OSError:  # the shell closed the descriptor that it reads
        return 2
    from click.shell_completion import shell_complete

    from kebab.cli.channels import OutputChannel, OutputChannels
    from kebab.cli.command import root
    from kebab.cli.context import CommandContext, Interrupts

    out = OutputChannel(1, "<stdout>")
    channels = OutputChannels(out, OutputChannel(2, "<stderr>", best_effort=True))
    context = CommandContext(channels, Interrupts(lambda: None))
    return shell_complete(root, {"obj": context}, "kebab", COMPLETION_VARIABLE, instruction)
