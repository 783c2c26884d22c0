"""Reads text without markup."""

from kebab.core.documents import Metadata, ParsedDocument
from kebab.parse.blocks import build_blocks, choose_title
from kebab.parse.encoding import decode
from kebab.text.language import detect_document_language


class TextParser:
    """Parses text without markup: paragraphs between blank lines."""

    version = "text-v1"

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document; its title is the file's stem.

        Raises:
            ParseFailed: The bytes are not text.
        """
        decoded = decode(data, path, self.version)
        blocks = build_blocks(decoded.text, 0, ())
        return ParsedDocument(
            text=decoded.text,
            title=choose_title(Metadata(), blocks, path),
            blocks=blocks,
            lang=detect_document_language(decoded.text, blocks),
            encoding=decoded.encoding,
            warnings=decoded.warnings,
        )
