"""Contains a model of a disk: what may be left of a sequence of file-system calls after a cut.

What `fsync` has written is there. Of everything since then each change may be there or not: a
write, a truncation, or a name. A rename is one change. A write may be torn at a sector.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

SECTOR = 512
_KEPT_NAMES, _LOST, _TORN = 0.5, 0.4, 0.1
"""The shares of changes by chance: names that are kept, and data that is lost or torn."""
ROOT = 0
"""The number of the folder that is recorded."""


class DataChange(NamedTuple):
    """A write into a file, or the new size of one when `data` is None."""

    number: int
    offset: int
    data: bytes | None


class NameChange(NamedTuple):
    """Names that one call takes away and gives; a name is (number of its folder, name)."""

    number: int
    removed: tuple[tuple[int, str], ...] = ()
    added: tuple[tuple[int, str, int], ...] = ()

    @property
    def names(self) -> set[tuple[int, str]]:
        """Every name that changes."""
        return {*self.removed, *((folder, name) for folder, name, _ in self.added)}


class Content(NamedTuple):
    """A file on the disk: what was synced, and what came after that."""

    node: int
    version: int
    synced: bytes
    changes: tuple[DataChange, ...]
    mtime_ns: int | None

    @property
    def identity(self) -> tuple[object, ...]:
        """What two equal files have in common."""
        return (self.node, self.version, self.mtime_ns, *self.changes)

    def read(self) -> bytes:
        """Return the bytes."""
        return apply_changes(self.synced, self.changes)


class State(NamedTuple):
    """A disk after a cut: folders and files by their path, and how it came to be."""

    cut: int
    loss: str
    folders: frozenset[str]
    files: Mapping[str, Content]

    @property
    def identity(self) -> int:
        """Equal for equal disks."""
        parts = sorted((path, file.identity) for path, file in self.files.items())
        return hash((self.folders, tuple(parts)))


@dataclass(slots=True)
class _Node:
    """A file or a folder: what programs see, what is synced, and what is between the two."""

    is_folder: bool
    live: bytes = b""
    synced: bytes = b""
    version: int = 0
    pending: list[DataChange] = field(default_factory=list)
    mtime_ns: int | None = None


def apply_changes(data: bytes, changes: Sequence[DataChange]) -> bytes:
    """Return some bytes after writes and truncations; what was never written is zero."""
    result = bytearray(data)
    for change in changes:
        end = change.offset + len(change.data or b"")
        if len(result) < end:
            result.extend(bytes(end - len(result)))
        if change.data is None:
            del result[end:]
        else:
            result[change.offset : end] = change.data
    return bytes(result)


class Disk:
    """Follows the calls of a run, and tells what a cut after the last one may leave."""

    def __init__(self) -> None:
        self._nodes: dict[int, _Node] = {ROOT: _Node(is_folder=True)}
        self._live: dict[int, dict[str, int]] = {ROOT: {}}
        self._synced: dict[int, dict[str, int]] = {ROOT: {}}
        self._pending: list[NameChange] = []
        self._index = 0

    def find(self, path: str) -> int | None:
        """Return the number of what has this path now; the path of the root is empty."""
        found: int | None = ROOT
        for name in filter(None, path.split("/")):
            found = self._live.get(found, {}).get(name) if found is not None else None
        return found

    def read_live(self) -> dict[str, bytes]:
        """Return all files as programs see them."""
        found = _list_paths(self._live)
        return {
            path: self._nodes[node].live
            for path, node in found.items()
            if not self._nodes[node].is_folder
        }

    def create(self, path: str, *, is_folder: bool = False) -> int:
        """Create a file or a folder and return its number."""
        number = len(self._nodes)
        self._nodes[number] = _Node(is_folder)
        if is_folder:
            self._live[number], self._synced[number] = {}, {}
        self._rename((), ((*self._split(path), number),))
        return number

    def write(self, path: str, offset: int, data: bytes) -> None:
        """Write into a file."""
        self._change(path, offset, data)

    def append(self, path: str, data: bytes) -> None:
        """Write at the end of a file."""
        self._change(path, self.get_size(path), data)

    def truncate(self, path: str, size: int) -> None:
        """Set the size of a file."""
        if self.get_size(path) != size:
            self._change(path, size, None)

    def get_size(self, path: str) -> int:
        """Return the size of a file as programs see it."""
        return len(self._get(path).live)

    def set_time(self, path: str, mtime_ns: int) -> None:
        """Note the time that a program has seen of a file."""
        self._get(path).mtime_ns = mtime_ns

    def link(self, old: str, new: str) -> None:
        """Give a file a further name."""
        number = self.find(old)
        assert number is not None, old
        self._rename((), ((*self._split(new), number),))

    def rename(self, old: str, new: str) -> None:
        """Rename a file or a folder."""
        number = self.find(old)
        assert number is not None, old
        self._rename((self._split(old),), ((*self._split(new), number),))

    def remove(self, path: str) -> None:
        """Remove a name."""
        self._rename((self._split(path),), ())

    def sync(self, path: str) -> None:
        """Make the bytes of a file or the names in a folder durable."""
        number = self.find(path)
        assert number is not None, path
        node = self._nodes[number]
        if node.is_folder:
            self._sync_names(number)
        elif node.pending:
            node.synced, node.pending, node.version = node.live, [], node.version + 1

    def sync_all(self) -> None:
        """Make everything durable."""
        for path in _list_paths(self._live):
            self.sync(path)
        self._pending.clear()
        self._synced = {folder: dict(names) for folder, names in self._live.items()}

    def _get(self, path: str) -> _Node:
        number = self.find(path)
        assert number is not None, path
        return self._nodes[number]

    def _split(self, path: str) -> tuple[int, str]:
        folder, _, name = path.rpartition("/")
        number = self.find(folder)
        assert number is not None, path
        return number, name

    def _change(self, path: str, offset: int, data: bytes | None) -> None:
        self._index += 1
        node = self._get(path)
        change = DataChange(self._index, offset, data)
        node.live = apply_changes(node.live, [change])
        node.pending.append(change)
        node.mtime_ns = None

    def _rename(
        self, removed: tuple[tuple[int, str], ...], added: tuple[tuple[int, str, int], ...]
    ) -> None:
        self._index += 1
        change = NameChange(self._index, removed, added)
        _apply_names(self._live, change)
        self._pending.append(change)

    def _sync_names(self, folder: int) -> None:
        """Write the changes of the names in a folder, and those that they depend on."""
        written: set[int] = set()
        names: set[tuple[int, str]] = set()
        for change in reversed(self._pending):
            if names & change.names or folder in {number for number, _ in change.names}:
                names |= change.names
                written.add(change.number)
        for change in self._pending:
            if change.number in written:
                _apply_names(self._synced, change)
        self._pending = [change for change in self._pending if change.number not in written]

    def list_states(self, cut: int, seeds: int) -> Iterator[State]:
        """Yield what a cut may leave now; `seeds` is how often chance decides."""
        files = {number: node for number, node in self._nodes.items() if node.pending}
        last = max((node.pending[-1] for node in files.values()), default=None)

        def build(loss: str, names: Callable[[int], bool], data: "_Keep") -> State:
            return self._build(cut, loss, names, data)

        yield build("nothing", _keep_name, _keep)
        yield build("all", _lose_name, _lose)
        yield build("data", _keep_name, _lose)
        yield build("bytes, not sizes", _keep_name, self._lose_bytes)
        yield build("names", _lose_name, _keep)
        if last is not None and last.number == self._index:
            yield build("end of the last write", _keep_name, partial(_tear_at, last.number))
        for number in files if len(files) > 1 else ():
            yield build("data of one file", _keep_name, partial(_keep_others, number))
            yield build("data of all others", _keep_name, partial(_keep_one, number))
        for seed in range(seeds):
            chance = random.Random(f"{cut} {seed}")  # noqa: S311 - no secret
            yield build("by chance", partial(_choose_name, chance), partial(_choose, chance))
            end = chance.randint(0, self._index)
            yield build("the last part", end.__ge__, partial(_keep_until, end))

    def _lose_bytes(self, number: int, change: DataChange) -> Sequence[DataChange]:
        """Return what is left when the sizes were written: zeros beyond the synced end."""
        end = len(self._nodes[number].synced)
        if change.data is None:
            return (change,)
        beyond = change.offset + len(change.data) - max(end, change.offset)
        data = bytes(max(0, beyond))
        return (change._replace(offset=max(end, change.offset), data=data),) if data else ()

    def _build(
        self, cut: int, loss: str, keeps_name: Callable[[int], bool], keep: "_Keep"
    ) -> State:
        names = {folder: dict(entries) for folder, entries in self._synced.items()}
        for change in self._pending:
            if keeps_name(change.number):
                _apply_names(names, change)
        folders: set[str] = set()
        files: dict[str, Content] = {}
        for path, number in _list_paths(names).items():
            node = self._nodes[number]
            if node.is_folder:
                folders.add(path)
                continue
            changes = tuple(part for change in node.pending for part in keep(number, change))
            is_live = list(changes) == node.pending
            mtime_ns = node.mtime_ns if is_live else None
            files[path] = Content(number, node.version, node.synced, changes, mtime_ns)
        return State(cut, loss, frozenset(folders), files)


_Keep = Callable[[int, DataChange], Sequence[DataChange]]
"""Returns what is left of a change of a file."""


def _keep_name(_: int) -> bool:
    return True


def _lose_name(_: int) -> bool:
    return False


def _keep(_: int, change: DataChange) -> Sequence[DataChange]:
    return (change,)


def _lose(_: int, __: DataChange) -> Sequence[DataChange]:
    return ()


def _keep_others(lost: int, number: int, change: DataChange) -> Sequence[DataChange]:
    return (change,) if number != lost else ()


def _keep_one(kept: int, number: int, change: DataChange) -> Sequence[DataChange]:
    return (change,) if number == kept else ()


def _keep_until(end: int, _: int, change: DataChange) -> Sequence[DataChange]:
    return (change,) if change.number <= end else ()


def _tear_at(torn: int, _: int, change: DataChange) -> Sequence[DataChange]:
    return (_tear(change, 0.5),) if change.number == torn else (change,)


def _tear(change: DataChange, share: float) -> DataChange:
    """Return the begin of a write, up to a sector."""
    if change.data is None:
        return change
    end = int((change.offset + len(change.data) * share) // SECTOR * SECTOR)
    return change._replace(data=change.data[: max(0, end - change.offset)])


def _choose_name(chance: random.Random, _: int) -> bool:
    return chance.random() < _KEPT_NAMES


def _choose(chance: random.Random, _: int, change: DataChange) -> Sequence[DataChange]:
    luck = chance.random()
    if luck < _LOST:
        return ()
    return (_tear(change, chance.random()),) if luck < _LOST + _TORN else (change,)


def _apply_names(names: dict[int, dict[str, int]], change: NameChange) -> None:
    for folder, name in change.removed:
        names[folder].pop(name, None)
    for folder, name, number in change.added:
        names[folder][name] = number


def _list_paths(names: Mapping[int, Mapping[str, int]]) -> dict[str, int]:
    """Return the number of everything below the root by its path."""
    found: dict[str, int] = {}
    waiting = [("", ROOT)]
    while waiting:
        path, folder = waiting.pop()
        for name, number in names[folder].items():
            below = f"{path}/{name}" if path else name
            found[below] = number
            if number in names:
                waiting.append((below, number))
    return found
