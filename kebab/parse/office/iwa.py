"""Reads the objects in documents of iWork: messages of protobuf, packed with Snappy.

A document is an archive of parts (`Index/Document.iwa`), and a part is a row of objects with a
number and a kind. The fields of a message are known by their numbers only, and those that nobody
asks for are not looked at.
"""

import zlib
from collections.abc import Iterator
from typing import NamedTuple

from kebab.errors.catalog import ParseFailed
from kebab.parse.archive import ENCRYPTED, MAX_EXPANSION_BYTES, Archive

_MAX_BLOCK_BYTES = 1 << 20
"""The most bytes to which a block may expand; programs pack 64 KB at a time."""

_VARINT, _FIXED_64, _BYTES, _FIXED_32 = 0, 1, 2, 5
_LENGTHS = {_FIXED_64: 8, _FIXED_32: 4}
_MORE, _BITS = 0x80, 7
_MAX_SHIFT = 63


def _read_number(data: bytes, at: int) -> tuple[int, int]:
    """Return the number of variable length at an offset, and the offset behind it."""
    number = shift = 0
    while shift <= _MAX_SHIFT:
        byte = data[at]
        at += 1
        number |= (byte & ~_MORE) << shift
        if byte < _MORE:
            return number, at
        shift += _BITS
    raise ValueError("a number is too long")


class Message:
    """The fields of a message by their numbers."""

    def __init__(self, data: bytes) -> None:
        """Read the fields.

        Raises:
            ValueError: The bytes are no message.
            IndexError: They are cut off.
        """
        self._fields: dict[int, list[int | bytes]] = {}
        at = 0
        while at < len(data):
            key, at = _read_number(data, at)
            kind = key & 7
            if kind == _VARINT:
                value: int | bytes
                value, at = _read_number(data, at)
            else:
                length = _LENGTHS.get(kind, 0)
                if kind == _BYTES:
                    length, at = _read_number(data, at)
                elif not length:
                    raise ValueError("a field has an unknown form")
                value = data[at : at + length]
                if len(value) < length:
                    raise ValueError("a field is cut off")
                at += length
            self._fields.setdefault(key >> 3, []).append(value)

    def list_bytes(self, number: int) -> list[bytes]:
        """Return the values of a field that are bytes."""
        return [one for one in self._fields.get(number, ()) if isinstance(one, bytes)]

    def list_messages(self, number: int) -> list["Message"]:
        """Return the values of a field that are messages."""
        return [Message(one) for one in self.list_bytes(number)]

    def list_numbers(self, number: int) -> list[int]:
        """Return the numbers of a field, which may be packed."""
        numbers = []
        for value in self._fields.get(number, ()):
            at = 0
            while isinstance(value, bytes) and at < len(value):
                one, at = _read_number(value, at)
                numbers.append(one)
            numbers += [value] if isinstance(value, int) else []
        return numbers

    def get_number(self, number: int) -> int:
        """Return the last number of a field; 0 without one."""
        return next((one for one in self._fields.get(number, ())[::-1] if isinstance(one, int)), 0)

    def get_bytes(self, number: int) -> bytes:
        """Return the last bytes of a field; empty without any."""
        return next(iter(self.list_bytes(number)[::-1]), b"")

    def get_message(self, *path: int) -> "Message":
        """Return the message in a field, in a field of that, and so on; an empty one for none."""
        found = self
        for number in path:
            found = Message(found.get_bytes(number))
        return found

    def get_text(self, number: int) -> str:
        """Return the text of a field; empty without one."""
        return self.get_bytes(number).decode("utf-8", "replace")


class IworkObject(NamedTuple):
    """An object of a document; its kind is 0, and it has no fields, when there is none."""

    kind: int
    message: Message


class IworkPackage:
    """The objects of a document by their numbers, and what of the file cannot be read."""

    def __init__(self, data: bytes, path: str, parser: str) -> None:
        """Read the parts of a document.

        Raises:
            ParseFailed: The file is damaged, encrypted, too large, or no document of iWork.
        """
        archive = Archive(data, path, parser)
        if archive.find_name(".iwpv2") or archive.find_name(".iwph"):
            raise archive.refuse(ENCRYPTED)
        if index := archive.find("Index.zip"):
            archive = Archive(index, path, parser)
        self.warnings: list[str] = []
        self._left = MAX_EXPANSION_BYTES
        self._objects: dict[int, tuple[int, bytes]] = {}
        parts = [name for name in archive.names if name.endswith(".iwa")]
        if not parts:
            raise archive.refuse("it is no document of Pages, Keynote or Numbers of 2013 or later")
        for name in parts:
            try:
                self._objects.update(_list_objects(self._unpack(archive.read(name))))
            except (ParseFailed, *_DAMAGE):
                self.warnings.append(f"`{name}` is damaged: its objects are left out")
        self.refuse = archive.refuse

    def _unpack(self, part: bytes) -> bytes:
        import pyarrow as pa

        blocks, at = [], 0
        while at < len(part):
            length = int.from_bytes(part[at + 1 : at + 4], "little")
            block = part[at + 4 : at + 4 + length]
            at += 4 + length
            size = _read_number(block, 0)[0]
            self._left -= size
            if size > _MAX_BLOCK_BYTES or self._left < 0:
                raise ValueError("it expands beyond the limits")
            blocks.append(pa.decompress(block, size, codec="snappy", asbytes=True))
        return b"".join(blocks)

    def get(self, number: int) -> IworkObject:
        """Return the object with a number."""
        kind, data = self._objects.get(number, (0, b""))
        return IworkObject(kind, Message(data))

    def list_numbers(self, *kinds: int) -> list[int]:
        """Return the numbers of the objects of some kinds, in the order of the file."""
        return [number for number, (kind, _) in self._objects.items() if kind in kinds]

    def follow(self, message: Message, *path: int) -> IworkObject:
        """Return the object that a field of a message refers to."""
        return self.get(message.get_message(*path).get_number(1))


_DAMAGE = (ValueError, IndexError, OSError, zlib.error)


def list_references(message: Message, number: int) -> list[int]:
    """Return the numbers of the objects that a field refers to."""
    return [one.get_number(1) for one in message.list_messages(number)]


def _list_objects(data: bytes) -> Iterator[tuple[int, tuple[int, bytes]]]:
    """Yield the number of each object of a part, with its kind and its bytes."""
    at = 0
    while at < len(data):
        length, at = _read_number(data, at)
        head = Message(data[at : at + length])
        at += length
        for count, one in enumerate(head.list_messages(2)):
            size = one.get_number(3)
            if count == 0:  # further ones are changes by newer versions
                yield head.get_number(1), (one.get_number(1), data[at : at + size])
            at += size
