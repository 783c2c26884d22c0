"""Reads the rows of a damaged SQLite file page by page, without SQLite.

SQLite refuses a whole table for one damaged page above its rows, and a whole file for its first
page. This module reads what is left, as the file format says (https://sqlite.org/fileformat2.html):
it walks each b-tree from its root, and gives the leaves that no tree reaches any more to the table
whose columns they fit. The salvage of a database uses it (`salvage.py`).
"""

import mmap
import struct
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, TypeAlias

from msgspec import Struct

Value: TypeAlias = int | float | str | bytes | None
Row: TypeAlias = tuple[Value, ...]

_MAGIC = b"SQLite format 3\0"
_DEFAULT_PAGE, _SMALLEST_PAGE, _LARGEST_PAGE = 4096, 512, 65_536
_HEADER_BYTES = 100
_INTERIOR_INDEX, _INTERIOR_TABLE, _LEAF_INDEX, _LEAF_TABLE = 2, 5, 10, 13
_INTEGER_BYTES = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
_ZERO, _ONE, _REAL, _FIRST_BLOB = 8, 9, 7, 12
_LOG_HEADER, _FRAME_HEADER = struct.Struct(">8I"), struct.Struct(">6I")
_LOG_MAGIC = 0x377F0682
"""The magic number of a log whose checksums are little-endian; the next number is big-endian."""
_WORD = 0xFFFFFFFF
_SCHEMA_COLUMNS = 5


class Damage(Exception):  # noqa: N818 - it never leaves this package
    """A page, a cell or a record cannot be read."""


class Column(NamedTuple):
    """A column of a STRICT table, as `PRAGMA table_info` describes it."""

    name: str
    type: str
    required: bool
    default: Value
    is_row_id: bool


class Table(Struct, frozen=True):
    """A table that is read: its columns in the order of a record, and the kind of its tree."""

    name: str
    columns: tuple[Column, ...]
    has_row_ids: bool

    def fit(self, row_id: int, values: Row) -> Row | None:
        """Return the row of a record; None when its values cannot belong to this table."""
        if len(values) > len(self.columns):
            return None
        row: list[Value] = []
        for number, column in enumerate(self.columns):
            value = values[number] if number < len(values) else column.default
            if column.is_row_id and value is None:
                value = row_id
            elif column.type == "REAL" and isinstance(value, int):
                value = float(value)  # SQLite stores whole numbers as integers
            is_absent = value is None
            if column.required if is_absent else not isinstance(value, _TYPES[column.type]):
                return None
            row.append(value)
        return tuple(row)


_TYPES: Mapping[str, tuple[type, ...]] = {
    "INTEGER": (int,),
    "TEXT": (str,),
    "REAL": (float,),
    "BLOB": (bytes,),
}


class DatabasePages:
    """The pages of a database file, with those of its log in front of them."""

    def __init__(self, path: Path) -> None:
        """Map the file and read its log.

        Raises:
            OSError: A file cannot be read.
        """
        self._data: mmap.mmap | bytes = b""
        if path.exists() and path.stat().st_size:
            with path.open("rb") as file:
                self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self.size = self._find_page_size()
        log = path.with_name(f"{path.name}-wal")
        self.logged = _read_log(log.read_bytes(), self.size) if log.exists() else {}
        self._usable = self.size  # kebab reserves no bytes of a page
        last = max(self.logged, default=0)
        self.count = max(-(-len(self._data) // self.size), last)
        self._seen: set[int] = set()
        self._free = self._list_free_pages()
        self.torn: list[Table] = []
        """The tables that lost rows, as far as they were read."""

    @property
    def user_version(self) -> int:
        """The schema version in the header."""
        return int.from_bytes(self._get(1)[60:64], "big")

    def _find_page_size(self) -> int:
        size = int.from_bytes(self._data[16:18], "big")
        size = _LARGEST_PAGE if size == 1 else size
        is_valid = size >= _SMALLEST_PAGE and size & (size - 1) == 0
        return size if is_valid and self._data[: len(_MAGIC)] == _MAGIC else _DEFAULT_PAGE

    def _get(self, number: int) -> bytes:
        page = self.logged.get(number)
        if page is None:
            page = self._data[(number - 1) * self.size : number * self.size]
        return page

    def _list_free_pages(self) -> set[int]:
        """Return the pages of the free list, which hold rows that were deleted."""
        header = self._get(1)
        free: set[int] = set()
        self._trunks: set[int] = set()
        trunk = int.from_bytes(header[32:36], "big")
        while 0 < trunk <= self.count and trunk not in free:
            free.add(trunk)
            self._trunks.add(trunk)
            page = self._get(trunk)
            count = min(int.from_bytes(page[4:8], "big"), self.size // 4 - 2)
            leaves = struct.unpack_from(f">{count}I", page.ljust(self.size, b"\0"), 8)
            free.update(leaf for leaf in leaves if 0 < leaf <= self.count)
            trunk = int.from_bytes(page[:4], "big")
        return free

    def read_roots(self) -> dict[str, int]:
        """Return the root page of each table; those of a damaged schema are missing."""
        roots: dict[str, int] = {}
        for _, values in self._walk(1, [0]):
            if len(values) == _SCHEMA_COLUMNS and values[0] == "table":
                name, root = values[1], values[3]
                if isinstance(name, str) and isinstance(root, int) and 1 < root <= self.count:
                    roots[name] = root
        return roots

    def read_table(self, table: Table, root: int | None) -> Iterator[Row]:
        """Yield the rows of the tree at a root, and note in `torn` when some are lost."""
        lost = [0]
        # The walk of a page that does not exist counts it as lost.
        for row_id, values in self._walk(root or 0, lost):
            row = table.fit(row_id, values)
            if row is None:
                lost[0] += 1
            else:
                yield row
        if lost[0]:
            self.torn.append(table)

    def adopt_leaves(self) -> Iterator[tuple[Table, list[Row]]]:
        """Yield the rows of leaves without a tree, which the torn tables may have lost.

        A leaf is taken when all its records fit one of these tables, and no other.
        """
        for number in range(2, self.count + 1) if self.torn else ():
            kind = self._get(number)[:1]
            is_leaf = kind in (bytes([_LEAF_TABLE]), bytes([_LEAF_INDEX]))
            if number in self._seen or number in self._free or not is_leaf:
                continue
            records = list(self._walk(number, [0]))
            fitting = []
            for table in self.torn:
                rows = [table.fit(*record) for record in records]
                if table.has_row_ids == (kind[0] == _LEAF_TABLE) and rows and None not in rows:
                    fitting.append((table, [row for row in rows if row is not None]))
            if len(fitting) == 1:
                yield fitting[0]

    def _walk(self, root: int, lost: list[int]) -> Iterator[tuple[int, Row]]:
        """Yield the row id and the values of each record of a tree; count what is lost."""
        stack, kinds = [root], set[bool]()
        while stack:
            number = stack.pop()
            if not 0 < number <= self.count or number in self._seen:
                lost[0] += 1
                continue
            page = self._get(number)
            start = _HEADER_BYTES if number == 1 else 0
            kind = page[start] if len(page) == self.size else 0
            is_table = kind in (_LEAF_TABLE, _INTERIOR_TABLE)
            if kind not in (_LEAF_TABLE, _INTERIOR_TABLE, _LEAF_INDEX, _INTERIOR_INDEX) or (
                kinds and is_table not in kinds
            ):
                lost[0] += 1
                continue
            kinds.add(is_table)
            self._seen.add(number)
            is_interior = kind in (_INTERIOR_TABLE, _INTERIOR_INDEX)
            if is_interior:
                stack.append(int.from_bytes(page[start + 8 : start + 12], "big"))
            for cell in self._list_cells(page, start, is_interior=is_interior, lost=lost):
                if is_interior:
                    stack.append(int.from_bytes(page[cell : cell + 4], "big"))
                if kind == _INTERIOR_TABLE:
                    continue
                try:
                    yield self._read_cell(page, cell + 4 * is_interior, is_table=is_table)
                except (Damage, IndexError, struct.error, UnicodeDecodeError):
                    lost[0] += 1

    def _list_cells(
        self, page: bytes, start: int, *, is_interior: bool, lost: list[int]
    ) -> list[int]:
        count = int.from_bytes(page[start + 3 : start + 5], "big")
        first = start + (12 if is_interior else 8)
        most = (self.size - first) // 2
        if count > most:
            lost[0] += 1
            return []
        cells = struct.unpack_from(f">{count}H", page, first)
        inside = [cell for cell in cells if first + 2 * count <= cell < self.size]
        lost[0] += len(cells) - len(inside)
        return inside

    def _read_cell(self, page: bytes, position: int, *, is_table: bool) -> tuple[int, Row]:
        length, position = read_varint(page, position)
        row_id = 0
        if is_table:
            row_id, position = read_varint(page, position)
            row_id -= (row_id >> 63) << 64
        local = self._find_local_length(length, is_table=is_table)
        payload = page[position : position + local]
        if local < length:
            following = int.from_bytes(page[position + local : position + local + 4], "big")
            payload += self._read_overflow(following, length - local)
        if len(payload) != length:
            raise Damage
        return row_id, _read_record(payload)

    def _find_local_length(self, length: int, *, is_table: bool) -> int:
        """Return how much of a payload of a length is in the page of its cell."""
        least = (self._usable - 12) * 32 // 255 - 23
        most = self._usable - 35 if is_table else (self._usable - 12) * 64 // 255 - 23
        if length <= most:
            return length
        local = least + (length - least) % (self._usable - 4)
        return local if local <= most else least

    def _find_overflow(self, page: bytes, position: int, *, is_table: bool) -> tuple[int, int]:
        """Return the first page and the length of what is not in the page of a cell."""
        length, position = read_varint(page, position)
        if is_table:
            _, position = read_varint(page, position)
        local = self._find_local_length(length, is_table=is_table)
        following = int.from_bytes(page[position + local : position + local + 4], "big")
        return (following, length - local) if local < length else (0, 0)

    def _read_overflow(self, number: int, length: int) -> bytes:
        parts: list[bytes] = []
        while length > 0:
            if not 0 < number <= self.count or number in self._seen or number in self._free:
                raise Damage
            self._seen.add(number)
            page = self._get(number)
            parts.append(page[4 : 4 + min(length, self._usable - 4)])
            if not parts[-1]:
                raise Damage
            length -= len(parts[-1])
            number = int.from_bytes(page[:4], "big")
        return b"".join(parts)


class PageCleaner(DatabasePages):
    """Zeroes the bytes of pages that no row uses: they hold what was deleted.

    Single bytes between rows, at most three at a place, stay.
    """

    def clean(self, roots: Iterable[int]) -> Iterator[tuple[int, bytes]]:
        """Yield the number and the new content of each page that changes, by the roots of trees."""
        for number in sorted(self._free):
            page = self._get(number)
            is_trunk = number in self._trunks
            used = 8 + 4 * int.from_bytes(page[4:8], "big") if is_trunk else 0
            yield from self._change(number, page, page[:used].ljust(self.size, b"\0"))
        for root in roots:
            stack = [root]
            while stack:
                number = stack.pop()
                page = self._get(number)
                start = _HEADER_BYTES if number == 1 else 0
                is_interior = page[start] in (_INTERIOR_TABLE, _INTERIOR_INDEX)
                cells = self._list_cells(page, start, is_interior=is_interior, lost=[0])
                if is_interior:
                    stack.append(int.from_bytes(page[start + 8 : start + 12], "big"))
                    stack += [int.from_bytes(page[cell : cell + 4], "big") for cell in cells]
                if page[start] != _INTERIOR_TABLE:
                    for cell in cells:
                        is_table = page[start] == _LEAF_TABLE
                        place = self._find_overflow(page, cell + 4 * is_interior, is_table=is_table)
                        yield from self._clean_overflow(*place)
                yield from self._change(number, page, _clean_tree_page(page, start, len(cells)))

    def _change(self, number: int, page: bytes, clean: bytes) -> Iterator[tuple[int, bytes]]:
        if page != clean:
            yield number, clean

    def _clean_overflow(self, number: int, length: int) -> Iterator[tuple[int, bytes]]:
        while length > 0 and number:
            page = self._get(number)
            used = 4 + min(length, self._usable - 4)
            yield from self._change(number, page, page[:used].ljust(self.size, b"\0"))
            length -= self._usable - 4
            number = int.from_bytes(page[:4], "big")

    def close(self) -> None:
        """Unmap the file."""
        if isinstance(self._data, mmap.mmap):
            self._data.close()


def _clean_tree_page(page: bytes, start: int, cells: int) -> bytes:
    """Return a page of a tree with zeros between the list of cells and the cells, and in holes."""
    clean = bytearray(page)
    is_interior = page[start] in (_INTERIOR_TABLE, _INTERIOR_INDEX)
    first = start + (12 if is_interior else 8) + 2 * cells
    content = int.from_bytes(page[start + 5 : start + 7], "big") or _LARGEST_PAGE
    clean[first:content] = bytes(content - first)
    hole = int.from_bytes(page[start + 1 : start + 3], "big")
    while hole:
        size = int.from_bytes(page[hole + 2 : hole + 4], "big")
        clean[hole + 4 : hole + size] = bytes(size - 4)
        hole = int.from_bytes(page[hole : hole + 2], "big")
    return bytes(clean)


def read_varint(data: bytes, position: int) -> tuple[int, int]:
    """Return a variable-length integer, unsigned, and the position behind it."""
    value = 0
    for _ in range(8):
        byte = data[position]
        position += 1
        value = value << 7 | byte & 0x7F
        if byte < 0x80:  # noqa: PLR2004 - the high bit says that more bytes follow
            return value, position
    return value << 8 | data[position], position + 1


def _read_record(payload: bytes) -> Row:
    """Return the values of a record."""
    header, position = read_varint(payload, 0)
    types: list[int] = []
    while position < header:
        kind, position = read_varint(payload, position)
        types.append(kind)
    if position != header:
        raise Damage
    values: list[Value] = []
    for kind in types:
        if kind in _INTEGER_BYTES or kind == _REAL:
            size = _INTEGER_BYTES.get(kind, 8)
        else:
            size = (kind - _FIRST_BLOB) // 2 if kind >= _FIRST_BLOB else 0
        raw = payload[position : position + size]
        position += size
        if len(raw) != size or kind in (10, 11):
            raise Damage
        values.append(_read_value(kind, raw))
    if position != len(payload):
        raise Damage
    return tuple(values)


def _read_value(kind: int, raw: bytes) -> Value:
    if kind in _INTEGER_BYTES:
        return int.from_bytes(raw, "big", signed=True)
    if kind == _REAL:
        return float(struct.unpack(">d", raw)[0])
    if kind in (_ZERO, _ONE):
        return kind - _ZERO
    if kind >= _FIRST_BLOB:
        return raw.decode() if kind % 2 else raw
    return None


def _read_log(log: bytes, page_size: int) -> dict[int, bytes]:
    """Return the pages of the transactions that a write-ahead log has committed.

    The log ends at the first frame whose salt or checksum is wrong.
    """
    if len(log) < _LOG_HEADER.size:
        return {}
    magic, _, size, _, salt_1, salt_2, *_ = _LOG_HEADER.unpack_from(log)
    if magic & ~1 != _LOG_MAGIC or size != page_size:
        return {}
    order = ">" if magic & 1 else "<"
    sums = _add_checksum(log[: _LOG_HEADER.size - 8], (0, 0), order)
    pages: dict[int, bytes] = {}
    open_pages: dict[int, bytes] = {}
    for start in range(_LOG_HEADER.size, len(log), _FRAME_HEADER.size + size):
        page = log[start + _FRAME_HEADER.size : start + _FRAME_HEADER.size + size]
        if len(page) < size:
            break
        number, committed, *rest = _FRAME_HEADER.unpack_from(log, start)
        sums = _add_checksum(log[start : start + 8], sums, order)
        sums = _add_checksum(page, sums, order)
        if rest != [salt_1, salt_2, *sums]:
            break
        open_pages[number] = page
        if committed:
            pages |= open_pages
            open_pages = {}
    return pages


def _add_checksum(data: bytes, sums: tuple[int, int], order: str) -> tuple[int, int]:
    first, second = sums
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for one, two in zip(words[::2], words[1::2], strict=True):
        first = (first + one + second) & _WORD
        second = (second + two + first) & _WORD
    return first, second
