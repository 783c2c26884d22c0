"""Reads files in Rich Text Format (`.rtf`)."""

import codecs
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeAlias

from kebab.core.documents import Metadata, ParsedDocument
from kebab.errors.catalog import ParseFailed
from kebab.parse.blocks import TextBuilder, label_note
from kebab.parse.formulas import END, SUBSCRIPT, SUPERSCRIPT, write_scripts
from kebab.text.normalize import split_names

_CODECS = (
    "77:mac_roman 128:cp932 129:cp949 130:johab 134:gb18030 136:big5 161:cp1253 162:cp1254"
    " 163:cp1258 177:cp1255 178:cp1256 186:cp1257 204:cp1251 222:cp874 238:cp1250"
)
CODEC_OF_CHARSET = {
    int(number): codec for number, _, codec in (one.partition(":") for one in _CODECS.split())
}
"""The codecs of the character sets of fonts; other fonts use the code page of the document."""

_DOUBLE_BYTE = frozenset({"cp932", "cp949", "gb18030", "big5"})
_CODE_PAGES = {936: "gb18030", 10000: "mac_roman", 65001: "utf-8"}
DEFAULT = "cp1252"


def find_page_codec(page: int) -> str:
    """Return the codec of a code page."""
    name = _CODE_PAGES.get(page, f"cp{page}")
    try:
        return codecs.lookup(name).name
    except LookupError:
        return DEFAULT


def decode_bytes(data: bytes, font_codec: str, page_codec: str) -> str:
    """Return the text of bytes in a font.

    Some programs write double-byte text in a font whose character set is Western.
    """
    if not font_codec or page_codec in _DOUBLE_BYTE:
        try:
            return data.decode(font_codec or page_codec)
        except UnicodeDecodeError:
            pass
    return data.decode(font_codec or page_codec, "replace")


def join_surrogates(text: str) -> str:
    """Return text whose characters beyond the first plane are written as two escapes."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


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
    notes: list[tuple[str, str]] = field(default_factory=list)
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
        self.author = ""
        """Who wrote the next comment."""
        self._builder = builder
        self._levels: dict[int, int] = {}
        self._cells: list[str] = []
        self._cell: list[str] = []
        self._rows: list[list[str]] = []
        self._outer: list[Paragraph] = []
        self._notes: list[tuple[str, str]] = []
        """The notes of the open table."""
        self._note: list[str] = []

    def add_style(self, style: Paragraph) -> None:
        """Remember a style that makes headings; its text is its name."""
        name = "".join(style.text).rstrip("; ").strip()
        found = _HEADING_NAME.match(name)
        level = int(found[1]) if found else int(name.lower() in _TITLE_NAMES) or style.level
        if level:
            self._levels[style.style] = level

    def begin_note(self) -> None:
        """Begin a footnote, a comment or a text box, which is written behind its paragraph."""
        self._outer.append(self.paragraph)
        self.paragraph = Paragraph()

    def end_note(self, kind: str) -> None:
        """End a note of a kind; a text box has none."""
        self.end_paragraph()
        if self._outer:
            self.paragraph = self._outer.pop()
        text = " ".join(self._note)
        self._note.clear()
        if text and not self._outer:
            self.paragraph.notes.append(
                (kind, label_note(text, self.author, kind) if kind else text)
            )
            self.author = ""

    def end_paragraph(self) -> None:
        """End the open paragraph; its properties hold for the next one."""
        paragraph = self.paragraph
        text = write_scripts(join_surrogates("".join(paragraph.text))).strip()
        marker = join_surrogates("".join(paragraph.marker)).strip()
        self.paragraph = replace(paragraph, text=[], marker=[], notes=[])
        if self._outer:
            self._note += [text] if text else []
        elif paragraph.in_table:
            self._cell += [text] if text else []
            self._notes += paragraph.notes
        elif text or paragraph.notes:
            self._write_table()
            level = self._levels.get(paragraph.style, 0) or paragraph.level
            if 0 < level <= _BODY_LEVELS and len(text) <= _MAX_HEADING_CHARS:
                number = f"{marker} " if marker[:1].isdigit() else ""
                self._builder.add_heading(level, number + text)
            elif marker:
                number = f"{marker} " if _NUMBER.fullmatch(marker) else "- "
                self._builder.add_item(paragraph.depth, number + text)
            else:
                self._builder.add_paragraph(text)
            self._write_notes(paragraph.notes)

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
        """Write what is still open."""
        self._outer.clear()
        self.end_paragraph()
        if self._cell:
            self._cells.append(" ".join(self._cell))
        self.end_row()
        self._write_table()
        self._builder.end_run()

    def _write_notes(self, notes: list[tuple[str, str]]) -> None:
        """Write notes as quotations, and text boxes as paragraphs, behind an open list."""
        for kind, text in notes:
            add = self._builder.add_quote if kind else self._builder.add_paragraph
            self._builder.add_behind(partial(add, text))

    def _write_table(self) -> None:
        if not self._rows:
            return
        rows, self._rows = self._rows, []
        if max(map(len, rows)) > 1:
            digits = any(char.isdigit() for cell in rows[0] for char in cell)
            self._builder.add_table(rows, header=all(rows[0]) and not digits)
        else:
            for row in rows:
                self._builder.add_paragraph(" ".join(row))
        notes, self._notes = self._notes, []
        self._write_notes(notes)


_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])|([{}])|[\r\n]+"
    rb"|([^\\{}\r\n]+)",
    re.DOTALL,
)
_CHARACTERS = {
    "tab": "\t",
    **dict.fromkeys(("line", "softline"), "\n"),
    "emdash": "\u2014",
    "endash": "\u2013",
    "bullet": "\u2022",
    "lquote": "\u2018",
    "rquote": "\u2019",
    "ldblquote": "\u201c",
    "rdblquote": "\u201d",
    **dict.fromkeys(("emspace", "enspace", "nestcell", "nestrow"), " "),
}
_SYMBOLS = {b"~": " ", b"_": "-", b"\\": "\\", b"{": "{", b"}": "}", b"\n": "\n", b"\r": "\n"}
_LEFT_OUT = split_names(
    "colortbl pict object fldinst themedata listtable generator listoverridetable rsidtbl"
    " xmlnstbl nonshppict ftnsep ftnsepc aftnsep aftnsepc private operator comment doccomm pgptbl"
    " revtbl filetbl tc xe rxe datafield nonesttables sp shprslt"
)
_MARGINS = split_names("header headerl headerr headerf footer footerl footerr footerf")
_INFO = frozenset({"title", "author", "keywords", "subject"})
_MAX_FONTS = 10_000


@dataclass(slots=True)
class _Group:
    """The state of a group, which ends with it."""

    destination: str = ""
    codec: str = ""
    skipped_after_unicode: int = 1
    hidden: bool = False
    script: str = ""
    font: int = 0


def _is_on(number: int | None) -> bool:
    return number != 0


_Convert: TypeAlias = Callable[[int | None], object]

_CHARACTER_PROPERTIES: dict[str, tuple[str, _Convert]] = {
    "v": ("hidden", _is_on),
    "deleted": ("hidden", _is_on),
    "super": ("script", lambda number: SUPERSCRIPT if _is_on(number) else ""),
    "sub": ("script", lambda number: SUBSCRIPT if _is_on(number) else ""),
    "nosupersub": ("script", lambda _: ""),
    "uc": ("skipped_after_unicode", lambda number: max(0, min(1 if number is None else number, 8))),
}
"""By control word, a field of a group and its value."""

_PARAGRAPH_PROPERTIES: dict[str, tuple[str, _Convert]] = {
    "s": ("style", lambda number: number or 0),
    "outlinelevel": ("level", lambda number: (number or 0) + 1),
    "intbl": ("in_table", _is_on),
    "ilvl": ("depth", lambda number: max(0, min(number or 0, 8))),
}
"""By control word, a field of a paragraph and its value."""

_NOTES = {"footnote": "footnote", "annotation": "comment", "shptxt": ""}
"""By destination, the kind of a text that stands behind its paragraph."""

_TEXT = frozenset({"", *_NOTES})
_DESTINATIONS = ("fonttbl", "stylesheet", "info", "listtext", "pntext", "atnauthor", *_NOTES)


class RtfReader:
    """Reads one text."""

    def __init__(
        self, data: bytes, writer: RtfWriter, left_out: frozenset[str] = _LEFT_OUT | _MARGINS
    ) -> None:
        """Prepare to read `data` into a writer, without the destinations `left_out`."""
        self._data, self._writer, self._left_out = data, writer, left_out
        self._group = _Group()
        self._stack: list[_Group] = []
        self._page_codec = DEFAULT
        self._fonts: dict[int, str] = {}
        self._default_font = 0
        self._bytes = bytearray()
        self._skip = 0
        self._style = Paragraph()
        self._optional = False
        self._at_start = False
        self._actions = self._list_actions()

    def read(self) -> None:
        """Read all tokens; broken ones are passed over."""
        position = 0
        while found := _TOKEN.search(self._data, position):
            position = found.end()
            word, number, code, symbol, brace, text = found.groups()
            if word:
                position += self._do_word(word.decode(), None if number is None else int(number))
            elif code:
                self._add_bytes(bytes([int(code, 16)]), escaped=True)
            elif text:
                self._add_bytes(text)
            elif brace:
                self._begin_group() if brace == b"{" else self._end_group()
            elif symbol:
                if symbol == b"*":
                    self._optional = True
                elif symbol in _SYMBOLS:
                    self._flush()
                    if symbol in b"\r\n":
                        self._end_paragraph(None)
                    else:
                        self._add_text(_SYMBOLS[symbol])
        self._flush()
        self._writer.finish()

    def _do_word(self, word: str, number: int | None) -> int:
        """Do what a control word says; return how many bytes to pass over behind it."""
        if word == "bin":
            return max(0, number or 0)
        optional, self._optional = self._optional, False
        begins, self._at_start = self._at_start, False
        if word == "u":
            self._flush()
            self._add_text(chr((number or 0) & 0xFFFF))
            self._skip = self._group.skipped_after_unicode
            return 0
        self._flush()
        self._skip = 0
        if word in _CHARACTERS:
            self._add_text(_CHARACTERS[word])
        elif word in self._left_out or (optional and word not in self._actions):
            # Elsewhere than at the start of a group, programs write it without a meaning.
            if begins:
                self._group.destination = "none"
        elif word in self._actions:
            self._actions[word](number)
        elif word in _INFO and self._group.destination == "info":
            self._group.destination = word
        return 0

    def _list_actions(self) -> dict[str, Callable[[int | None], None]]:
        """Return what control words do."""
        return {
            **{name: partial(self._begin_destination, name) for name in _DESTINATIONS},
            **{
                name: partial(self._set_character, *one)
                for name, one in _CHARACTER_PROPERTIES.items()
            },
            **{
                name: partial(self._set_paragraph, *one)
                for name, one in _PARAGRAPH_PROPERTIES.items()
            },
            **dict.fromkeys(("par", "sect", "page"), self._end_paragraph),
            "ansicpg": self._set_page,
            "deff": self._set_default_font,
            "f": self._set_font,
            "fcharset": self._set_charset,
            "plain": self._reset_characters,
            "pard": self._reset_paragraph,
            "cell": lambda _: self._writer.end_cell(),
            "row": lambda _: self._writer.end_row(),
            **dict.fromkeys(("shppict", "shpinst"), lambda _: None),
        }

    def _begin_destination(self, name: str, _number: int | None) -> None:
        if self._group.destination != "none":
            self._group.destination = name
            if name in _NOTES:
                self._group.script = ""
                self._writer.begin_note()

    def _begin_group(self) -> None:
        self._flush()
        self._skip = 0
        self._stack.append(self._group)
        self._group = replace(self._group)
        self._optional, self._at_start = False, True

    def _end_group(self) -> None:
        self._flush()
        self._skip = 0
        self._at_start = False
        ended = self._group
        if self._stack:
            self._group = self._stack.pop()
        if ended.destination == "stylesheet" and self._style.text:
            self._writer.add_style(self._style)
            self._style = Paragraph()
        if ended.destination in _NOTES and ended.destination != self._group.destination:
            self._writer.end_note(_NOTES[ended.destination])

    def _add_bytes(self, data: bytes, *, escaped: bool = False) -> None:
        """Add bytes of text, without those that stand for the last Unicode escape."""
        if self._skip:
            count = 1 if escaped else len(data)
            skipped = min(self._skip, count)
            self._skip -= skipped
            data = data[skipped:] if not escaped else b""
        self._bytes += data
        self._at_start = self._at_start and data.isspace()

    def _flush(self) -> None:
        """Decode the collected bytes."""
        if self._bytes:
            data = bytes(self._bytes)
            self._bytes.clear()
            self._add_text(decode_bytes(data, self._group.codec, self._page_codec))

    def _add_text(self, text: str) -> None:
        """Add text to the destination of the group."""
        destination = self._group.destination
        if destination == "stylesheet":
            self._style.text.append(text)
        elif destination in _INFO:
            self._writer.info[destination] = self._writer.info.get(destination, "") + text
        elif destination in {"listtext", "pntext"}:
            self._writer.paragraph.marker.append(text)
        elif destination == "atnauthor":
            self._writer.author = text.strip()
        elif destination in _TEXT and not self._group.hidden:
            script = self._group.script
            text = f"{script}{text}{END}" if script else text
            self._writer.paragraph.text.append(text)

    def _set_character(self, name: str, convert: _Convert, number: int | None) -> None:
        setattr(self._group, name, convert(number))

    def _set_paragraph(self, name: str, convert: _Convert, number: int | None) -> None:
        destination = self._group.destination
        if destination in {"", "stylesheet"}:
            paragraph = self._style if destination else self._writer.paragraph
            setattr(paragraph, name, convert(number))

    def _set_page(self, number: int | None) -> None:
        self._page_codec = find_page_codec(number or 0)

    def _set_default_font(self, number: int | None) -> None:
        self._default_font = number or 0

    def _set_font(self, number: int | None) -> None:
        self._group.font = number or 0
        if self._group.destination != "fonttbl":
            self._group.codec = self._fonts.get(self._group.font, "")

    def _set_charset(self, number: int | None) -> None:
        if self._group.destination == "fonttbl" and len(self._fonts) < _MAX_FONTS:
            self._fonts[self._group.font] = CODEC_OF_CHARSET.get(number or 0, "")

    def _reset_characters(self, _number: int | None) -> None:
        self._group.hidden, self._group.script = False, ""
        self._group.codec = self._fonts.get(self._default_font, "")

    def _reset_paragraph(self, _number: int | None) -> None:
        if not self._group.destination:
            paragraph = self._writer.paragraph
            self._writer.paragraph = Paragraph(paragraph.text, paragraph.marker, paragraph.notes)

    def _end_paragraph(self, _number: int | None) -> None:
        if self._group.destination in _TEXT:
            self._writer.end_paragraph()


_MAX_KEYWORDS = 20


class RtfParser:
    """Parses Rich Text Format: headings, lists, tables, notes and text boxes."""

    version = "rtf-v4"

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document.

        Raises:
            ParseFailed: The file is not in Rich Text Format.
        """
        body = data.lstrip(b"\xef\xbb\xbf\r\n\t \0")
        if not body.startswith(b"{\\rtf"):
            raise ParseFailed(path=path, parser=self.version, cause="not an RTF file")
        builder = TextBuilder()
        writer = RtfWriter(builder)
        RtfReader(body, writer).read()
        if not builder.length:
            # Forms may have all their text in the margins of the page.
            writer = RtfWriter(builder)
            RtfReader(body, writer, _LEFT_OUT).read()
        info = {name: " ".join(text.split()) for name, text in writer.info.items()}
        keywords = (word.strip() for word in info.get("keywords", "").replace(";", ",").split(","))
        metadata = Metadata(
            title=info["title"] if any(map(str.isalnum, info.get("title", ""))) else None,
            authors=(info["author"],) if info.get("author") else (),
            tags=tuple(dict.fromkeys(filter(None, keywords)))[:_MAX_KEYWORDS],
        )
        return builder.build(path, metadata)
