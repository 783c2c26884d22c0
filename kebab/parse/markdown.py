"""Markdown: CommonMark with tables and front matter."""

from collections.abc import Iterator

from kebab.core.documents import ParsedDocument
from kebab.parse.blocks import Span, place, shift, title_of
from kebab.parse.encoding import decode
from kebab.parse.frontmatter import FrontMatter, read
from kebab.parse.markdown_blocks import outline
from kebab.text.language import detect_document_language


class MarkdownParser:
    """Reads notes as people write them; nothing in them can make it fail but binary data."""

    version = "markdown-v1"

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document, with its front matter as metadata.

        Raises:
            ParseFailed: The bytes are not text.
        """
        decoded = decode(data, path, self.version)
        text = decoded.text
        front = read(text)
        blocks = place(text, front.searched, _spans(text, front))
        if not blocks and front.metadata.title:
            blocks = place(text, 0, ())  # all that such a note says stands in its front matter
        return ParsedDocument(
            text=text,
            title=title_of(front.metadata, blocks, path),
            blocks=blocks,
            metadata=front.metadata,
            lang=front.metadata.lang or detect_document_language(text, blocks),
            encoding=decoded.encoding,
            warnings=decoded.warnings + front.warnings,
        )


def _spans(text: str, front: FrontMatter) -> Iterator[Span]:
    """Return the blocks of the body, by lines counted from where the searched text starts."""
    lines = text.count("\n", front.searched, front.body)
    return shift(outline(text[front.body :]), lines)
