"""Every point, and what can go wrong there."""

from collections.abc import Callable, Mapping

from tests.faults.seams import files, lance, model, network, process, sqlite
from tests.faults.world import Fault

_TABLE: Mapping[str, Callable[[str], list[Fault]]] = {
    files.PREFIX: files.list_faults,
    "sqlite": sqlite.list_faults,
    "vfs": sqlite.list_faults,
    lance.PREFIX: lance.list_faults,
    "onnx": model.list_faults,
    "tokens": model.list_faults,
    "net": network.list_faults,
    "channel": process.list_channel_faults,
    "memory": process.list_profile_faults,
    "interrupt": process.list_profile_faults,
}
_LASTING = {"ENOSPC", "EROFS", "EACCES", "EIO", "FULL", "IOERR_READ", "IOERR_WRITE", "READONLY"}
"""What usually stays as it is: a full disk, a medium that went bad."""


def list_faults(point: str, clocks: process.Clocks) -> list[Fault]:
    """Return the faults of a point."""
    if point.startswith("clock."):
        return clocks.faults(point)
    return _TABLE[point.partition(".")[0]](point)


def can_last(fault: Fault) -> bool:
    """Return whether the same may meet every later call too."""
    return fault.name in _LASTING
