"""Recognises the text of pages of a PDF that are pictures, or whose fonts are broken."""

import ctypes
import time
from collections.abc import Sequence
from typing import Any

from kebab.core.ocr import OcrSettings
from kebab.errors.catalog import DependencyMissing, ParseFailed, TimedOut
from kebab.parse.pdf.ocr import recognize_text
from kebab.parse.pdf.pages import PageText

_DPI = 250
_POINTS_PER_INCH = 72
MAX_PIXELS = 25_000_000
"""The pixels of the largest picture; a larger page is drawn with a lower resolution."""
_TIME_SHARE = 0.8
"""The share of the deadline of a file after which no further page is begun."""


def recognize_pages(
    document: Any, pages: Sequence[PageText], settings: OcrSettings, path: str, parser: str
) -> list[PageText]:
    """Return the pages, with the text of those that have none but a picture.

    Raises:
        DependencyMissing: The program or a language is not installed, and no page has text.
    """
    has_text = any(page.segments for page in pages)
    until = time.monotonic() + _TIME_SHARE * settings.deadline_s
    done: list[PageText] = []
    for page in pages:
        is_late = bool(settings.deadline_s) and time.monotonic() > until
        if is_late or page.segments or (page.legible and not page.has_image):
            done.append(page)
            continue
        try:
            picture, dpi = draw_page(document, page.number - 1)
            texts = recognize_text(picture, settings, path, parser, dpi=dpi)
        except DependencyMissing:
            if not has_text:
                raise
            return list(pages)
        except (ParseFailed, TimedOut):
            done.append(page)
        else:
            done.append(page._replace(recognized="\n\n".join(texts).strip()))
    return done


def draw_page(document: Any, index: int) -> tuple[bytes, int]:
    """Return a page as a picture in the format PGM, and its resolution in dots per inch."""
    page = document[index]
    try:
        width, height = (max(size, 1.0) for size in page.get_size())
        scale = min(_DPI / _POINTS_PER_INCH, (MAX_PIXELS / (width * height)) ** 0.5)
        bitmap = page.render(scale=scale, grayscale=True)
        try:
            return _to_pgm(bitmap), max(round(scale * _POINTS_PER_INCH), 1)
        finally:
            bitmap.close()
    finally:
        page.close()


def _to_pgm(bitmap: Any) -> bytes:
    """Return a bitmap of one byte for each pixel as a file; its rows may be padded."""
    data = bytes(ctypes.string_at(bitmap.buffer, bitmap.stride * bitmap.height))
    rows = (
        data[start : start + bitmap.width]
        for start in range(0, bitmap.stride * bitmap.height, bitmap.stride)
    )
    return b"P5\n%d %d\n255\n" % (bitmap.width, bitmap.height) + b"".join(rows)
