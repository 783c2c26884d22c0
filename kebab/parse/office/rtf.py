"""Reads files in Rich Text Format (`.rtf`): headings, lists, tables, notes and the margins.

Notes, comments and text boxes stand behind their paragraph, headers and footers at the end. Hidden
and deleted text is left out.
"""

import codecs
import re
from dataclasses import dataclass, replace

from kebab.core.documents import Metadata, ParsedDocument
from kebab.errors.catalog import ParseFailed
from kebab.parse.blocks import TextBuilder, label_note
from kebab.parse.metadata import list_unique, split_keywords
from kebab.parse.office.ooxml import LONGEST_HEADING, find_heading_level, find_role
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


_NUMBER = re.compile(r"\(?(\w{1,3})[.)]")
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
_SYMBOLS = {b"~": " ", b"_": "-", b"\\": "\\", b"{": "{", b"}": "}"}
_LEFT_OUT = split_names(
    "colortbl pict object fldinst themedata listtable generator listoverridetable rsidtbl"
    " xmlnstbl nonshppict ftnsep ftnsepc aftnsep aftnsepc private operator comment doccomm pgptbl"
    " revtbl filetbl tc xe rxe datafield nonesttables sp shprslt"
)
_MARGINS = split_names("header headerl headerr headerf footer footerl footerr footerf")
_INFO = frozenset({"title", "author", "keywords", "subject"})
_NOTES = {"footnote": "footnote", "annotation": "comment", "shptxt": ""}
"""By destination, the kind of a text that stands behind its paragraph."""
_MARKERS = frozenset({"listtext", "pntext"})
_DESTINATIONS = _MARGINS | _MARKERS | {"fonttbl", "stylesheet", "info", "atnauthor", *_NOTES}
_KNOWN = _DESTINATIONS | {"shppict", "shpinst"}
_MAX_FONTS = 10_000
_MAX_DEPTH = 8


@dataclass(slots=True)
class _Group:
    """The state of a group, which ends with it."""

    destination: str = ""
    codec: str = ""
    skipped_after_unicode: int = 1
    hidden: bool = False
    font: int = 0


@dataclass(slots=True)
class _Properties:
    """The properties of a paragraph: those of its style, too, where it is one."""

    style: int = 0
    level: int = 0
    depth: int = 0
    in_table: bool = False


class _Writer:
    """Collects the parts of the body and writes them in order."""

    def __init__(self, builder: TextBuilder) -> None:
        self.builder = builder
        self.properties = _Properties()
        self.text: list[str] = []
        self.marker: list[str] = []
        self.notes: list[tuple[str, str]] = []
        """The notes of the open paragraph or table, each with its kind."""
        self.levels: dict[int, int] = {}
        """The levels of the headings that styles make."""
        self._cell: list[str] = []
        self._cells: list[str] = []
        self._rows: list[list[str]] = []

    def end_paragraph(self) -> None:
        """End the open paragraph; its properties hold for the next one."""
        text = join_surrogates("".join(self.text)).strip()
        marker = join_surrogates("".join(self.marker)).strip()
        self.text, self.marker = [], []
        if self.properties.in_table:
            self._cell += [text] if text else []
        elif text or self.notes:
            self._write_table()
            level = self.levels.get(self.properties.style, 0) or self.properties.level
            if 0 < level <= _MAX_DEPTH + 1 and len(text) <= LONGEST_HEADING:
                number = f"{marker} " if marker[:1].isdigit() else ""
                self.builder.add_heading(level, number + text)
            elif marker:
                number = f"{marker} " if _NUMBER.fullmatch(marker) else "- "
                self.builder.add_item(self.properties.depth, number + text)
            else:
                self.builder.add_paragraph(text)
            self._write_notes()

    def end_cell(self) -> None:
        """End a cell of a table."""
        self.properties.in_table = True
        self.end_paragraph()
        self._cells.append(" ".join(self._cell))
        self._cell = []

    def end_row(self) -> None:
        """End a row of a table."""
        self._rows += [self._cells] if self._cells else []
        self._cells = []

    def finish(self) -> None:
        """Write what is still open."""
        self.end_paragraph()
        self._cells += [" ".join(self._cell)] if self._cell else []
        self.end_row()
        self._write_table()
        self.builder.end_run()

    def _write_notes(self) -> None:
        notes, self.notes = self.notes, []
        for kind, text in notes:
            write = self.builder.add_quote if kind else self.builder.add_paragraph
            self.builder.add_behind(lambda write=write, text=text: write(text))  # type: ignore[misc]

    def _write_table(self) -> None:
        if not self._rows:
            return
        rows, self._rows = self._rows, []
        if max(map(len, rows)) > 1:
            digits = any(char.isdigit() for cell in rows[0] for char in cell)
            self.builder.add_table(rows, header=all(rows[0]) and not digits)
        else:
            for row in rows:
                self.builder.add_paragraph(" ".join(row))
        self._write_notes()


class RtfReader:
    """Reads one text into a builder."""

    def __init__(self, data: bytes, builder: TextBuilder) -> None:
        self.info: dict[str, str] = {}
        self._data, self._builder = data, builder
        self._writer = _Writer(builder)
        self._group = _Group()
        self._stack: list[_Group] = []
        self._page_codec = DEFAULT
        self._fonts: dict[int, str] = {}
        self._default_font = 0
        self._bytes = bytearray()
        self._skip = 0
        self._style, self._style_name = _Properties(), list[str]()
        self._aside: list[str] = []
        """The text of the open note or margin."""
        self._author = ""
        """Who wrote the next comment."""
        self._margins: dict[str, str] = {}
        self._optional = self._at_start = False

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
                self._flush()
                self._begin_group() if brace == b"{" else self._end_group()
            elif symbol == b"*":
                self._optional = True
            elif symbol and symbol in b"\r\n":
                self._flush()
                self._end_paragraph()
            elif symbol in _SYMBOLS:
                self._flush()
                self._add_text(_SYMBOLS[symbol])
        self._flush()
        self._writer.finish()
        for text, kind in self._margins.items():
            self._builder.add_quote(f"{kind}: {text}")

    def _do_word(self, word: str, number: int | None) -> int:
        """Do what a control word says; return how many bytes to pass over behind it."""
        if word == "bin":
            return max(0, number or 0)
        optional, self._optional = self._optional, False
        begins, self._at_start = self._at_start, False
        self._flush()
        self._skip = 0
        group = self._group
        if word == "u":
            self._add_text(chr((number or 0) & 0xFFFF))
            self._skip = group.skipped_after_unicode
        elif word in _CHARACTERS:
            self._add_text(_CHARACTERS[word])
        elif word in _LEFT_OUT or (begins and optional and word not in _KNOWN):
            # Elsewhere than at the start of a group, programs write it without a meaning.
            group.destination = "none" if begins else group.destination
        elif group.destination == "info" if word in _INFO else word in _DESTINATIONS:
            group.destination = word if group.destination != "none" else "none"
        else:
            self._set_character(word, number)
            self._set_paragraph(word, number)
        return 0

    def _set_character(self, word: str, number: int | None) -> None:
        """Apply a control word for characters, fonts and encodings."""
        group, value = self._group, number or 0
        if word in {"v", "deleted"}:
            group.hidden = number != 0
        elif word == "uc":
            group.skipped_after_unicode = max(0, min(1 if number is None else number, 8))
        elif word == "ansicpg":
            self._page_codec = find_page_codec(value)
        elif word == "deff":
            self._default_font = value
        elif word == "plain":
            group.hidden, group.codec = False, self._fonts.get(self._default_font, "")
        elif word == "f":
            group.font = value
            if group.destination != "fonttbl":
                group.codec = self._fonts.get(value, "")
        elif word == "fcharset" and len(self._fonts) < _MAX_FONTS:
            self._fonts[group.font] = CODEC_OF_CHARSET.get(value, "")

    def _set_paragraph(self, word: str, number: int | None) -> None:
        """Apply a control word for paragraphs and tables."""
        destination = self._group.destination
        if destination not in {"", "stylesheet"}:
            if word in {"par", "sect", "page"}:
                self._end_paragraph()
            return
        properties = self._style if destination else self._writer.properties
        if word in {"par", "sect", "page"}:
            self._end_paragraph()
        elif word == "pard":
            self._writer.properties = _Properties()
        elif word == "s":
            properties.style = number or 0
        elif word == "outlinelevel":
            properties.level = (number or 0) + 1
        elif word == "intbl":
            properties.in_table = number != 0
        elif word == "ilvl":
            properties.depth = max(0, min(number or 0, _MAX_DEPTH))
        elif word == "cell":
            self._writer.end_cell()
        elif word == "row":
            self._writer.end_row()

    def _begin_group(self) -> None:
        self._skip = 0
        self._stack.append(self._group)
        self._group = replace(self._group)
        self._optional, self._at_start = False, True

    def _end_group(self) -> None:
        self._skip, self._at_start = 0, False
        ended = self._group
        if self._stack:
            self._group = self._stack.pop()
        if ended.destination == "stylesheet" and self._style_name:
            name = "".join(self._style_name).rstrip("; ").strip()
            level = find_heading_level(name) or int(find_role(name) == "title") or self._style.level
            if level:
                self._writer.levels[self._style.style] = level
            self._style, self._style_name = _Properties(), []
        if ended.destination != self._group.destination:
            self._end_aside(ended.destination)

    def _end_aside(self, destination: str) -> None:
        """End a note, or a margin of pages."""
        if destination not in _NOTES and destination not in _MARGINS:
            return
        text = " ".join(join_surrogates("".join(self._aside)).split())
        self._aside = []
        if destination in _MARGINS and text:
            self._margins[text] = destination[:6].capitalize()
        elif text:
            kind = _NOTES[destination]
            note = label_note(text, self._author, kind) if kind else text
            self._writer.notes.append((kind, note))
            self._author = ""

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
            self._style_name.append(text)
        elif destination in _INFO:
            self.info[destination] = self.info.get(destination, "") + text
        elif destination == "atnauthor":
            self._author = text.strip()
        elif destination in _MARKERS:
            self._writer.marker.append(text)
        elif destination in _NOTES or destination in _MARGINS:
            self._aside.append(text)
        elif not destination and self._group.hidden:
            self._builder.leave_out("hidden and deleted text", text)
        elif not destination:
            self._writer.text.append(text)

    def _end_paragraph(self) -> None:
        if not self._group.destination:
            self._writer.end_paragraph()
        else:
            self._add_text(" ")


class RtfParser:
    """Parses Rich Text Format."""

    version = "rtf-v5"

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document.

        Raises:
            ParseFailed: The file is not in Rich Text Format.
        """
        body = data.lstrip(b"\xef\xbb\xbf\r\n\t \0")
        if not body.startswith(b"{\\rtf"):
            raise ParseFailed(path=path, parser=self.version, cause="not an RTF file")
        builder = TextBuilder()
        reader = RtfReader(body, builder)
        reader.read()
        info = {name: " ".join(text.split()) for name, text in reader.info.items()}
        metadata = Metadata(
            title=info["title"] if any(map(str.isalnum, info.get("title", ""))) else None,
            authors=(info["author"],) if info.get("author") else (),
            tags=list_unique(split_keywords(info.get("keywords", ""))),
        )
        return builder.build(path, metadata)
