"""A cluster in this process: it pickles what crosses machines, and loses the batches it is told."""

import pickle
from collections.abc import Callable, Collection, Generator, Iterable
from typing import Any


class FakeCluster:
    """Implements `kebab.core.ports.Cluster`."""

    def __init__(self, lost: Collection[int] = ()) -> None:
        self.lost = lost
        self.folders: list[str | None] = []
        """The folder of each call."""
        self.sizes: list[int] = []
        """The number of batches of each call."""

    def map_batches(
        self,
        make_handler: Callable[[str | None], Callable[[Any], Any]],
        batches: Iterable[Any],
        should_stop: Callable[[], bool],
        *,
        folder: str | None = None,
    ) -> Generator[Any, None, None]:
        """Yield the results in order, None of a lost batch, until told to stop."""
        self.folders.append(folder)
        sent = [pickle.dumps(batch) for batch in batches]
        self.sizes.append(len(sent))
        handler = pickle.loads(pickle.dumps(make_handler))(folder)
        try:
            for number, batch in enumerate(sent):
                if should_stop():
                    return
                is_lost = number in self.lost
                yield None if is_lost else pickle.loads(pickle.dumps(handler(pickle.loads(batch))))
        finally:
            for slot in getattr(handler, "_slots", ()):
                slot.end()
