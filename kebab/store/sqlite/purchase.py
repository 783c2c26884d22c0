"""Rent or buy: a table in memory is made once doing without it has cost as much."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")


class Purchase(Generic[T]):
    """Something that is worth making only for who asks again and again.

    Nobody knows how often a process will ask. Who waits until renting has cost as much as buying
    pays at most twice what was best (the ski rental problem).

    Args:
        make: Makes it.
        price: Returns how many seconds that takes, about.
        clock: Returns seconds that never run backwards.
    """

    def __init__(
        self,
        make: Callable[[], T],
        price: Callable[[], float],
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._make = make
        self._price = price
        self._clock = clock
        self._spent = 0.0
        self._made: T | None = None

    def get(self) -> T | None:
        """Return it once it has paid, None before."""
        if self._made is None and self._spent and self._spent >= self._price():
            self._made = self._make()
        return self._made

    def serve(self, bought: Callable[[T], R], rented: Callable[[], R]) -> R:
        """Return what it gives once made; before that, what is had without it, which is counted."""
        made = self.get()
        if made is not None:
            return bought(made)
        with self.renting():
            return rented()

    @contextmanager
    def renting(self) -> Iterator[None]:
        """Count what is done without it."""
        started = self._clock()
        try:
            yield
        finally:
            self._spent += self._clock() - started
