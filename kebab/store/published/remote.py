"""Searches a published base without a copy: pages and vectors are read from the store when needed.

What was read stays in the cache folder, by its identity, so it serves later snapshots too. The
manifest is signed, names the contents of the snapshot by hash, and these name the head of each
pack, which has the hash of each item. So everything is checked that is read.
"""

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from kebab.core.durable import create_folder, replace_file
from kebab.core.progress import require_own_process
from kebab.errors.catalog import StoreCorrupt
from kebab.errors.system import translate_os_errors
from kebab.store.published.mirror import Mirror, Snapshot
from kebab.store.published.objects import ObjectStore
from kebab.store.published.packs import (
    PACKS,
    Contents,
    PackHead,
    Run,
    build_damage,
    check_object,
    count_head_bytes,
    decode_contents,
    encode_contents,
    unpack_item,
)

if TYPE_CHECKING:
    from kebab.core.chunks import Matrix
    from kebab.store.lance.remote import RemoteVectors
    from kebab.store.sqlite.remote import ItemCache, RemoteReader

T = TypeVar("T")
R = TypeVar("R")

_READERS = 16
_GAP_BYTES = 1_000
"""Parts that are no further apart are read with one request."""
_CONTENTS, _SALT, _SIGNS = "contents", "salt", "signs.binary"
_CACHE = "items.sqlite"


class _Place(NamedTuple):
    """An item: the number of its pack, and its place there."""

    pack: int
    slot: int


class ItemSource:
    """The items of one snapshot, from the cache or from the store.

    `forget` is called when the store has lost a part of the snapshot.
    """

    def __init__(
        self,
        store: ObjectStore,
        contents: Contents,
        cache: "ItemCache",
        forget: Callable[[], object] = lambda: None,
    ) -> None:
        self._store, self._cache, self._forget = store, cache, forget
        self._contents = contents
        self._heads: dict[int, PackHead] = {}
        self._loaded: dict[bytes, bytes] = {}
        """What was loaded last, which the cache may have had no room for."""
        self.read_bytes = self.requests = 0
        """How much was read from the store, and by how many requests."""

    def read_items(self, places: Sequence[_Place]) -> list[bytes]:
        """Return items in order; those that are not in the cache are loaded together.

        Raises:
            IoError: The store cannot be read.
            StoreCorrupt: It sends something else than was signed, or a pack is gone.
        """
        if len(places) > 1:
            self.load(places)
        return [self._unpack(place) for place in places]

    def _unpack(self, place: _Place) -> bytes:
        identity = self.read_head(place.pack).ids[place.slot]
        for _ in range(2):
            data = self._loaded.get(identity) or self._cache.get(identity)
            if data is None:
                data = self._fetch([place])[identity]
            with suppress(StoreCorrupt):
                return unpack_item(data, identity, self._name(place.pack))
            self._cache.delete(identity)
            self._loaded.pop(identity, None)
        raise build_damage(self._name(place.pack), "its cached parts are damaged")

    def _name(self, pack: int) -> str:
        return f"{PACKS}/{self._contents.packs[pack]}"

    def measure(self, places: Iterable[_Place]) -> int:
        """Return how many bytes of these are not in the cache."""
        return sum(end - start for _, start, end, _ in self._find_missing(places))

    def _find_missing(self, places: Iterable[_Place]) -> list[tuple[int, int, int, bytes]]:
        """Return the pack, the start, the end and the identity of what is not in the cache."""
        found = {}
        for place in sorted({*places}):
            head = self.read_head(place.pack)
            at = head.places[place.slot : place.slot + 2]
            found[head.ids[place.slot]] = place.pack, at[0], at[1]
        missing = self._cache.find_missing([*found]) - self._loaded.keys()
        return sorted((*place, one) for one, place in found.items() if one in missing)

    def load(self, places: Iterable[_Place]) -> None:
        """Load what is not in the cache."""
        places = [*places]
        self.load_heads({place.pack for place in places})
        self._loaded = self._fetch(places) or self._loaded

    def _fetch(self, places: Iterable[_Place]) -> dict[bytes, bytes]:
        groups: list[list[tuple[int, int, int, bytes]]] = []
        for one in self._find_missing(places):
            last = groups[-1][-1] if groups else None
            if last and last[0] == one[0] and one[1] - last[2] <= _GAP_BYTES:
                groups[-1].append(one)
            else:
                groups.append([one])
        found: dict[bytes, bytes] = {}
        for parts in self._map(self._fetch_group, groups):
            found.update(parts)
        self._cache.put(found.items())
        return found

    def _fetch_group(self, group: list[tuple[int, int, int, bytes]]) -> dict[bytes, bytes]:
        pack, start, end = group[0][0], group[0][1], group[-1][2]
        data = self._read_range(pack, start, end - start)
        found = {one: data[at - start : to - start] for _, at, to, one in group}
        for one, part in found.items():
            unpack_item(part, one, self._store.describe(self._name(pack)))
        return found

    def _map(self, work: Callable[[T], R], items: Sequence[T]) -> list[R]:
        if len(items) <= 1:
            return [*map(work, items)]
        with ThreadPoolExecutor(_READERS, "remote") as pool:
            return [*pool.map(work, items)]

    def _read_range(self, pack: int, start: int, size: int) -> bytes:
        name = self._name(pack)
        data = self._store.read_range(name, start, size)
        if data is None:
            self._forget()
            cause = "this part of the snapshot is gone; the next command reads the newest one"
            raise build_damage(self._store.describe(name), cause)
        self.read_bytes += len(data)
        self.requests += 1
        return data

    def load_heads(self, packs: Collection[int]) -> None:
        """Load together where the items of packs are."""
        wanted = [pack for pack in packs if pack not in self._heads]
        digests = {pack: bytes.fromhex(self._contents.heads[pack]) for pack in wanted}
        missing = self._cache.find_missing([*digests.values()])
        fetched = [pack for pack in wanted if digests[pack] in missing]

        def fetch(pack: int) -> bytes:
            data = self._read_range(pack, 0, count_head_bytes(self._contents.sizes[pack]))
            address = self._store.describe(self._name(pack))
            return check_object(data, self._contents.heads[pack], address)

        heads = dict(zip(fetched, self._map(fetch, fetched), strict=True))
        self._cache.put((digests[pack], data) for pack, data in heads.items())
        for pack in wanted:
            data = heads.get(pack) or self._cache.get(digests[pack]) or fetch(pack)
            self._heads[pack] = PackHead(data, self._name(pack))

    def read_head(self, pack: int) -> PackHead:
        """Return where the items of a pack are, and their identities."""
        if pack not in self._heads:
            self.load_heads([pack])
        return self._heads[pack]


class ItemList:
    """The items of runs, by number."""

    def __init__(self, source: ItemSource, runs: Sequence[Run]) -> None:
        self._source, self._runs = source, runs
        self._starts = [*accumulate((run.count for run in runs), initial=0)]
        self.count = self._starts[-1]
        """How many items there are."""

    def find(self, number: int) -> _Place:
        """Return the place of an item."""
        run = bisect_right(self._starts, number) - 1
        return _Place(self._runs[run].pack, self._runs[run].start + number - self._starts[run])

    def read(self, numbers: Sequence[int]) -> list[bytes]:
        """Return items; raises what `ItemSource.read_items` raises."""
        return self._source.read_items([self.find(number) for number in numbers])


class SnapshotPages:
    """The pages of the database of a snapshot."""

    _KEPT = 4_096

    def __init__(self, source: ItemSource, contents: Contents) -> None:
        self._source = source
        self._list = ItemList(source, contents.pages)
        self.page_bytes, self.count = contents.page_bytes, self._list.count
        self._top = frozenset(contents.top)
        self._kept: dict[int, bytes] = {}
        self.skipped: dict[str, int] = {}

    def read(self, number: int) -> bytes:
        """Return a page; those that were read last are kept in memory."""
        page = self._kept.get(number)
        if page is None:
            [page] = self._list.read([number])
            if len(page) != self.page_bytes:
                raise build_damage(f"page {number}", "it has another size")
            while len(self._kept) >= self._KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[number] = page
        return page

    def is_top(self, number: int) -> bool:
        """Return whether it is a page that nearly every search reads."""
        return number in self._top

    def measure(self, numbers: Collection[int]) -> int:
        """Return how many bytes would be read to load pages."""
        return self._source.measure(map(self._list.find, numbers))

    def load(self, numbers: Collection[int]) -> None:
        """Load pages together."""
        self._source.load([self._list.find(number) for number in numbers])


class RemoteBase:
    """An open snapshot of a base that is searched without a copy."""

    def __init__(
        self,
        folder: Path,
        url: str,
        chunks: int,
        cache_bytes: int,
        forget: Callable[[], object] = lambda: None,
    ) -> None:
        from kebab.store.sqlite.connection import get_database_path
        from kebab.store.sqlite.remote import ItemCache, mount_pages

        path = folder / _CONTENTS
        with translate_os_errors(path, "read"):
            self._contents = decode_contents(path.read_bytes(), str(path))
            self._salt = (folder / _SALT).read_text()
        self._folder, self._chunks = folder, chunks
        self.cache = ItemCache(folder.parent.parent / _CACHE, cache_bytes)
        self.source = ItemSource(ObjectStore(url), self._contents, self.cache, forget)
        self.pages = SnapshotPages(self.source, self._contents)
        self._unmount = mount_pages(get_database_path(folder), self.pages)

    def load_top(self) -> None:
        """Load what every search reads.

        These are the heads of all packs, the upper pages, and the binary index of the vectors.
        """
        self.cache.make_room()
        packs = {run.pack for run in (*self._contents.pages, *self._contents.rows)}
        self.source.load_heads(packs)
        self.pages.load(self._contents.top)
        signs = ItemList(self.source, self._contents.signs)
        if signs.count:
            with replace_file(self._folder / _SIGNS) as draft:
                for part in signs.read(range(signs.count)):
                    draft.write(part)

    def open_reader(self, *arguments: Any) -> "RemoteReader":
        """Return a reader of the database, with the arguments of `SqliteReader`."""
        from kebab.store.sqlite.remote import RemoteReader

        require_own_process()
        reader = RemoteReader(*arguments)
        reader.attach(self.pages, self._chunks, self._salt)
        return reader

    def open_vectors(
        self, version: str, dimension: int, load_axes: "Callable[[], Matrix | None]"
    ) -> "RemoteVectors":
        """Return the vectors."""
        from kebab.store.lance.remote import RemoteVectors

        vectors = RemoteVectors(self._folder, version, dimension, load_axes=load_axes)
        vectors.mount(self._folder / _SIGNS, ItemList(self.source, self._contents.rows).read)
        return vectors

    def close(self) -> None:
        """Close the cache; the readers are closed before."""
        self._unmount()
        self.cache.close()


class RemoteMirror(Mirror):
    """What is known here of a published base that is searched without a copy."""

    def _load_packs(self, contents: Contents) -> None:  # noqa: ARG002 - packs stay in the store
        with translate_os_errors(self.folder, "create"):
            create_folder(self.folder / PACKS, 0o700)

    def _fill(self, draft: Path, target: Path, snapshot: Snapshot) -> None:  # noqa: ARG002 - nothing in the folder names it
        """Write where everything is, and load what every search reads."""
        from kebab.store.sqlite.connection import get_database_path
        from kebab.store.sqlite.remote import check_schema

        manifest, contents, salt = snapshot
        if not contents.heads:
            cause = "an older kebab published it, so it can only be copied"
            raise build_damage(self._url, cause)
        (draft / _CONTENTS).write_bytes(encode_contents(contents))
        (draft / _SALT).write_text(salt)
        index = get_database_path(draft)
        with index.open("wb") as file:
            file.truncate(sum(run.count for run in contents.pages) * contents.page_bytes)
        base = RemoteBase(draft, self._url, manifest.chunks, self._cache_bytes)
        try:
            base.load_top()
            check_schema(index)
        finally:
            self.pulled += base.source.read_bytes
            base.close()
