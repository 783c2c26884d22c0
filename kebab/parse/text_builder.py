"""Builds the text of a document from parts, for formats whose files are not text.

The text is Markdown, which people and models read: `#` headings, `- ` items, `|` rows, fences. The
blocks and places are recorded while the text is written, so no text is parsed a second time.
"""

from collections.abc import Iterable, Sequence

from kebab.core.chunks import Place
from kebab.core.documents import Block, BlockKind, Metadata, ParsedDocument
from kebab.parse.blocks import choose_title
from kebab.parse.encoding import normalize_text
from kebab.text.language import detect_document_language

MAX_HEADING_LEVEL = 6


class TextBuilder:
    """Collects the parts of a document in reading order. Parts without visible text are dropped."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._blocks: list[Block] = []
        self._places: list[Place] = []
        self._pending: Place | None = None

    @property
    def length(self) -> int:
        """The code points of the text so far."""
        return self._length

    def begin_place(self, place: Place) -> None:
        """Begin a page, slide or cell; its `start` is set here. A place without text is dropped."""
        self._pending = place

    def add_heading(self, level: int, text: str) -> None:
        """Add a heading of a level from 1; deeper levels than 6 become 6."""
        label = _join_lines(text)
        level = max(1, min(level, MAX_HEADING_LEVEL))
        self._add(BlockKind.HEADING, f"{'#' * level} {label}" if label else "", level, label)

    def add_paragraph(self, text: str) -> None:
        """Add a paragraph; its line ends are kept."""
        self._add(BlockKind.PARAGRAPH, text)

    def add_list(self, items: Iterable[tuple[int, str]]) -> None:
        """Add a list; each item is its depth from 0 and its text, with a marker such as `1.`."""
        lines = (
            f"{'  ' * depth}{text if _has_marker(text) else f'- {text}'}"
            for depth, text in ((depth, _join_lines(text)) for depth, text in items)
            if text
        )
        self._add(BlockKind.LIST, "\n".join(lines))

    def add_table(self, rows: Iterable[Sequence[str]], *, header: bool = True) -> None:
        """Add a table, one line for each row; with `header` the first row is followed by a rule."""
        lines = [f"| {' | '.join(map(_escape_cell, row))} |" for row in rows if any(row)]
        if header and len(lines) > 1:
            columns = lines[0].count("|") - lines[0].count("\\|") - 1
            lines.insert(1, "|" + "---|" * columns)
        self._add(BlockKind.TABLE, "\n".join(lines))

    def add_rows(self, rows: Iterable[Sequence[str]]) -> None:
        """Add rows of a sheet, one line for each row, also for rows that are empty."""
        self._add(BlockKind.TABLE, "\n".join(" | ".join(map(_escape_cell, row)) for row in rows))

    def add_code(self, text: str, language: str = "") -> None:
        """Add a block of code in a fence."""
        body = normalize_text(text).strip("\n")
        if body.strip():
            fence = "```" if "```" not in body else "~~~~"
            self._add(BlockKind.CODE, f"{fence}{language}\n{body}\n{fence}")

    def add_quote(self, text: str) -> None:
        """Add a quotation."""
        lines = normalize_text(text).strip().split("\n")
        self._add(BlockKind.QUOTE, "\n".join(f"> {line}" for line in lines) if any(lines) else "")

    def add_blocks(self, document: ParsedDocument) -> None:
        """Add the blocks of a document, such as the Markdown of a cell."""
        for block in document.blocks:
            text = document.text[block.start : block.end]
            self._add(block.kind, text, block.level, block.label)

    def build(
        self,
        path: str,
        metadata: Metadata = Metadata(),  # noqa: B008 - immutable
        *,
        title: str | None = None,
        warnings: Sequence[str] = (),
        links: Sequence[str] = (),
    ) -> ParsedDocument:
        """Return the document; `title` is the title that the format itself declares."""
        text = "".join(self._parts)
        blocks = tuple(self._blocks)
        metadata = metadata if metadata.title else metadata._replace(title=title)
        return ParsedDocument(
            text=text,
            title=choose_title(metadata, blocks, path),
            blocks=blocks,
            metadata=metadata,
            lang=metadata.lang or detect_document_language(text, blocks),
            warnings=tuple(warnings),
            places=tuple(self._places),
            links=tuple(dict.fromkeys(links)),
        )

    def _add(self, kind: BlockKind, text: str, level: int = 0, label: str = "") -> None:
        body = normalize_text(text).strip("\n").rstrip()
        if not body.strip():
            return
        if self._parts:
            self._write("\n\n")
        if self._pending is not None:
            self._places.append(self._pending._replace(start=self._length))
            self._pending = None
        start = self._length
        self._write(body)
        self._blocks.append(Block(kind, start, self._length, level, label))

    def _write(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)


def _join_lines(text: str) -> str:
    """Return a text on one line."""
    return " ".join(normalize_text(text).split())


def _has_marker(item: str) -> bool:
    head = item.partition(" ")[0]
    return head in {"-", "*", "+"} or (head[:-1].isalnum() and len(head) <= 4 and head[-1] in ".)")  # noqa: PLR2004 - `iii.`


def _escape_cell(cell: str) -> str:
    return _join_lines(cell).replace("|", "\\|")
