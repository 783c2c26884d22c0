"""Reads Markdown: CommonMark with tables, front matter, and what Obsidian and its kin add."""

from typing import NamedTuple

from kebab.core.documents import Block, BlockKind, ParsedDocument
from kebab.core.files import get_suffix
from kebab.parse.blocks import build_blocks, choose_title, exclude_lines, group_lines, shift_spans
from kebab.parse.encoding import decode
from kebab.parse.markdown.blobs import find_blob_lines
from kebab.parse.markdown.blocks import Body, read_body
from kebab.parse.markdown.front_fields import build_metadata, merge_metadata
from kebab.parse.markdown.frontmatter import FrontMatter, read_front_matter, read_properties
from kebab.parse.markdown.noise import (
    find_noise_lines,
    has_visible_text,
    hide_lines,
)
from kebab.text.language import detect_document_language

_MAX_LINKS = 10_000


class VisibleBody(NamedTuple):
    """A body of the same length whose lines without text are blank, and its structure.

    The blank lines are `hidden`.
    """

    text: str
    body: Body
    hidden: frozenset[int]
    warnings: tuple[str, ...]


class MarkdownParser:
    """Parses any note that is not binary data.

    The text is the whole file; its blocks leave out front matter, noise and encoded data.
    """

    version = "markdown-v2"

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document, with its front matter as metadata.

        Raises:
            ParseFailed: The bytes are not text.
        """
        decoded = decode(data, path, self.version)
        front = read_front_matter(decoded.text)
        visible = read_visible_body(decoded.text[front.body :], is_mdx=get_suffix(path) == ".mdx")
        blocks = _build_blocks(decoded.text, front, visible)
        properties = build_metadata(read_properties(visible.text))
        metadata = merge_metadata(front.metadata, properties, visible.body.tags)
        return ParsedDocument(
            text=decoded.text,
            title=choose_title(metadata, blocks, path),
            blocks=blocks,
            metadata=metadata,
            lang=metadata.lang or detect_document_language(decoded.text, blocks),
            encoding=decoded.encoding,
            warnings=decoded.warnings + front.warnings + visible.warnings,
            links=tuple(visible.body.links[:_MAX_LINKS]),
        )


def read_visible_body(source: str, *, is_mdx: bool = False) -> VisibleBody:
    """Return the structure of a body without comments, shortcodes, bare tags and encoded data."""
    blobs = find_blob_lines(source)
    hidden = blobs | find_noise_lines(source, is_mdx=is_mdx)
    body = read_body(hide_lines(source, hidden))
    hidden |= _find_empty_html(source, body)
    warnings = (f"lines of encoded or minified data were left out: {len(blobs)}",) if blobs else ()
    return VisibleBody(hide_lines(source, hidden), body, frozenset(hidden), warnings)


def _find_empty_html(source: str, body: Body) -> set[int]:
    """Return the lines of the blocks of HTML that show no text."""
    spans = [span for span in body.spans if span.kind is BlockKind.HTML]
    lines = source.split("\n") if spans else []
    empty = (
        span for span in spans if not has_visible_text("\n".join(lines[span.first : span.last]))
    )
    return {number for span in empty for number in range(span.first, span.last)}


def _build_blocks(text: str, front: FrontMatter, visible: VisibleBody) -> tuple[Block, ...]:
    """Return the blocks of a document; a note that is all front matter is searched there."""
    lines = text.count("\n", front.searched, front.body)
    shown = exclude_lines(visible.body.spans, list(group_lines(sorted(visible.hidden))))
    spans = shift_spans(shown, lines)
    blocks = build_blocks(text[: front.body] + visible.text, front.searched, spans)
    if not blocks and front.metadata.title:
        return build_blocks(text, 0, ())
    return blocks
