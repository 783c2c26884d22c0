"""Reads files that are zip archives, and their XML parts, within limits.

Members are read into memory, within limits, and never written anywhere, so their names are only
keys. Archives within archives are not opened. XML is read as a sequence of elements, without a
tree of the whole: entities cannot be declared, nothing outside the part is loaded, and depth is
limited.
"""

import io
import lzma
import struct
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from functools import lru_cache, partial
from typing import Literal, TypeAlias, cast
from xml.etree.ElementTree import Element, ParseError, XMLPullParser
from xml.parsers import expat

from kebab.errors.catalog import ParseFailed
from kebab.limits.deadline import build_failure

MAX_MEMBERS = 20_000
"""The most members of an archive; a book of 5,000 pages with pictures has about half as many."""

MAX_MEMBER_BYTES = 128_000_000
"""The largest member to read. Markup of this size takes about ten seconds to parse."""

MAX_EXPANSION_BYTES = 384_000_000
"""The most bytes to which all members together may expand."""

MAX_RATIO = 200
"""The most bytes to which one byte may expand; sheets of repeated values reach about 100."""

_MIN_SUSPICIOUS_BYTES = 16_000_000
"""Below this size the ratio does not matter."""

OLE2_MAGIC = bytes.fromhex("d0cf11e0a1b11ae1")
_ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")
_LOCAL_HEADER_BYTES = 30
_ENCRYPTED_FLAG = 0x1
_MB = 1_000_000

ENCRYPTED = "the file is encrypted"
"""The cause of the refusal of a file that asks for a password."""

_ERRORS = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    OSError,
    ValueError,
    NotImplementedError,
    RuntimeError,
)
"""What `zipfile` and its decompressors raise for bytes that are no sound archive."""


class Archive:
    """The members of a zip archive by name.

    `path` and `parser` are for errors. Where two members have one name, the last is read, as by
    `zipfile`. Every method, also of derived classes, raises `ParseFailed` for what is damaged,
    encrypted, of another kind, or expands beyond the limits.
    """

    def __init__(self, data: bytes, path: str, parser: str) -> None:
        """Read the directory of the archive."""
        self.refuse: Refuse = partial(build_failure, path, parser)
        """Returns the error for this file."""
        self._size = len(data)
        self._read = 0
        if not data.startswith(b"PK"):
            raise self.refuse(explain_foreign_file(data))
        with self._refuse_damage("the zip archive is cut off or broken"):
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        members = self._zip.infolist()
        if len(members) > MAX_MEMBERS:
            raise self.refuse(f"more than {MAX_MEMBERS:,} files in one archive")
        self._check_expansion(sum(info.file_size for info in members))
        end = 0
        for info in sorted(members, key=lambda info: info.header_offset):
            # The members of small bombs share bytes of the file.
            if info.header_offset < end:
                raise self.refuse("damaged: files of the archive overlap")
            end = info.header_offset + _LOCAL_HEADER_BYTES + info.compress_size
        self._members = {
            info.filename.replace("\\", "/").lstrip("/"): info
            for info in members
            if not info.is_dir()
        }
        self._by_folded_name = {name.casefold(): name for name in self._members}

    @property
    def names(self) -> Sequence[str]:
        """The names of the members in the order of the directory, without folders."""
        return tuple(self._members)

    def find_name(self, name: str) -> str | None:
        """Return the name of a member as it is written, whatever its case; None without one."""
        clean = name.lstrip("/")
        return clean if clean in self._members else self._by_folded_name.get(clean.casefold())

    def find(self, name: str) -> bytes | None:
        """Return the bytes of a member; None when there is none of that name."""
        known = self.find_name(name)
        if known is None:
            return None
        info = self._members[known]
        if info.flag_bits & _ENCRYPTED_FLAG:
            raise self.refuse(ENCRYPTED)
        if info.file_size > MAX_MEMBER_BYTES:
            raise self.refuse(f"`{known}` expands to more than {MAX_MEMBER_BYTES // _MB} MB")
        # A member that is read again counts again, so the work is bounded as well.
        self._check_expansion(self._read + info.file_size)
        self._read += info.file_size
        with self._refuse_damage(f"`{known}` cannot be unpacked"):
            return self._zip.read(info)

    def read(self, name: str) -> bytes:
        """Return the bytes of a member; `ParseFailed` when there is none of that name."""
        data = self.find(name)
        if data is None:
            raise self.refuse(f"damaged: `{name}` is missing")
        return data

    def find_tree(self, name: str | None) -> Element | None:
        """Return the root of a part in XML; None when there is no such part."""
        data = self.find(name) if name else None
        return None if data is None else read_tree(data, str(name), self.refuse)

    def check_sizes(self) -> None:
        """Unpack every member without keeping it, for libraries that trust the directory."""
        for name, info in self._members.items():
            if info.flag_bits & _ENCRYPTED_FLAG:
                raise self.refuse(ENCRYPTED)
            with self._refuse_damage(f"`{name}` cannot be unpacked"):
                probe = copy(info)
                probe.file_size += 1  # `zipfile` unpacks no more than this
                size = 0
                with self._zip.open(probe) as file:
                    while part := file.read(1 << 20):
                        size += len(part)
                if size != info.file_size:
                    raise self.refuse(f"damaged: the size of `{name}` is wrong")

    @contextmanager
    def _refuse_damage(self, cause: str) -> Iterator[None]:
        try:
            yield
        except _ERRORS as fault:
            raise self.refuse(f"damaged: {cause}") from fault

    def _check_expansion(self, total: int) -> None:
        if total > MAX_EXPANSION_BYTES:
            raise self.refuse(f"expands to more than {MAX_EXPANSION_BYTES // _MB} MB")
        if total > max(self._size * MAX_RATIO, _MIN_SUSPICIOUS_BYTES):
            raise self.refuse(f"expands to more than {MAX_RATIO} times its size")


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

Event: TypeAlias = tuple[Literal["start", "end"], Element]
"""The start or the end of an element."""
Refuse: TypeAlias = Callable[[str], ParseFailed]
"""Builds the error for a file from its cause, e.g. `Archive.refuse`."""


class _PrologEnded(Exception):  # noqa: N818 - no error
    """The root element begins."""


def read_events(data: bytes, name: str, refuse: Refuse) -> Iterator[Event]:
    """Yield the start and the end of every element of a part, in order.

    At its `end` an element is complete; clear it to keep memory small. Tags and attributes have
    their namespace in braces. `name` is the part's name, for errors.

    Raises:
        ParseFailed: The part is no XML, declares entities, or is nested too deeply.
    """
    _refuse_entities(data, name, refuse)
    parser: XMLPullParser[Element] = XMLPullParser(("start", "end"))
    depth = 0
    try:
        for start in range(0, len(data), _FEED_BYTES):
            parser.feed(data[start : start + _FEED_BYTES])
            for event in cast("Iterator[Event]", parser.read_events()):
                depth += 1 if event[0] == "start" else -1
                if depth > MAX_DEPTH:
                    raise refuse(f"`{name}` is nested more than {MAX_DEPTH} levels deep")
                yield event
        parser.close()
        yield from cast("Iterator[Event]", parser.read_events())
    except (ParseError, ValueError, LookupError) as fault:
        raise _refuse_broken(fault, name, refuse) from fault


def read_children(
    data: bytes, name: str, refuse: Refuse, containers: Collection[str]
) -> Iterator[Element]:
    """Yield each complete element that stands within containers only, then forget it.

    Containers are local tags, and are not yielded. A part of any size takes little memory as long
    as its elements are small.

    Raises:
        ParseFailed: The part is no XML, declares entities, or is nested too deeply.
    """
    stack: list[Element] = []
    outside = 0  # how many of the open elements are no containers
    for kind, element in read_events(data, name, refuse):
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


def get_attribute(element: Element, name: str, default: str = "") -> str:
    """Return an attribute by its local name, whatever its namespace."""
    for key, value in element.items():
        if get_local_tag(key) == name:
            return value
    return default


def read_tree(data: bytes, name: str, refuse: Refuse) -> Element:
    """Return the root of a small part with all its elements.

    Raises:
        ParseFailed: The part is no XML, declares entities, is nested too deeply, or is too large.
    """
    root = Element("")
    for count, (_, element) in enumerate(read_events(data, name, refuse)):
        root = element  # the last event is the end of the root
        if count > 2 * MAX_TREE_ELEMENTS:
            raise refuse(f"`{name}` has more than {MAX_TREE_ELEMENTS:,} elements")
    return root


def _refuse_entities(data: bytes, name: str, refuse: Refuse) -> None:
    """Read what precedes the root element, which is all that can declare an entity."""
    parser = expat.ParserCreate()
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)

    def refuse_entity(*_declaration: object) -> None:
        raise refuse(f"`{name}` declares XML entities")

    def end_prolog(_tag: str, _attributes: object) -> None:
        raise _PrologEnded

    parser.EntityDeclHandler = refuse_entity
    parser.StartElementHandler = end_prolog
    try:
        for start in range(0, len(data), _FEED_BYTES):
            parser.Parse(data[start : start + _FEED_BYTES], False)  # noqa: FBT003 - the library's
        parser.Parse(b"", True)  # noqa: FBT003
    except _PrologEnded:
        return
    except (expat.ExpatError, ValueError, LookupError) as fault:
        raise _refuse_broken(fault, name, refuse) from fault


def _refuse_broken(fault: Exception, name: str, refuse: Refuse) -> ParseFailed:
    return refuse(f"damaged: the XML of `{name}` is broken: {fault}")
