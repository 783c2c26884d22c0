"""Reads files that are zip archives, and their XML parts, within limits.

Members are read into memory, within limits, and never written anywhere, so their names are only
keys. Archives within archives are not opened. XML is read as a sequence of elements, without a
tree of the whole: entities cannot be declared, nothing outside the part is loaded, and depth is
limited.
"""

import io
import os
import re
import zlib
from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import BinaryIO, Literal, TypeAlias, cast
from xml.etree.ElementTree import Element, ParseError, XMLPullParser
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipInfo

from kebab.limits.deadline import build_refusal
from kebab.source.members import LOCAL_HEADER_BYTES, read_directory

MAX_MEMBER_BYTES = 128_000_000
"""The largest member to read. Markup of this size takes about ten seconds to parse."""

MAX_EXPANSION_BYTES = 384_000_000
"""The most bytes to which all members together may expand."""

MAX_RATIO = 200
"""The most bytes to which one byte may expand; sheets of repeated values reach about 100."""

MIN_SUSPICIOUS_BYTES = 16_000_000
"""Below this size the ratio does not matter."""

OLE2_MAGIC = bytes.fromhex("d0cf11e0a1b11ae1")
_ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")
_MB = 1_000_000
_SPARE_BYTES = 1 << 16
"""How much of a member is read in any case for its first bytes."""

ENCRYPTED = "the file is encrypted"
"""The cause of the refusal of a file that asks for a password."""


def read_packed(file: BinaryIO, info: ZipInfo, most: int | None = None) -> bytes:
    """Return the bytes of a member of a zip archive, or the first of them; it moves the file.

    Raises:
        ValueError: It is encrypted or damaged, or packed in a way that is not read.
    """
    if info.flag_bits & 0x1:
        raise ValueError(ENCRYPTED)
    if info.compress_type not in {ZIP_STORED, ZIP_DEFLATED}:
        raise ValueError(f"packed by a method that is not read: {info.compress_type}")
    size = info.file_size if most is None else min(most, info.file_size)
    file.seek(info.header_offset)
    head = file.read(LOCAL_HEADER_BYTES)
    file.seek(sum(int.from_bytes(head[at : at + 2], "little") for at in (26, 28)), os.SEEK_CUR)
    data = file.read(min(info.compress_size, 2 * size + _SPARE_BYTES))
    try:
        if info.compress_type == ZIP_DEFLATED:
            data = zlib.decompressobj(-zlib.MAX_WBITS).decompress(data, size + 1)
    except zlib.error as fault:
        raise ValueError(f"damaged: {fault}") from fault
    if most is None and (len(data) != size or zlib.crc32(data) != info.CRC):
        raise ValueError("damaged: its bytes have another size or checksum")
    return data[:size]


class Archive:
    """The members of a zip archive by name.

    Where two members have one name, the last is read, as by `zipfile`. Every method, also of
    derived classes, raises `ParseFailed` for what is damaged, encrypted, of another kind, or
    expands beyond the limits.
    """

    def __init__(self, data: bytes) -> None:
        """Read the directory of the archive."""
        self._file = io.BytesIO(data)
        self._size = len(data)
        self._read = 0
        if not data.startswith(b"PK"):
            raise build_refusal(explain_foreign_file(data))
        try:
            members = read_directory(self._file)
        except ValueError as fault:
            raise build_refusal(str(fault)) from fault
        self._check_expansion(sum(info.file_size for info in members))
        self._members = {info.filename.replace("\\", "/").lstrip("/"): info for info in members}
        self.names = tuple(self._members)
        """The names of the members in the order of the directory, without folders."""
        self._by_folded_name = {name.casefold(): name for name in self._members}

    def find_name(self, name: str) -> str | None:
        """Return the name of a member as it is written, whatever its case; None without one."""
        clean = name.lstrip("/")
        return clean if clean in self._members else self._by_folded_name.get(clean.casefold())

    def find(self, name: str) -> bytes | None:
        """Return the bytes of a member; None when there is none of that name."""
        known = self.find_name(name)
        if known is None:
            return None
        size = self._members[known].file_size
        if size > MAX_MEMBER_BYTES:
            raise build_refusal(f"`{known}` expands to more than {MAX_MEMBER_BYTES // _MB} MB")
        # A member that is read again counts again, so the work is bounded as well.
        self._check_expansion(self._read + size)
        self._read += size
        return self._unpack(known)

    def read(self, name: str) -> bytes:
        """Return the bytes of a member; `ParseFailed` when there is none of that name."""
        data = self.find(name)
        if data is None:
            raise build_refusal(f"damaged: `{name}` is missing")
        return data

    def find_tree(self, name: str | None) -> Element | None:
        """Return the root of a part in XML; None when there is no such part."""
        data = self.find(name) if name else None
        return None if data is None else read_tree(data, str(name))

    def check_sizes(self) -> None:
        """Unpack every member without keeping it, for libraries that trust the directory."""
        for name in self._members:
            self._unpack(name)

    def _unpack(self, name: str) -> bytes:
        try:
            return read_packed(self._file, self._members[name])
        except ValueError as fault:
            is_damaged = str(fault) != ENCRYPTED
            cause = f"damaged: `{name}` cannot be unpacked" if is_damaged else ENCRYPTED
            raise build_refusal(cause) from fault

    def _check_expansion(self, total: int) -> None:
        if total > MAX_EXPANSION_BYTES:
            raise build_refusal(f"expands to more than {MAX_EXPANSION_BYTES // _MB} MB")
        if total > max(self._size * MAX_RATIO, MIN_SUSPICIOUS_BYTES):
            raise build_refusal(f"expands to more than {MAX_RATIO} times its size")


def explain_foreign_file(data: bytes) -> str:
    """Return why a file that is no zip archive cannot be read as an office document or a book."""
    if not data.startswith(OLE2_MAGIC):
        return "damaged: not a zip archive"
    if _ENCRYPTED_PACKAGE in data:
        return ENCRYPTED
    return "an old Microsoft Office file; rename it to `.doc`, `.xls` or `.ppt`"


MAX_DEPTH = 200
"""The deepest nesting of elements; a table within a table adds about four levels."""

MAX_TREE_ELEMENTS = 1_000_000
"""The most elements of a part that is kept as a whole; they take about 100 MB."""

_FEED_BYTES = 1 << 16

_ENTITY = re.compile(rb"<\0*!\0*E\0*N\0*T\0*I\0*T\0*Y")
"""The declaration of an entity, in every encoding that expat reads."""

_ROOT_FIRST = re.compile(rb"(?s)(?:\s|<\?(?>.*?\?>)|<!--(?>.*?-->))*+<[^!?\0]")
"""What precedes the root element where it declares nothing."""

Event: TypeAlias = tuple[Literal["start", "end"], Element]
"""The start or the end of an element."""


def read_events(data: bytes, name: str) -> Iterator[Event]:
    """Yield the start and the end of every element of a part, in order.

    At its `end` an element is complete; clear it to keep memory small. Tags and attributes have
    their namespace in braces. `name` is the part's name, for errors.
    """
    if not _ROOT_FIRST.match(data) and _ENTITY.search(data):
        raise build_refusal(f"`{name}` declares XML entities")
    parser: XMLPullParser[Element] = XMLPullParser(("start", "end"))
    depth = 0
    try:
        for start in range(0, len(data), _FEED_BYTES):
            parser.feed(data[start : start + _FEED_BYTES])
            for event in cast("Iterator[Event]", parser.read_events()):
                depth += 1 if event[0] == "start" else -1
                if depth > MAX_DEPTH:
                    raise build_refusal(f"`{name}` is nested more than {MAX_DEPTH} levels deep")
                yield event
        parser.close()
        yield from cast("Iterator[Event]", parser.read_events())
    except (ParseError, ValueError, LookupError) as fault:
        cause = f"damaged: the XML of `{name}` is broken: {fault}"
        raise build_refusal(cause) from fault


def read_children(data: bytes, name: str, containers: Collection[str]) -> Iterator[Element]:
    """Yield each complete element that stands within containers only, then forget it.

    Containers are local tags, and are not yielded. A part of any size takes little memory as long
    as its elements are small.
    """
    stack: list[Element] = []
    outside = 0  # how many of the open elements are no containers
    for kind, element in read_events(data, name):
        is_container = get_local_tag(element.tag) in containers
        if kind == "start":
            stack.append(element)
            outside += not is_container
            continue
        stack.pop()
        outside -= not is_container
        if not outside:
            if not is_container:
                yield element
            if stack:
                del stack[-1][:]


@lru_cache(maxsize=4096)
def get_local_tag(tag: str) -> str:
    """Return a tag or attribute without its namespace: two editions of a format differ in it."""
    return tag.rpartition("}")[2]


def list_children(element: Element | None, *tags: str) -> list[Element]:
    """Return the children of an element, with `tags` those of these local tags."""
    children = [] if element is None else list(element)
    return [one for one in children if get_local_tag(one.tag) in tags] if tags else children


def find_all(element: Element | None, *tags: str) -> Iterator[Element]:
    """Yield an element and all elements within it that have one of the local tags."""
    for one in element.iter() if element is not None else ():
        if get_local_tag(one.tag) in tags:
            yield one


def find_child(element: Element | None, tag: str) -> Element | None:
    """Return the first child with a local tag."""
    for child in element if element is not None else ():
        if get_local_tag(child.tag) == tag:
            return child
    return None


def join_text(element: Element | None) -> str:
    """Return all text of an element on one line."""
    return " ".join("".join(element.itertext()).split()) if element is not None else ""


def get_attribute(element: Element, name: str, default: str = "") -> str:
    """Return an attribute by its local name, whatever its namespace."""
    for key, value in element.items():
        if get_local_tag(key) == name:
            return value
    return default


def read_tree(data: bytes, name: str) -> Element:
    """Return the root of a small part with all its elements."""
    root = Element("")
    for count, (_, element) in enumerate(read_events(data, name)):
        root = element  # the last event is the end of the root
        if count > 2 * MAX_TREE_ELEMENTS:
            raise build_refusal(f"`{name}` has more than {MAX_TREE_ELEMENTS:,} elements")
    return root
