"""Kills a process before or after one of its writes, for programs that check what is left."""

import os
import signal
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any


def count_writes(writes: Iterable[tuple[Any, str]], dies_at: int = 0) -> Callable[[], int]:
    """Count the begins and ends of writes in this process from now on; kill it at one of them.

    Args:
        writes: The functions that write, as their owner and their name.
        dies_at: The number of the begin or end, from 1; 0 means none.

    Returns:
        A function that returns the number so far.
    """
    passed = 0

    def step() -> None:
        nonlocal passed
        passed += 1
        if passed == dies_at:
            os.kill(os.getpid(), signal.SIGKILL)

    def wrap(real: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(real)
        def write(*arguments: Any, **options: Any) -> Any:
            step()
            result = real(*arguments, **options)
            step()
            return result

        return write

    for owner, name in writes:
        setattr(owner, name, wrap(getattr(owner, name)))
    return lambda: passed
