"""Builds the parsers of all formats under the settings of a user."""

from collections.abc import Mapping

from kebab.config.settings import Settings
from kebab.core.file_ports import Parser
from kebab.core.ocr import OcrSettings


def build_parsers(settings: Settings) -> Mapping[str, Parser]:
    """Return the parsers by media type; they read pictures when `ingest.ocr` is on."""
    from kebab.parse.registry import configure_parsers

    ingest = settings.ingest
    ocr = OcrSettings(ingest.ocr_languages, ingest.ocr_page_deadline_s)
    return configure_parsers(ocr if ingest.ocr else None)
