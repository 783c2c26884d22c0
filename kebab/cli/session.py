"""One call of kebab: its flags, its channels, and the way from a wire object to the reader."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from kebab.cli.options import Flags
from kebab.errors.signal import Exit

if TYPE_CHECKING:
    import click

    from kebab.app.classify import Fault
    from kebab.app.facade import Kebab
    from kebab.cli.channels import Channels
    from kebab.cli.interrupt import Interrupts
    from kebab.cli.render.page import Page
    from kebab.config.model import Settings
    from kebab.wire.library import NotFound
    from kebab.wire.record import Reply

R = TypeVar("R", bound="Reply")
Opener = Callable[..., "Kebab"]
Draw = Callable[[R, "Page"], Iterable[str]]


@dataclass(slots=True, eq=False, repr=False)
class Session:
    """What a command needs of the call it is in."""

    channels: Channels
    interrupts: Interrupts
    arguments: tuple[str, ...] = ()
    opener: Opener | None = None
    """What opens a knowledge base; None means the real one."""
    flags: Flags = field(default_factory=Flags)
    command: str = "kebab"
    params: Sequence[click.Parameter] = ()
    """What the command takes, by which a field of its request is called as it was typed."""
    understood: bool = False
    """Whether the flags are known; before that it only shows how a caller wants an answer."""
    reported: bool = False
    """Whether a fault was reported; that happens once."""
    on_leave: Callable[[], None] = lambda: None
    """What to tidy when the process is left at once."""
    on_fault: Callable[[Fault], None] = lambda _: None
    """Who else hears of a fault before it is reported."""

    def settings(self, **flags: Any) -> Settings:
        """Return the settings that hold for this call.

        Raises:
            ConfigInvalid: They cannot be used.
        """
        from kebab.config.load import load

        path = Path(self.flags.config) if self.flags.config else None
        return load(path, flags={"data_dir": self.flags.data_dir, "lang": self.flags.lang, **flags})

    def named_config(self) -> Path | None:
        """Return the settings file that the caller names, None when it names none."""
        named = self.flags.config or os.environ.get("KEBAB_CONFIG")
        return Path(named) if named else None

    def config_path(self) -> Path:
        """Return where the settings file of this call lies, whether or not it exists."""
        from kebab.config.paths import default_config

        return self.named_config() or default_config()

    def kebab(self, settings: Settings | None = None, *, reading: bool = False) -> Kebab:
        """Return the knowledge base of this call, to be used as a context manager.

        With `reading` nothing is written to it, not even what would be remembered of questions.
        """
        opener = self.opener or _opener()
        return opener(
            settings or self.settings(),
            config_path=self.config_path(),
            read_only=reading or self.flags.read_only,
        )

    def page(self) -> Page:
        """Return the sheet that results are drawn on."""
        from kebab.cli.render.page import page

        return page(self.channels.out, self.flags.color)

    def answer(self, reply: R, draw: Draw[R], status: Exit = Exit.DONE) -> Exit:
        """Print a result and return the exit status."""
        if self.flags.machine:
            self.line(reply, status)
        else:
            text = "\n".join(draw(reply, self.page()))
            self.channels.out.write(text + "\n" if text else "")
        return status

    def missing(self, reply: NotFound) -> Exit:
        """Print that nothing has this name; that is an answer, not a failure."""
        from kebab.cli.render.lookup import draw

        return self.answer(reply, draw, Exit.NO)

    def line(self, reply: Reply, status: int | None) -> None:
        """Print one line of JSON on stdout; a status of None is not known yet."""
        self.channels.out.write_bytes(self.encoded(reply, status))

    def aside(self, reply: Reply, status: int | None = None) -> None:
        """Print one line of JSON on stderr."""
        self.channels.err.write_bytes(self.encoded(reply, status))

    def encoded(self, reply: Reply, status: int | None) -> bytes:
        """Return a reply as a top-level line."""
        from kebab.app.timestamps import format_timestamp
        from kebab.wire.record import encode, envelop

        code, now = None if status is None else int(status), format_timestamp(time.time())
        return encode(envelop(reply, command=self.command, timestamp=now, exit_code=code)) + b"\n"

    def again(self, flag: str, value: str) -> str:
        """Return this very command line, for a shell, with another value of one flag."""
        import shlex

        kept: list[str] = []
        rest = iter(self.arguments)
        for argument in rest:
            if argument == flag:
                next(rest, None)
            elif not argument.startswith(f"{flag}="):
                kept.append(argument)
        seam = kept.index("--") if "--" in kept else len(kept)
        return shlex.join(["kebab", *kept[:seam], flag, value, *kept[seam:]])


def _opener() -> Opener:
    from kebab.app.facade import Kebab

    return Kebab
