"""Holds the flags, channels, settings and interruptions of one call, and prints its replies.

The first Ctrl-C or SIGTERM asks the work to stop, the second one leaves at once. Leaving unwinds
the stack, which ends child processes and restores the terminal. When that takes too long, the
process ends without it.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import to_builtins
from msgspec.structs import replace

from kebab.cli.options import Flags
from kebab.errors.signal import Exit, Signal
from kebab.errors.system import resolve_path

if TYPE_CHECKING:
    from types import FrameType

    import click

    from kebab.app.classify import ClassifiedError
    from kebab.app.facade import Kebab
    from kebab.cli.channels import OutputChannel, OutputChannels
    from kebab.cli.render.canvas import Canvas
    from kebab.config.load import SettingsReport
    from kebab.config.settings import Settings
    from kebab.core.progress import Cancel
    from kebab.wire.record import NotFound, Reply, Request


class Interrupts:
    """Counts interruptions: cancellable work is asked to stop, other work is interrupted."""

    def __init__(self, leave: Callable[[], None]) -> None:
        self._leave = leave
        self._count = 0
        self.terminated = False
        """Whether SIGTERM was received, which ends the process and not only the current work."""
        self._cancel: Cancel | None = None
        self._notice: Callable[[], None] | None = None

    def install(self, signals: Iterable[int] = (signal.SIGINT, signal.SIGTERM)) -> None:
        """Handle these signals for the rest of the process."""
        for number in signals:
            signal.signal(number, self._handle)

    def reset(self) -> None:
        """Count from zero, because new work begins."""
        self._count = 0

    @property
    def repeated(self) -> bool:
        """Whether there was more than one interruption."""
        return self._count > 1

    @contextmanager
    def cancelling(self, notice: Callable[[], None]) -> Iterator[Cancel]:
        """Yield a flag that the first interruption sets, after which `notice` is called."""
        from kebab.core.progress import Cancel

        self._cancel, self._notice = Cancel(), notice
        try:
            yield self._cancel
        finally:
            self._cancel, self._notice = None, None

    def interrupt(self) -> None:
        """Count one interruption; the first may only set a flag, and a third has no effect.

        Raises:
            KeyboardInterrupt: It is the second one, or the work is not cancellable.
        """
        self._count += 1
        if self._count == 1 and self._cancel is not None:
            self._cancel.request()
            if self._notice:
                self._notice()
        elif self._count <= 2:  # noqa: PLR2004 - the second one leaves
            if self.repeated:
                self._leave()
            raise KeyboardInterrupt

    def raise_swallowed(self) -> None:
        """Interrupt work that went on, because a library dropped the exception.

        msgspec does so while it reads the types of a record.

        Raises:
            KeyboardInterrupt: The work was interrupted.
        """
        if self._count and self._cancel is None:
            raise KeyboardInterrupt

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self.terminated = self.terminated or number == signal.SIGTERM
        self.interrupt()


R = TypeVar("R", bound="Reply")
Renderer = Callable[[R, "Canvas"], Iterable[str]]


@dataclass(slots=True, eq=False, repr=False)
class CommandContext:
    """The state of one call that a command works with."""

    channels: OutputChannels
    interrupts: Interrupts
    arguments: tuple[str, ...] = ()
    flags: Flags = field(default_factory=Flags)
    command: str = "kebab"
    params: Sequence[click.Parameter] = ()
    """The parameters of the command; errors name them instead of the fields of its request."""
    flags_parsed: bool = False
    """Whether `flags` are complete; before that errors guess the output format."""
    error_reported: bool = False
    """Whether an error was reported; a call reports one at most."""
    on_abort: Callable[[], None] = lambda: None
    """Called before the process ends without unwinding."""
    on_error: Callable[[ClassifiedError], None] = lambda _: None
    """Called with an error before it is reported."""
    _loaded: SettingsReport | None = None

    def load_settings(self) -> Settings:
        """Return the settings of this call; they are read once.

        Raises:
            ConfigInvalid: The settings are unusable.
        """
        report = self.report_settings()
        if report.faults:
            raise report.faults[0]
        return report.settings

    def report_settings(self) -> SettingsReport:
        """Return the settings that can be used, and the faults of the others."""
        if self._loaded is None:
            from kebab.config.load import read_settings

            flags = {"data_dir": self.flags.data_dir, "lang": self.flags.lang}
            self._loaded = read_settings(self.named_config_path, flags=flags)
        return self._loaded

    def find_settings(self) -> Settings | None:
        """Return the settings of this call, None when they are unusable."""
        with suppress(Signal):
            return self.load_settings()
        return None

    def warn(self, message: str) -> None:
        """Write a warning to stderr."""
        if self.flags.machine:
            from kebab.wire.error import Warned

            self.write_event(Warned(message=message))
            return
        from kebab.cli.render.canvas import clean

        canvas = self.create_canvas(self.channels.err)
        self.channels.err.write_lines([f"{canvas.warning('warning:')} {clean(message)}"])

    @property
    def named_config_path(self) -> Path | None:
        """The settings file that the caller names, None when it names none."""
        named = self.flags.config or os.environ.get("KEBAB_CONFIG")
        return Path(named) if named else None

    @property
    def config_path(self) -> Path:
        """The settings file of this call, whether or not it exists."""
        from kebab.config.settings import find_default_config

        return self.named_config_path or find_default_config()

    def open_kebab(
        self,
        settings: Settings | None = None,
        *,
        read_only: bool = False,
        report: SettingsReport | None = None,
    ) -> Kebab:
        """Return the knowledge base of this call as a context manager.

        With `read_only` nothing is written to it, not even the query cache. With `report` its
        settings are used, and an invalid setting is a finding instead of an error.
        """
        from kebab.app.facade import Kebab

        self.interrupts.raise_swallowed()
        return Kebab(
            report.settings if report else settings or self.load_settings(),
            config_path=self.config_path,
            read_only=read_only or self.flags.read_only,
            report=report,
        )

    def run(
        self,
        request: Request[R],
        settings: Settings | None = None,
        *,
        report: Callable[[Any], None] | None = None,
        cancel: Cancel | None = None,
    ) -> R:
        """Run an operation on the knowledge base of this call; return its reply."""
        with self.open_kebab(settings) as kebab:
            return self.keep_flags(kebab.run(request, report=report, cancel=cancel))

    def keep_flags(self, reply: R) -> R:
        """Return a reply whose hint, a call with other filters, has the flags of this call."""
        given = getattr(reply, "unmatched_filters", None) and getattr(reply, "hint", None)
        if not given or not f"{given} ".startswith(f"kebab {self.command} "):
            return reply
        import shlex

        from kebab.core.queries import FILTERS
        from kebab.errors.hints import limit_hint

        words = shlex.split(given)
        flags = [flag for param in self.params if param.name in FILTERS for flag in param.opts]
        at = len(words)
        while words[at - 2] in flags:
            at -= 2
        return replace(reply, hint=limit_hint(self.repeat_command(*words[at:], without=flags)))

    def require_writable(self, operation: str) -> None:
        """Refuse to write a file with `--read-only`.

        Raises:
            ReadOnly: The flag is given.
        """
        if self.flags.read_only:
            from kebab.errors.catalog import ReadOnly

            raise ReadOnly(operation=operation)

    def create_canvas(self, channel: OutputChannel | None = None) -> Canvas:
        """Return the canvas of a channel, by default of the channel of results."""
        from kebab.cli.render.canvas import create_canvas

        channel = channel or self.channels.out
        settings = self.find_settings() if channel.is_terminal else None
        form = settings.output.hyperlink_format if settings else "default"
        canvas = create_canvas(channel, self.flags.color, form)
        if not (self.flags.config or self.flags.data_dir):
            return canvas
        from kebab.cli.hints import complete_hint

        return replace(canvas, complete=partial(complete_hint, flags=self.flags))

    def print_reply(
        self, reply: R | NotFound, render: Renderer[R], status: Exit | None = None
    ) -> Exit:
        """Print a result on stdout; return the exit status, that of the reply unless given."""
        from kebab.wire.record import MASKED, NotFound, find_exit_status

        status = find_exit_status(reply) if status is None else status
        if self.flags.machine:
            self.write_json(reply, status)
            return status
        canvas = self.create_canvas()
        if isinstance(reply, NotFound):
            from kebab.cli.render.documents import render_not_found

            text = "\n".join(render_not_found(reply, canvas))
        else:
            text = "\n".join(render(reply, canvas))
        self.channels.out.write(text + "\n" if text else "")
        if reply.masked is True:
            err = self.channels.err
            err.write_lines(self.create_canvas(err).note(f"{MASKED}; `kebab fetch` shows them"))
        return status

    def print_notes(self, reply: R, render: Renderer[R]) -> None:
        """Print on stderr what a reader of the result must know; JSON has it already."""
        if not self.flags.machine:
            err = self.channels.err
            err.write_lines(render(reply, self.create_canvas(err)))

    def write_event(self, reply: Reply, status: int | None = None) -> None:
        """Write one line of JSON on stderr."""
        self.write_json(reply, status, self.channels.err)

    def write_json(
        self, reply: Reply, status: int | None, channel: OutputChannel | None = None
    ) -> None:
        """Write one line of JSON, by default on stdout; `status` is None while it is unknown."""
        from kebab.wire.record import add_envelope, encode_json, format_timestamp

        now, code = format_timestamp(time.time()), None if status is None else int(status)
        line: Any = add_envelope(reply, command=self.command, timestamp=now, exit_code=code)
        if self.flags.config or self.flags.data_dir:
            from kebab.cli.hints import complete_hints

            line = complete_hints(to_builtins(line), self.flags)
        (channel or self.channels.out).write_bytes(encode_json(line) + b"\n")

    def repeat_command(self, *more: str, without: Sequence[str] = ()) -> str:
        """Return this command line for a shell with more words.

        The flags `without` are left out with their values.
        """
        from kebab.cli.hints import repeat_call
        from kebab.errors.hints import Rerun

        return repeat_call(self.arguments, self.params, Rerun(more, tuple(without))) or ""


def list_place_flags(flags: Flags) -> list[str]:
    """Return the flags that name the settings and the knowledge base, with absolute paths."""
    from kebab.config.settings import is_address

    words = []
    for name, value in (("--config", flags.config), ("--data-dir", flags.data_dir)):
        if value:
            path = os.path.expanduser(value)  # noqa: PTH111 - a `~` of nobody is a name
            words += [name, value if is_address(value) else resolve_path(path)]
    return words
