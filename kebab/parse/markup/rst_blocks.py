"""Finds the blocks of reStructuredText by their lines.

The rules are those of docutils, whose parser reads .4 MB/s, .6 without inline markup: too slow
for a folder of documentation. A test compares the sections of both.
"""

import re

from kebab.core.documents import BlockKind
from kebab.parse.blocks import Span
from kebab.parse.markup.lines import Lines
from kebab.parse.markup.rst_labels import to_plain_label
from kebab.parse.text_builder import MAX_HEADING_LEVEL
from kebab.text.layout import measure_width

_SHORT_RULE = 4
_RULES_OF_TABLE = 2
_MAX_HEAD = 12

_RULE = re.compile(r"([!-/:-@[-`{-~])\1*\Z")
_BULLET = re.compile(r"[-*+\u2022\u2023\u2043](?:\s|\Z)")
_ENUMERATOR = re.compile(r"\(?(?:\d{1,9}|[A-Za-z]|[ivxlcdmIVXLCDM]{1,9}|#)[.)](?:\s|\Z)")
FIELD = re.compile(r":(?![: ])((?:[^:\\]|\\.|:(?![ `]|\Z))*)(?<! ):(?:\s+(.*)|\Z)")
_OPTION = re.compile(r"(?:-\w|--\w[\w-]*|/[A-Z])(?:[ =]?[\w<>\[\]-]+)?(?:, |  +|\Z)")
_GRID_TABLE = re.compile(r"\+-[-+]+-\+\Z")
_SIMPLE_TABLE = re.compile(r"=+(?: +=+)+\Z")
_TABLE_RULE = re.compile(r"=+(?: +=+)*\Z")

_METADATA = frozenset(
    {
        "address",
        "author",
        "authors",
        "category",
        "contact",
        "copyright",
        "date",
        "keywords",
        "lang",
        "language",
        "modified",
        "organization",
        "orphan",
        "revision",
        "slug",
        "status",
        "summary",
        "tags",
        "title",
        "tocdepth",
        "version",
    }
)


class BlockScanner:
    """Collects the blocks and fields of a text; call `scan` once."""

    def __init__(self, text: str) -> None:
        self.spans: list[Span] = []
        self.fields: dict[str, str] = {}
        self._lines = Lines(text)
        self._styles: list[str] = []
        self._level = 0
        self._objects: list[tuple[int, int]] = []

    def scan(self) -> None:
        """Read the whole text."""
        self._scan_range(0, self._lines.count, 0, 0)

    def _scan_range(self, first: int, last: int, indent: int, depth: int) -> None:
        """Read the blocks of some lines that are indented by `indent`."""
        number = self._lines.skip_blank(first, last)
        while number < last:
            number = self._read_block(number, last, indent, depth)
            number = self._lines.skip_blank(number, last)

    def _read_block(self, number: int, last: int, indent: int, depth: int) -> int:
        """Add the block that begins at a line, and return the line behind it."""
        if self._lines.indents[number] > indent:
            end = self._lines.find_dedent(number, last, indent + 1)
            return self._add(BlockKind.QUOTE, number, end, indent)
        bare = self._lines.text[number]
        if bare == ".." or bare.startswith(".. "):
            return self._read_explicit(number, last, indent, depth)
        if FIELD.match(bare):
            return self._read_fields(number, last, indent, depth)
        if not depth and (end := self._read_title(number, last, indent)):
            return end
        return self._read_body_element(number, last, indent)

    def _read_explicit(self, number: int, last: int, indent: int, depth: int) -> int:
        """Read the block that two dots begin."""
        raise NotImplementedError

    def _read_body_element(self, number: int, last: int, indent: int) -> int:
        """Add a list, a table, a sample session or a paragraph; a rule is left out."""
        bare = self._lines.text[number]
        if self._is_item(number, last, indent):
            return self._read_list(number, last, indent)
        if _GRID_TABLE.match(bare) or _SIMPLE_TABLE.match(bare):
            return self._read_table(number, last, indent)
        if bare.startswith(">>> "):
            end = self._lines.find_blank(number, last)
            return self._add(BlockKind.CODE, number, end, indent)
        anonymous = bare == "__" or bare.startswith("__ ")
        rule = len(bare) >= _SHORT_RULE and _RULE.match(bare) and self._is_blank(number + 1, last)
        if anonymous or rule:
            return self._omit(number, number + 1)
        return self._read_paragraph(number, last, indent)

    def _add(self, kind: BlockKind, first: int, last: int, indent: int) -> int:
        """Add a block that is no heading, and return the line behind it.

        It ends the objects that are not indented less: a heading would cover what follows them, so
        it loses its label.
        """
        while self._objects and self._objects[-1][0] >= indent:
            _, index = self._objects.pop()
            self.spans[index] = self.spans[index]._replace(label="")
        self.spans.append(Span(kind, first, last))
        return last

    def _omit(self, first: int, last: int) -> int:
        self.spans.append(Span(None, first, last))
        return last

    def _is_blank(self, number: int, last: int) -> bool:
        return number >= last or not self._lines.text[number]

    def _read_title(self, number: int, last: int, indent: int) -> int:
        """Add the heading that begins at a line, and return the line behind it; 0 if there is none.

        A rule of less than four marks that is shorter than its title is text.
        """
        texts = self._lines.text
        if self._is_item(number, last, indent):
            return 0
        rule = _RULE.match(texts[number])
        above = rule is not None and number + 2 < last and texts[number] == texts[number + 2]
        title = number + 1 if above else number
        if title + 1 >= last or not texts[title] or (not above and self._lines.indents[title] != 0):
            return 0
        below = _RULE.match(texts[title + 1])
        if below is None or (_RULE.match(texts[title]) and not above):
            return 0
        length = len(texts[title + 1])
        if length < _SHORT_RULE and length < measure_width(texts[title]):
            return 0
        style = f"{'over' if above else ''}{below[1]}"
        if style not in self._styles:
            self._styles.append(style)
        self._level = min(self._styles.index(style) + 1, MAX_HEADING_LEVEL)
        self._objects.clear()
        label = to_plain_label(texts[title])
        self.spans.append(Span(BlockKind.HEADING, number, title + 2, self._level, label))
        return title + 2

    def _begins_element(self, number: int, last: int, indent: int) -> bool:
        """Return whether a line begins with the marks of anything but text."""
        bare = self._lines.text[number]
        if bare == ".." or bare.startswith(".. ") or self._is_item(number, last, indent):
            return True
        marks = (_RULE, FIELD, _GRID_TABLE, _SIMPLE_TABLE)
        return any(mark.match(bare) for mark in marks)

    def _is_item(self, number: int, last: int, indent: int) -> bool:
        """Return whether a line begins a list item; an enumerator needs a fitting next line."""
        texts, indents = self._lines.text, self._lines.indents
        if indents[number] != indent:
            return False
        bare = texts[number]
        if _BULLET.match(bare) or _OPTION.match(bare) or bare == "|" or bare.startswith("| "):
            return True
        if not _ENUMERATOR.match(bare):
            return False
        if self._is_blank(number + 1, last) or indents[number + 1] > indent:
            return True
        return _ENUMERATOR.match(texts[number + 1]) is not None

    def _read_list(self, number: int, last: int, indent: int) -> int:
        first = end = number
        while number < last and self._is_item(number, last, indent):
            end = self._lines.find_dedent(number + 1, last, indent + 1)
            number = self._lines.skip_blank(end, last)
        return self._add(BlockKind.LIST, first, end, indent)

    def _read_fields(self, number: int, last: int, indent: int, depth: int) -> int:
        """Add a list of fields; those at the start of the document are its metadata."""
        first, end, fields, texts = number, number, {}, self._lines.text
        while number < last and self._lines.indents[number] == indent:
            match = FIELD.match(texts[number])
            if match is None:
                break
            end = self._lines.find_dedent(number + 1, last, indent + 1)
            fields[match[1].lower()] = "\n".join(
                filter(None, (match[2] or "", *texts[number + 1 : end]))
            )
            number = self._lines.skip_blank(end, last)
        if not depth and self._is_head():
            self.fields.update(fields)
            if set(fields) <= _METADATA:
                return self._omit(first, end)
        return self._add(BlockKind.LIST, first, end, indent)

    def _is_head(self) -> bool:
        """Return whether the text so far has at most its title."""
        body = [span for span in self.spans[:_MAX_HEAD] if span.kind]
        return len(self.spans) < _MAX_HEAD and (not body or (len(body) == 1 and body[0].level > 0))

    def _read_table(self, number: int, last: int, indent: int) -> int:
        """Add a table of either form."""
        if self._lines.text[number].startswith("+"):
            end = self._lines.find_blank(number, last)
            return self._add(BlockKind.TABLE, number, end, indent)
        texts, end, rules = self._lines.text, number, 0
        for line in range(number, last):
            if self._lines.text[line] and self._lines.indents[line] < indent:
                break
            if _TABLE_RULE.match(texts[line]):
                rules += 1
                end = line + 1
                if rules > _RULES_OF_TABLE or (rules > 1 and self._is_blank(end, last)):
                    break
        end = end if rules > 1 else self._lines.find_blank(number, last)
        return self._add(BlockKind.TABLE, number, end, indent)

    def _read_paragraph(self, number: int, last: int, indent: int) -> int:
        """Add a paragraph, or the items of a definition list, and literal text behind it."""
        lines = self._lines
        if self._is_term(number, last, indent):
            return self._read_definitions(number, last, indent)
        blank = lines.find_blank(number, last)
        end = min(blank, lines.find_dedent(number, blank, indent))
        self._add(BlockKind.PARAGRAPH, number, end, indent)
        if lines.text[end - 1].endswith("::"):
            end = self._read_literal(end, last, indent)
        return end

    def _is_term(self, number: int, last: int, indent: int) -> bool:
        below = number + 1
        return below < last and self._lines.indents[below] > indent == self._lines.indents[number]

    def _read_definitions(self, number: int, last: int, indent: int) -> int:
        first = end = number
        while number < last and self._is_term(number, last, indent):
            if number > first and self._begins_element(number, last, indent):
                break
            end = self._lines.find_dedent(number + 1, last, indent + 1)
            number = self._lines.skip_blank(end, last)
        return self._add(BlockKind.LIST, first, end, indent)

    def _read_literal(self, number: int, last: int, indent: int) -> int:
        """Add the literal block behind a paragraph that ends in `::`: indented, or quoted."""
        first = self._lines.skip_blank(number, last)
        if first in {number, last}:
            return number
        if self._lines.indents[first] > indent:
            end = self._lines.find_dedent(first, last, indent + 1)
            return self._add(BlockKind.CODE, first, end, indent)
        mark = self._lines.text[first][0]
        if not _RULE.match(mark) or self._lines.text[first].startswith(".. "):
            return number
        end = first
        while end < last and self._lines.text[end].startswith(mark):
            end += 1
        return self._add(BlockKind.CODE, first, end, indent)
