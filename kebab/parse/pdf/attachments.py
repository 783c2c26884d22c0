"""Finds the files that are attached to a PDF, in its bytes and without native code.

A container is opened in the process of the ingest, which a crash of a library would end. Files of
encrypted documents are not found.
"""

import re
import zlib
from collections.abc import Iterator, Mapping, Sequence

_FILE = b"/EmbeddedFile"
_STREAM = re.compile(rb">>\s{0,9}stream\r?\n")
_OBJECT = re.compile(rb"(\d{1,10})\s+\d{1,5}\s+\Z")
_MAX_HEAD = 4_000
_LENGTH = re.compile(rb"/Length\s+(\d{1,10})(?!\s+\d+\s+R)")
_SPEC = re.compile(rb"<<((?:[^<>]|<<[^<>]{0,200}>>|<[0-9A-Fa-f\s]{0,2000}>){0,4000}+)>>")
_TARGET = re.compile(rb"/EF\s*<<[^<>]{0,100}?/U?F\s+(\d{1,10})")
_NAME = re.compile(
    rb"/(UF|F)\s*(?:\(((?:[^()\\]|\\.){1,1000})\)|<([0-9A-Fa-f\s]{1,2000})>)", re.DOTALL
)
_ESCAPE = re.compile(rb"\\(?:([0-7]{1,3})|(.))", re.DOTALL)
_MAX_BYTES = 128_000_000


def list_attached_files(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the names and the bytes of the attached files."""
    if _FILE not in data or b"/Encrypt" in data:
        return
    streams = [*_list_streams(data)]
    packed = [_read_stream(data, at, head) for _, head, at in streams if b"/ObjStm" in head]
    names = _read_names([data, *filter(None, packed)])
    for number, head, at in streams:
        content = _read_stream(data, at, head) if number in names else None
        if content is not None:
            yield names[number], content


def _list_streams(data: bytes) -> Iterator[tuple[int, bytes, int]]:
    """Yield the number of each object with a stream, its dictionary, and where its bytes begin."""
    for match in _STREAM.finditer(data):
        start = data.rfind(b"obj", max(0, match.start() - _MAX_HEAD), match.start())
        number = _OBJECT.search(data, max(0, start - 20), max(0, start))
        if number:
            yield int(number[1]), data[start : match.start()], match.end()


def _read_stream(data: bytes, start: int, head: bytes) -> bytes | None:
    """Return the bytes of a stream, None where they are damaged, too large or packed otherwise."""
    length = _LENGTH.search(head)
    end = start + int(length[1]) if length else data.find(b"endstream", start)
    content = data[start:end]
    if b"/Filter" not in head:
        return content
    if not re.search(rb"/Filter\s*\[?\s*/Fl(?:ateDecode)?\s*\]?(?!\s*/A)", head):
        return None
    unpacker = zlib.decompressobj()
    try:
        content = unpacker.decompress(content, _MAX_BYTES)
    except zlib.error:
        return None
    return None if unpacker.unconsumed_tail else content


def _read_names(parts: Sequence[bytes]) -> Mapping[int, str]:
    """Return the names of files by the number of the object with their bytes."""
    names: dict[int, str] = {}
    for spec in (match for part in parts for match in _SPEC.finditer(part)):
        target = _TARGET.search(spec[1]) if b"/EF" in spec[1] else None
        found = {one[1]: _decode_name(one) for one in _NAME.finditer(spec[1])}
        if target and found:
            names[int(target[1])] = found.get(b"UF") or found.get(b"F", "")
    return names


def _decode_name(match: re.Match[bytes]) -> str:
    """Return a string of a PDF: UTF-16 behind its mark, else Latin-1."""
    if match[3]:
        raw = bytes.fromhex("".join(match[3].decode().split())[: len(match[3]) // 2 * 2])
    else:
        raw = _ESCAPE.sub(lambda one: bytes([int(one[1], 8) & 255]) if one[1] else one[2], match[2])
    return (
        raw[2:].decode("utf-16-be", "replace") if raw[:2] == b"\xfe\xff" else raw.decode("latin-1")
    )
