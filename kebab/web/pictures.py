"""Renders pages of PDF files as pictures, with a passage marked, and checks pictures of notes.

Both run in a worker process.
"""

import ctypes
import re
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, Literal, NamedTuple

from kebab.parse.containers import read_document
from kebab.parse.pdf_grids import load_pdfium
from kebab.web.markup import list_letters

MOST_PICTURE_BYTES = 20 << 20
MOST_PIXELS = 64_000_000
"""Pictures of notes with more would take too much of the memory of the browser."""
_MOST_PIXELS = 8_000_000
_SCALES = (0.25, 4.0)
_SHORTEST = 8
"""Shorter lines of a passage are not looked for on a page, because they may be anywhere."""
_PASSAGE, _QUOTE = (255, 238, 150), (255, 196, 92)
"""The colours of marks; the page is multiplied with them, as with a text marker."""

_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


def detect_picture(data: bytes) -> str | None:
    """Return the media type of a picture by its content, None for anything else."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in _SIGNATURES if data.startswith(start)), None)


def measure_picture(data: bytes) -> int | None:
    """Return how many pixels the head of a picture names, None where it cannot be read."""
    if data.startswith(b"\xff\xd8"):
        return _measure_jpeg(data)
    order: Literal["big", "little"] = "big" if data.startswith(b"\x89PNG") else "little"

    def read(start: int, size: int) -> int:
        return int.from_bytes(data[start : start + size], order)

    match data[12:16] if data.startswith(b"RIFF") else data[:4]:
        case b"\x89PNG":
            return read(16, 4) * read(20, 4)
        case b"VP8X":
            return (read(24, 3) + 1) * (read(27, 3) + 1)
        case b"VP8L":
            return ((read(21, 4) & _SIDE) + 1) * ((read(21, 4) >> 14 & _SIDE) + 1)
        case b"VP8 ":
            return (read(26, 2) & _SIDE) * (read(28, 2) & _SIDE)
        case _:  # GIF
            return read(6, 2) * read(8, 2)


def _measure_jpeg(data: bytes) -> int | None:
    at = 2
    while marker := _MARKER.match(data, at):
        if marker[1] not in _NO_FRAMES:
            return int.from_bytes(marker[2]) * int.from_bytes(marker[3])
        at = marker.start(1) + 1 + int.from_bytes(data[marker.end(1) : marker.end(1) + 2])
    return None


_SIDE = 0x3FFF
"""The bits of a side of a WebP picture."""
_MARKER = re.compile(rb"\xff+([\xc0-\xfe])...(..)(..)", re.DOTALL)
"""A segment of a JPEG file: its kind, its length, and the height and width if it is a frame."""
_NO_FRAMES = frozenset(bytes([kind]) for kind in (0xC4, 0xC8, 0xCC, *range(0xD0, 0xFF)))


def locate_picture(file: str, root: str, source: str) -> Path | None:
    """Return the file of a picture that a document names, None unless it lies in the folder."""
    if not source or "\0" in source or PurePosixPath(source).is_absolute():
        return None
    try:
        place = Path(file).parent.joinpath(source).resolve(strict=True)
        inside = place.is_relative_to(Path(root).resolve(strict=True)) and place.is_file()
    except (OSError, ValueError, RuntimeError):
        return None
    return place if inside else None


class PageTask(NamedTuple):
    """A page of a PDF file, counted from 1, with the texts to mark in it."""

    file: str
    number: int
    scale: float
    passage: str
    quote: str

    def __call__(self) -> bytes | None:
        """Return the page as PNG, None when there is no such page."""
        document = load_pdfium().PdfDocument(read_document(self.file))
        if not 1 <= self.number <= len(document):
            return None
        page = document[self.number - 1]
        width, height = page.get_size()
        low, high = _SCALES
        most = (_MOST_PIXELS / max(1.0, width * height)) ** 0.5
        scale = min(max(self.scale, low), high, most)
        bitmap = page.render(scale=scale, rev_byteorder=True, may_draw_forms=False)
        pixels = bytearray(bitmap.buffer)
        for wanted, colour in ((self.passage, _PASSAGE), (self.quote, _QUOTE)):
            for box in _find_boxes(page, wanted, bitmap.width, bitmap.height):
                _tint(pixels, bitmap.stride, bitmap.n_channels, box, colour)
        return _encode_png(pixels, bitmap)


class Box(NamedTuple):
    """A rectangle of pixels, without its right and lower border."""

    left: int
    top: int
    right: int
    bottom: int


def _find_boxes(page: Any, wanted: str, width: int, height: int) -> Iterator[Box]:
    """Yield the boxes of a text on a page, or of its lines where the page has them elsewhere."""
    if not wanted:
        return
    raw = load_pdfium().raw
    text_page = page.get_textpage()
    count = text_page.count_chars()
    letters, places = list_letters([text_page.get_text_range(0, count)])
    for part in _choose_parts(letters, wanted):
        start = letters.find(part)
        first, last = places[start].offset, places[start + len(part) - 1].offset
        for index in range(text_page.count_rects(first, last - first + 1)):
            left, bottom, right, top = text_page.get_rect(index)
            corners = [
                _to_pixels(raw, page, (width, height), point)
                for point in ((left, top), (right, bottom))
            ]
            (x0, y0), (x1, y1) = corners
            yield Box(
                max(0, min(x0, x1) - 1),
                max(0, min(y0, y1) - 1),
                min(width, max(x0, x1) + 1),
                min(height, max(y0, y1) + 1),
            )


def _choose_parts(letters: str, wanted: str) -> list[str]:
    """Return the whole text as it is on the page, else those of its lines that are there."""
    whole = list_letters([wanted])[0]
    if whole and whole in letters:
        return [whole]
    lines = [list_letters([line])[0] for line in wanted.split("\n")]
    return [line for line in lines if len(line) >= _SHORTEST and line in letters]


def _to_pixels(
    raw: Any, page: Any, size: tuple[int, int], point: tuple[float, float]
) -> tuple[int, int]:
    x, y = ctypes.c_int(), ctypes.c_int()
    raw.FPDF_PageToDevice(page.raw, 0, 0, *size, 0, *point, ctypes.byref(x), ctypes.byref(y))
    return x.value, y.value


def _tint(
    pixels: bytearray, stride: int, channels: int, box: Box, colour: tuple[int, int, int]
) -> None:
    """Multiply the pixels of a box with a colour."""
    tables = [bytes(value * part // 255 for value in range(256)) for part in colour]
    for row in range(box.top, box.bottom):
        start, end = row * stride + box.left * channels, row * stride + box.right * channels
        for channel, table in enumerate(tables[:channels]):
            place = slice(start + channel, end, channels)
            pixels[place] = pixels[place].translate(table)


_COLOUR_TYPES = {1: 0, 3: 2, 4: 6}


def _encode_png(pixels: bytearray, bitmap: Any) -> bytes:
    """Return pixels as PNG."""
    used = bitmap.width * bitmap.n_channels
    rows = (
        b"\x00" + pixels[row * bitmap.stride : row * bitmap.stride + used]
        for row in range(bitmap.height)
    )
    header = struct.pack(
        ">IIBBBBB", bitmap.width, bitmap.height, 8, _COLOUR_TYPES[bitmap.n_channels], 0, 0, 0
    )
    body = zlib.compress(b"".join(rows), 5)
    parts = (
        _encode_chunk(b"IHDR", header),
        _encode_chunk(b"IDAT", body),
        _encode_chunk(b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def _encode_chunk(kind: bytes, data: bytes) -> bytes:
    checksum = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", checksum)
