"""Declares the settings of the recognition of text in pictures."""

from typing import NamedTuple

OCR_SETTING = "ingest.ocr"
"""The setting that turns the recognition of text on."""
IMAGE = "image/any"
"""The media type of pictures, which are read only when the recognition of text is turned on."""

_PAGES_PER_FILE = 20
"""How many pages of the longest time a file may take; most pages take a tenth of it."""


class OcrSettings(NamedTuple):
    """The languages of texts, such as `eng+kor`, and the time limit for a page in seconds.

    A limit of 0 means none.
    """

    languages: str = "eng"
    page_deadline_s: float = 30.0

    @property
    def deadline_s(self) -> float:
        """The time limit for a whole file, in seconds; 0 means none."""
        return _PAGES_PER_FILE * self.page_deadline_s
