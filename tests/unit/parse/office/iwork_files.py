"""Builds documents of iWork: objects of protobuf, packed with Snappy, in a zip archive."""

import io
import struct
import zipfile

import pyarrow as pa


def message(fields):
    """Return a message; a list is a field with several values, and a dict a message in it."""
    parts = []
    for number, values in fields.items():
        for value in values if isinstance(values, list) else [values]:
            if isinstance(value, int):
                parts.append(count(number << 3) + count(value))
            else:
                data = message(value) if isinstance(value, dict) else value
                data = data.encode() if isinstance(data, str) else data
                parts.append(count(number << 3 | 2) + count(len(data)) + data)
    return b"".join(parts)


def count(number):
    """Return a number of variable length."""
    parts = bytearray()
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*parts, number])


def pack(data, size=None):
    """Return a block of Snappy with its head, for a part."""
    block = pa.compress(data, codec="snappy", asbytes=True)
    if size is not None:
        block = count(size) + block[len(count(len(data))) :]
    return b"\0" + len(block).to_bytes(3, "little") + block


def build_iwork(objects, *, files=None, is_nested=False):
    """Return a document with objects by number, each a kind and its fields."""
    part = b""
    for number, (kind, fields) in objects.items():
        data = message(fields)
        head = message({1: number, 2: {1: kind, 3: len(data)}})
        part += count(len(head)) + head + data
    members = {"Index/Document.iwa": pack(part), **(files or {})}
    return zipped({"Index.zip": zipped(members)} if is_nested else members)


def zipped(members):
    """Return an archive."""
    with io.BytesIO() as file:
        with zipfile.ZipFile(file, "w") as archive:
            for name, data in members.items():
                archive.writestr(name, data)
        return file.getvalue()


def cell(kind, flag, form, value):
    """Return a cell of a table, with the flag of the field that has its value."""
    return struct.pack("<BB6xI", 5, kind, flag) + struct.pack(form, value)


def build_table(number, rows, texts=(), name="Plan"):
    """Return the objects of a table, whose rows are cells by their column."""
    infos = []
    for index, cells in rows.items():
        data, offsets = b"", []
        for column in range(max(cells) + 1):
            offsets.append(len(data) if column in cells else 0xFFFF)
            data += cells.get(column, b"")
        infos.append(
            {1: index, 2: len(cells), 6: data, 7: struct.pack(f"<{len(offsets)}H", *offsets)}
        )
    store = {3: {1: {1: 0, 2: {1: number + 2}}}, 4: {1: number + 3}, 17: {1: number + 4}}
    entries = [{1: key, 3: text} for key, text in enumerate(texts, 1)]
    model = {4: store, 8: name}
    return {
        number: (6000, {2: {1: number + 1}}),
        number + 1: (6001, model),
        number + 2: (6002, {5: infos}),
        number + 3: (6005, {3: entries}),
    }
