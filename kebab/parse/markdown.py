"""Reads Markdown: CommonMark with tables and front matter."""

from kebab.core.documents import ParsedDocument
from kebab.parse.blocks import build_blocks, choose_title, shift_spans
from kebab.parse.encoding import decode
from kebab.parse.frontmatter import read_front_matter
from kebab.parse.markdown_blocks import read_body
from kebab.text.language import detect_document_language


class MarkdownParser:
    """Parses any note that is not binary data."""

    version = "markdown-v2"

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document, with its front matter as metadata.

        Raises:
            ParseFailed: The bytes are not text.
        """
        decoded = decode(data, path, self.version)
        text = decoded.text
        front = read_front_matter(text)
        body = read_body(text[front.body :])
        lines = text.count("\n", front.searched, front.body)
        blocks = build_blocks(text, front.searched, shift_spans(body.spans, lines))
        if not blocks and front.metadata.title:
            blocks = build_blocks(text, 0, ())  # all text of such a note is in its front matter
        return ParsedDocument(
            text=text,
            title=choose_title(front.metadata, blocks, path),
            blocks=blocks,
            metadata=front.metadata,
            lang=front.metadata.lang or detect_document_language(text, blocks),
            encoding=decoded.encoding,
            warnings=decoded.warnings + front.warnings,
            links=tuple(body.links),
        )
