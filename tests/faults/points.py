"""Every point, and what can go wrong there."""

from collections.abc import Callable, Mapping

from tests.faults.seams import files, lance, model, network, process, sqlite
from tests.faults.world import Fault

_TABLE: Mapping[str, Callable[[str], list[Fault]]] = {
    files.PREFIX: files.faults,
    "sqlite": sqlite.faults,
    "vfs": sqlite.faults,
    lance.PREFIX: lance.faults,
    "onnx": model.faults,
    "tokens": model.faults,
    "net": network.faults,
    "channel": process.channel_faults,
    "memory": process.profile_faults,
    "interrupt": process.profile_faults,
}
_LASTING = {"ENOSPC", "EROFS", "EACCES", "EIO", "FULL", "IOERR_READ", "IOERR_WRITE", "READONLY"}
"""What usually stays as it is: a full disk, a medium that went bad."""


def faults(point: str, clocks: process.Clocks) -> list[Fault]:
    """Return the faults of a point."""
    if point.startswith("clock."):
        return clocks.faults(point)
    return _TABLE[point.partition(".")[0]](point)


def can_last(fault: Fault) -> bool:
    """Return whether the same may meet every later call too."""
    return fault.name in _LASTING
