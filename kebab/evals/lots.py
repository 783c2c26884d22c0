"""Drawing lots that fall alike on every machine: by hash, from a seed."""

import hashlib
from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")

_BYTES = 8


def lot(*what: object) -> int:
    """Return the lot of a thing; `what` names it, and the seed."""
    named = "\0".join(map(str, what)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.sha256(named).digest()[:_BYTES])


def shuffled(things: Iterable[T], seed: int, name: Callable[[T], object]) -> list[T]:
    """Return things in the order of their lots."""
    return sorted(things, key=lambda one: lot(seed, name(one)))
