"""Runs command lines in the warm process."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, NoReturn

from kebab.cli.channels import OutputChannel, OutputChannels

if TYPE_CHECKING:
    from collections.abc import Callable

    from kebab.warm.call import Call
    from kebab.warm.worker import KebabOpener

_OUT, _ERR = 1, 2


class CollectedChannel(OutputChannel):
    """A channel of another process; its output is collected until the call goes on live."""

    def __init__(self, call: Call, stream: int, name: str, *, best_effort: bool = False) -> None:
        super().__init__(call.descriptors[stream], name, best_effort=best_effort)
        self._call = call
        self._stream = stream

    def write_bytes(self, data: bytes) -> None:
        """Keep all bytes, or write them as `OutputChannel` does when the call is live."""
        if not self._call.collect(self._stream, bytes(data)):
            self.write_now(data)

    def write_now(self, data: bytes) -> None:
        """Write all bytes."""
        super().write_bytes(data)


def run_call(call: Call, opener: KebabOpener, leave: Callable[[int], NoReturn]) -> int:
    """Run a command line for a client; return its exit status.

    Raises:
        RunCold: The client must run it.
    """
    from kebab.cli.main import main

    out = CollectedChannel(call, _OUT, "<stdout>")
    err = CollectedChannel(call, _ERR, "<stderr>", best_effort=True)
    by_stream = {_OUT: out, _ERR: err}
    call.write_live = lambda stream, data: by_stream[stream].write_now(data)
    return main(
        call.request.arguments,
        OutputChannels(out, err),
        signals=(signal.SIGINT,),
        kebab_factory=opener,
        leave=leave,
    )
