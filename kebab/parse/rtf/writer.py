"""Writes paragraphs, lists, tables and notes of Rich Text Format into a builder."""

import re
from dataclasses import dataclass, field, replace

from kebab.parse.rtf.encodings import join_surrogates
from kebab.parse.text_builder import TextBuilder

_HEADING_NAME = re.compile(
    r"(?:heading|outline|\uc81c\ubaa9|\uac1c\uc694|\u898b\u51fa\u3057|\u6807\u9898|\u6a19\u984c"
    r"|titre|\u00fcberschrift)\s*([1-9])\b",
    re.IGNORECASE,
)
_TITLE_NAMES = frozenset({"title", "\uc81c\ubaa9", "titel", "titre", "\u8868\u984c"})
_NUMBER = re.compile(r"\(?(\w{1,3})[.)]")
_MAX_HEADING_CHARS = 300
_BODY_LEVELS = 9


@dataclass(slots=True)
class Paragraph:
    """The open paragraph and its properties."""

    text: list[str] = field(default_factory=list)
    marker: list[str] = field(default_factory=list)
    style: int = 0
    level: int = 0
    depth: int = 0
    in_table: bool = False


class RtfWriter:
    """Collects the parts of a text and writes them in order."""

    def __init__(self, builder: TextBuilder) -> None:
        """Write into a builder."""
        self.paragraph = Paragraph()
        self.info: dict[str, str] = {}
        self._builder = builder
        self._levels: dict[int, int] = {}
        self._items: list[tuple[int, str]] = []
        self._cells: list[str] = []
        self._cell: list[str] = []
        self._rows: list[list[str]] = []
        self._outer: list[Paragraph] = []
        self._notes: list[str] = []
        self._note: list[str] = []

    def add_style(self, number: int, level: int, name: str) -> None:
        """Remember a style that makes headings."""
        plain = name.rstrip("; ").strip()
        found = _HEADING_NAME.match(plain)
        if found:
            level = int(found[1])
        elif plain.lower() in _TITLE_NAMES:
            level = 1
        if level:
            self._levels[number] = level

    def add_info(self, name: str, text: str) -> None:
        """Add text to a property of the document."""
        self.info[name] = self.info.get(name, "") + text

    def add_text(self, text: str) -> None:
        """Add text to the open paragraph."""
        self.paragraph.text.append(text)

    def add_marker(self, text: str) -> None:
        """Add text to the marker of the open item."""
        self.paragraph.marker.append(text)

    def begin_note(self) -> None:
        """Begin a footnote, which is written at the end."""
        self._outer.append(self.paragraph)
        self.paragraph = Paragraph()

    def end_note(self) -> None:
        """End a footnote."""
        self.end_paragraph()
        if self._outer:
            self.paragraph = self._outer.pop()
        text = " ".join(self._note)
        self._note.clear()
        if text and not self._outer:
            self._notes.append(text)
            self.paragraph.text.append(f"^{len(self._notes)}")

    def end_paragraph(self) -> None:
        """End the open paragraph; its properties hold for the next one."""
        paragraph = self.paragraph
        text = join_surrogates("".join(paragraph.text)).strip()
        marker = join_surrogates("".join(paragraph.marker)).strip()
        self.paragraph = replace(paragraph, text=[], marker=[])
        if not text:
            return
        if self._outer:
            self._note.append(text)
        elif paragraph.in_table:
            self._cell.append(text)
        else:
            self._write_table()
            self._write_paragraph(paragraph, text, marker)

    def end_cell(self) -> None:
        """End a cell of a table."""
        self.paragraph.in_table = True
        self.end_paragraph()
        self._cells.append(" ".join(self._cell))
        self._cell.clear()

    def end_row(self) -> None:
        """End a row of a table."""
        if self._cells:
            self._rows.append(self._cells)
        self._cells = []

    def finish(self) -> None:
        """Write what is still open, and the footnotes."""
        self._outer.clear()
        self.end_paragraph()
        if self._cell:
            self._cells.append(" ".join(self._cell))
        self.end_row()
        self._write_table()
        self._write_items()
        self._builder.add_list(
            (0, f"{number}. {text}") for number, text in enumerate(self._notes, 1)
        )

    def _write_paragraph(self, paragraph: Paragraph, text: str, marker: str) -> None:
        level = self._levels.get(paragraph.style, 0) or paragraph.level
        if 0 < level <= _BODY_LEVELS and len(text) <= _MAX_HEADING_CHARS:
            self._write_items()
            number = f"{marker} " if marker[:1].isdigit() else ""
            self._builder.add_heading(level, number + text)
        elif marker:
            number = f"{marker} " if _NUMBER.fullmatch(marker) else "- "
            self._items.append((paragraph.depth, number + text))
        else:
            self._write_items()
            self._builder.add_paragraph(text)

    def _write_items(self) -> None:
        if self._items:
            self._builder.add_list(self._items)
            self._items = []

    def _write_table(self) -> None:
        if not self._rows:
            return
        self._write_items()
        rows, self._rows = self._rows, []
        if max(map(len, rows)) > 1:
            digits = any(char.isdigit() for cell in rows[0] for char in cell)
            self._builder.add_table(rows, header=all(rows[0]) and not digits)
        else:
            for row in rows:
                self._builder.add_paragraph(" ".join(row))
