"""The format of a published base: packs of items, and the list of where each item is.

An item is a page of the database, a row of vectors, or a part of a file. Items are stored once, in
packs that never change. A pack begins with the identities of its items, so that a publisher learns
what is stored without reading the rest. The contents of a snapshot list runs of items.

Files are compressed as one, everything else item by item, so that a reader can take single items.
"""

import hashlib
import struct
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import accumulate, pairwise

import msgspec
from msgspec import Struct

from kebab.errors.catalog import StoreCorrupt

FORMAT_VERSION = 2
CURRENT, PACKS, MANIFESTS = "current.json", "packs", "manifests"
PACK_BYTES = 4_000_000
"""The size of the items of a pack, before compression."""
MOST_SMALL_PACKS = 16
"""So many packs of less than a quarter of that size stay as they are; more are written together."""
PART_BYTES, SIGNS_BYTES = 1_000_000, 65_536
"""The size of the parts of files, and of those of the binary index."""
_LIVE_SHARE = 0.5
"""The packs with a smaller share of items that are in use are written anew."""
HEAD_BYTES = 65_536
"""How much of a pack is read for its identities; few need more."""
_LARGEST, _LARGEST_ITEM = 64_000_000, 1_000_000
_MAGIC, _APART = b"kebabpack1\n", b"kebabpack2\n"
"""How a pack begins whose items are compressed as one, and item by item."""
_HEAD = struct.Struct(">11sIIQ")
_ID_BYTES = 16
_LEVEL = 6


class Run(Struct, frozen=True, array_like=True):
    """Items that follow one another in a pack, which is named by its place in the list of packs."""

    pack: int
    start: int
    count: int


class PublishedFile(Struct, frozen=True, array_like=True):
    """A file whose content travels: its source, its path, its time, and its parts."""

    source: str
    path: str
    mtime_ns: int
    runs: list[Run]


class Contents(Struct, frozen=True):
    """Where the items of a snapshot are. `sizes` has the number of items of each pack."""

    packs: list[str]
    sizes: list[int]
    small: list[bool]
    page_bytes: int
    pages: list[Run]
    rows: list[Run]
    files: list[PublishedFile]
    signs: list[Run] = []
    """The parts of the binary index, for readers that keep no copy."""
    top: list[int] = []
    """The numbers of the pages that every search reads, from 0."""
    heads: list[str] = []
    """The SHA-256 of the beginning of each pack with items apart; empty for other packs."""

    def list_runs(self, *, copied: bool = False) -> list[Run]:
        """Return all runs, or with `copied` those that a copy consists of."""
        files = (run for file in self.files for run in file.runs)
        return [*self.pages, *self.rows, *files, *([] if copied else self.signs)]

    def count_live(self) -> list[int]:
        """Return how many different items of each pack are in use."""
        used: list[set[int]] = [set() for _ in self.packs]
        for run in self.list_runs():
            used[run.pack].update(range(run.start, run.start + run.count))
        return [len(one) for one in used]


def build_damage(path: str, cause: str) -> StoreCorrupt:
    """Return the error that a published object cannot be used."""
    return StoreCorrupt(path=path, cause=cause, published=True)


def identify(item: bytes) -> bytes:
    """Return the identity of an item."""
    return hashlib.blake2b(item, digest_size=_ID_BYTES).digest()


def name_object(data: bytes) -> str:
    """Return the name of an object that never changes: the SHA-256 of its content, in hex."""
    return hashlib.sha256(data).hexdigest()


def encode_pack(items: Sequence[bytes], *, apart: bool = False) -> bytes:
    """Return items as one pack; with `apart` each is compressed for itself."""
    ids = [*map(identify, items)]
    if apart:
        parts = [zlib.compress(item, _LEVEL) for item in items]
        sizes = array("I", map(len, parts)).tobytes()
        head = _HEAD.pack(_APART, len(items), len(sizes), sum(map(len, parts)))
        return b"".join((head, *ids, sizes, *parts))
    lengths = zlib.compress(array("I", map(len, items)).tobytes())
    head = _HEAD.pack(_MAGIC, len(items), len(lengths), sum(map(len, items)))
    body = zlib.compress(b"".join(items), _LEVEL)
    return b"".join((head, *ids, lengths, body))


class PackHead:
    """The identities of the items of a pack with items apart, and where each of them is."""

    def __init__(self, data: bytes, name: str) -> None:
        count, packed, _ = _read_head(data, name)
        start = _HEAD.size + count * _ID_BYTES
        if start + packed != count_head_bytes(count) or start + packed > len(data):
            raise build_damage(name, "the pack is not whole")
        self.ids = [data[at : at + _ID_BYTES] for at in range(_HEAD.size, start, _ID_BYTES)]
        lengths = array("I")
        lengths.frombytes(data[start : start + packed])
        self.places = [*accumulate(lengths, initial=start + packed)]
        """The offset of each item, and the end of the last one."""


def count_head_bytes(items: int) -> int:
    """Return the size of the beginning of a pack with so many items apart."""
    return _HEAD.size + items * (_ID_BYTES + array("I").itemsize)


def unpack_item(data: bytes, identity: bytes, name: str) -> bytes:
    """Return an item of a pack with items apart.

    Raises:
        StoreCorrupt: It is damaged.
    """
    with suppress(zlib.error, ValueError):
        item = _inflate(data, _LARGEST_ITEM)
        if identify(item) == identity:
            return item
    raise build_damage(name, "a part of it does not have the hash that is signed")


def read_identities(read: Callable[[int], bytes], name: str) -> list[bytes]:
    """Return the identities of the items of a pack, of which `read` returns the first bytes.

    Raises:
        StoreCorrupt: It is not a pack.
    """
    data = read(HEAD_BYTES)
    count, _, _ = _read_head(data, name)
    end = _HEAD.size + count * _ID_BYTES
    if len(data) < end:
        data = read(end)
    if len(data) < end:
        raise build_damage(name, "the pack is not whole")
    return [data[at : at + _ID_BYTES] for at in range(_HEAD.size, end, _ID_BYTES)]


def _read_head(data: bytes, name: str) -> tuple[int, int, int]:
    if len(data) < _HEAD.size or not data.startswith((_MAGIC, _APART)):
        raise build_damage(name, "it is not a pack of kebab")
    _, count, lengths, size = _HEAD.unpack_from(data)
    if size > _LARGEST:
        raise build_damage(name, "the pack is too large")
    return count, lengths, size


def decode_pack(data: bytes, name: str) -> list[bytes]:
    """Return the items of a pack.

    Raises:
        StoreCorrupt: It is not a pack.
    """
    count, packed, size = _read_head(data, name)
    start = _HEAD.size + count * _ID_BYTES
    if data.startswith(_APART):
        head = PackHead(data, name)
        parts = zip(head.ids, pairwise(head.places), strict=False)
        return [unpack_item(data[at:end], one, name) for one, (at, end) in parts]
    try:
        lengths = array("I")
        lengths.frombytes(_inflate(data[start : start + packed], count * lengths.itemsize))
        body = _inflate(data[start + packed :], size)
    except (zlib.error, ValueError) as fault:
        raise build_damage(name, "the pack cannot be unpacked") from fault
    if len(lengths) != count or sum(lengths) != len(body):
        raise build_damage(name, "the pack has other items than it lists")
    items, at = [], 0
    for length in lengths:
        items.append(body[at : at + length])
        at += length
    return items


def _inflate(data: bytes, size: int) -> bytes:
    """Return at most one byte more than `size`, whatever a stranger has packed."""
    stream = zlib.decompressobj()
    content = stream.decompress(data, size + 1)
    if not stream.eof:
        raise ValueError("it has another size than it says")
    return content


def encode_contents(contents: Contents) -> bytes:
    """Return the contents of a snapshot as an object."""
    return zlib.compress(msgspec.msgpack.encode(contents), _LEVEL)


def decode_contents(data: bytes, name: str, limit: int = 1 << 30) -> Contents:
    """Return the contents of a snapshot.

    Raises:
        StoreCorrupt: They cannot be read, or name items that no pack has.
    """
    try:
        contents = msgspec.msgpack.decode(_inflate(data, limit), type=Contents)
    except (zlib.error, msgspec.MsgspecError, ValueError) as fault:
        raise build_damage(name, "the contents cannot be read") from fault
    sizes = contents.sizes
    if contents.heads and len(contents.heads) != len(contents.packs):
        raise build_damage(name, "it has other packs than heads")
    for run in contents.list_runs():
        inside = 0 <= run.pack < len(sizes) and run.start >= 0 and run.count >= 0
        if not inside or run.start + run.count > sizes[run.pack]:
            raise build_damage(name, "it names items that no pack has")
    apart = (*contents.pages, *contents.rows, *contents.signs)
    if contents.heads and not all(is_object_name(contents.heads[run.pack]) for run in apart):
        raise build_damage(name, "it has packs without a head")
    pages = sum(run.count for run in contents.pages)
    if contents.top and not 0 <= min(contents.top) <= max(contents.top) < pages:
        raise build_damage(name, "it names pages that are not there")
    return contents


class PackWriter:
    """Places items in packs: those that older packs have stay there, new ones make new packs.

    `read_ids` returns the identities of a pack, None for one that cannot be used any more. `send`
    receives the name and the content of each new pack.
    """

    def __init__(
        self,
        before: Contents | None,
        read_ids: Callable[[str], list[bytes] | None],
        send: Callable[[str, bytes], None],
    ) -> None:
        self._send = send
        self._packs: list[str] = []
        self._sizes: list[int] = []
        self._small: list[bool] = []
        self._places: dict[bytes, tuple[int, int]] = {}
        self._heads: list[str] = []
        self._waiting: list[bytes] = []
        self._bytes = 0
        self.apart = True
        """Whether new packs have their items apart; `flush` comes before a change."""
        for name, head, small in _choose_kept(before) if before else ():
            ids = read_ids(name)
            if ids is None:
                continue
            for slot, one in enumerate(ids):
                self._places.setdefault(one, (len(self._packs), slot))
            self._close_pack(name, len(ids), head, small=small)

    def _close_pack(self, name: str, count: int, head: str, *, small: bool) -> None:
        self._packs.append(name)
        self._sizes.append(count)
        self._heads.append(head)
        self._small.append(small)

    def add(self, items: Iterable[bytes]) -> list[Run]:
        """Place items; return where they are."""
        runs: list[Run] = []
        for item in items:
            one = identify(item)
            place = self._places.get(one)
            if place is None:
                if self._bytes and self._bytes + len(item) > PACK_BYTES:
                    self.flush()
                place = self._places[one] = (len(self._packs), len(self._waiting))
                self._waiting.append(item)
                self._bytes += len(item)
            last = runs[-1] if runs else None
            if last and place == (last.pack, last.start + last.count):
                runs[-1] = Run(last.pack, last.start, last.count + 1)
            else:
                runs.append(Run(*place, 1))
        return runs

    def flush(self) -> None:
        """Send the items that wait as a pack."""
        if self._waiting:
            data = encode_pack(self._waiting, apart=self.apart)
            name, count = name_object(data), len(self._waiting)
            self._send(name, data)
            head = name_object(data[: count_head_bytes(count)]) if self.apart else ""
            self._close_pack(name, count, head, small=self._bytes * 4 < PACK_BYTES)
            self._waiting, self._bytes = [], 0

    def finish(
        self,
        page_bytes: int,
        pages: list[Run],
        rows: list[Run],
        files: list[PublishedFile],
        signs: Sequence[Run] = (),
        top: Sequence[int] = (),
    ) -> Contents:
        """Send what waits; return the contents, without packs that are not used any more."""
        self.flush()
        runs = [*pages, *rows, *(run for file in files for run in file.runs), *signs]
        used = sorted({run.pack for run in runs})
        numbers = {old: new for new, old in enumerate(used)}

        def renumber(old: Iterable[Run]) -> list[Run]:
            return [Run(numbers[run.pack], run.start, run.count) for run in old]

        return Contents(
            packs=[self._packs[one] for one in used],
            sizes=[self._sizes[one] for one in used],
            small=[self._small[one] for one in used],
            page_bytes=page_bytes,
            pages=renumber(pages),
            rows=renumber(rows),
            files=[
                PublishedFile(one.source, one.path, one.mtime_ns, renumber(one.runs))
                for one in files
            ],
            signs=renumber(signs),
            top=[*top],
            heads=[self._heads[one] for one in used],
        )


def _choose_kept(before: Contents) -> list[tuple[str, str, bool]]:
    """Return the packs that are used on, the hash of the head of each, and whether it is small."""
    if not before.heads:
        return []  # they are of an older format, so everything is sent once more
    live = before.count_live()
    kept = [
        (name, head, small)
        for name, head, small, size, used in zip(
            before.packs, before.heads, before.small, before.sizes, live, strict=True
        )
        if used >= size * _LIVE_SHARE
    ]
    if sum(small for *_, small in kept) > MOST_SMALL_PACKS:
        kept = [one for one in kept if not one[-1]]
    return kept


class PackReader:
    """Yields the items of runs, and keeps the packs that were read last in memory."""

    _KEPT = 4

    def __init__(self, contents: Contents, read: Callable[[str], bytes]) -> None:
        self._contents = contents
        self._read = read
        self._loaded: dict[int, list[bytes]] = {}

    def read_items(self, runs: Iterable[Run]) -> Iterator[bytes]:
        """Yield the items of runs in order.

        Raises:
            StoreCorrupt: A pack has another content than the list says.
        """
        for run in runs:
            items = self._load(run.pack)
            yield from items[run.start : run.start + run.count]

    def place_items(self, runs: Iterable[Run]) -> Iterator[tuple[int, bytes]]:
        """Yield the number and the content of each item, pack by pack; each pack is read once."""
        placed: dict[int, list[tuple[int, Run]]] = {}
        number = 0
        for run in runs:
            placed.setdefault(run.pack, []).append((number, run))
            number += run.count
        for pack, parts in placed.items():
            items = self._load(pack)
            for first, run in parts:
                yield from enumerate(items[run.start : run.start + run.count], first)

    def _load(self, pack: int) -> list[bytes]:
        if pack not in self._loaded:
            name = self._contents.packs[pack]
            items = decode_pack(self._read(name), f"{PACKS}/{name}")
            if len(items) != self._contents.sizes[pack]:
                raise build_damage(f"{PACKS}/{name}", "the pack has other items")
            while len(self._loaded) >= self._KEPT:
                del self._loaded[next(iter(self._loaded))]
            self._loaded[pack] = items
        return self._loaded[pack]


def is_object_name(name: str) -> bool:
    """Return whether a name is a SHA-256 in hex, as names of objects are."""
    return len(name) == hashlib.sha256().digest_size * 2 and not set(name) - set("0123456789abcdef")


def check_object(data: bytes | None, name: str, address: str) -> bytes:
    """Return the content of an object whose name is its hash.

    Raises:
        StoreCorrupt: It is missing, or has another content.
    """
    if data is None:
        raise build_damage(address, "the object is missing")
    if name_object(data) != name:
        raise build_damage(address, "its content does not have the hash of its name")
    return data
