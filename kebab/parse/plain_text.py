"""Reads text without markup."""

from kebab.core.documents import Metadata, ParsedDocument
from kebab.parse.blocks import build_line_document
from kebab.parse.encoding import decode


class TextParser:
    """Parses text without markup: paragraphs between blank lines."""

    version = "text-v1"

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document; its title is the file's stem.

        Raises:
            ParseFailed: The bytes are not text.
        """
        return build_line_document(decode(data, path, self.version), path, (), Metadata())
