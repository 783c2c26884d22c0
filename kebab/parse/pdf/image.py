"""Reads the text of pictures: scans, photographs of pages, screenshots."""

from kebab.core.chunks import Place
from kebab.core.documents import ParsedDocument
from kebab.core.ocr import OcrSettings
from kebab.errors.catalog import ParseFailed
from kebab.parse.pdf.ocr import recognize_text, write_recognized_text
from kebab.parse.text_builder import TextBuilder

_SIGNATURES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"II*\0", b"MM\0*")
_MIN_BYTES = 64
_BMP_HEADERS = {12, 40, 52, 56, 108, 124}


class ImageParser:
    """Recognises the text of a picture; the pages of a TIFF file are numbered."""

    version = "image-v1"

    def __init__(self, settings: OcrSettings = OcrSettings()) -> None:  # noqa: B008 - immutable
        """Store the languages and limits."""
        self._settings = settings

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document; its title is the name of the file.

        Raises:
            ParseFailed: The file is not a picture, or has no text.
            DependencyMissing: The program or a language is not installed.
            TimedOut: The recognition takes too long.
        """
        if not _is_picture(data):
            raise ParseFailed(path=path, parser=self.version, cause="not a picture")
        pages = recognize_text(data, self._settings, path, self.version)
        builder = TextBuilder()
        for number, text in enumerate(pages, 1):
            builder.begin_place(Place(0, number, of=len(pages)))
            write_recognized_text(builder, text)
        if not builder.length:
            raise ParseFailed(path=path, parser=self.version, cause="no text in the picture")
        return builder.build(path)


def _is_picture(data: bytes) -> bool:
    """Return whether a file begins as PNG, JPEG, TIFF, WebP or BMP files do."""
    if len(data) < _MIN_BYTES:
        return False
    is_webp = (data[:4], data[8:12]) == (b"RIFF", b"WEBP")
    is_bitmap = data[:2] == b"BM" and int.from_bytes(data[14:18], "little") in _BMP_HEADERS
    return data.startswith(_SIGNATURES) or is_webp or is_bitmap
