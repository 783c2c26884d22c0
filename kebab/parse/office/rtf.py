"""Reads files in Rich Text Format (`.rtf`): headings, lists and tables.

Notes, comments, text boxes, headers and footers stand at the end. Hidden and deleted text is left
out.
"""

import codecs
import re
from dataclasses import dataclass, replace

from kebab.core.documents import Metadata, ParsedDocument
from kebab.limits.deadline import build_refusal
from kebab.parse.blocks import TextBuilder, label_note
from kebab.parse.metadata import list_unique, split_keywords
from kebab.parse.office.ooxml import LONGEST_HEADING, find_heading_level, find_role
from kebab.text.normalize import split_names

_CODECS = (
    "77:mac_roman 128:cp932 129:cp949 130:johab 134:gb18030 136:big5 161:cp1253 162:cp1254"
    " 163:cp1258 177:cp1255 178:cp1256 186:cp1257 204:cp1251 222:cp874 238:cp1250"
)
_CODEC_OF_CHARSET = {
    int(number): codec for number, _, codec in (one.partition(":") for one in _CODECS.split())
}
"""The codecs of the character sets of fonts; other fonts use the code page of the document."""

_CODE_PAGES = {936: "gb18030", 10000: "mac_roman", 65001: "utf-8"}
_DEFAULT = "cp1252"


def find_page_codec(page: int) -> str:
    """Return the codec of a code page."""
    name = _CODE_PAGES.get(page, f"cp{page}")
    try:
        return codecs.lookup(name).name
    except LookupError:
        return _DEFAULT


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
    "colortbl pict themedata listtable generator listoverridetable rsidtbl"
    " xmlnstbl nonshppict ftnsep ftnsepc aftnsep aftnsepc private operator pgptbl"
    " revtbl filetbl datafield nonesttables sp shprslt"
)
_UNREAD = split_names("fldinst tc xe rxe sv staticval comment doccomm company manager category")
"""Destinations whose text may be words of people."""
_ASIDES = {
    **{f"{kind}{end}": kind for kind in ("header", "footer") for end in ("", "l", "r", "f")},
    "footnote": "footnote",
    "annotation": "comment",
    "shptxt": "text box",
}
"""By destination, the kind of a text that stands at the end."""
_INFO = frozenset({"title", "author", "keywords", "subject"})
_MARKERS = frozenset({"listtext", "pntext"})
_DESTINATIONS = _MARKERS | {"fonttbl", "stylesheet", "info", "atnauthor", *_ASIDES}
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


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.builder = TextBuilder()
        self.info: dict[str, str] = {}
        self._data = data
        self._group = _Group()
        self._stack: list[_Group] = []
        self._page_codec = _DEFAULT
        self._fonts: dict[int, str] = {}
        self._default_font = 0
        self._bytes = bytearray()
        self._skip = 0
        self._optional = self._at_start = False
        self._texts: dict[str, list[str]] = {}
        """The texts of the open paragraph, which has no name, and of other open destinations."""
        self._asides: dict[str, None] = {}
        self._properties, self._style = _Properties(), _Properties()
        self._levels: dict[int, int] = {}
        """The levels of the headings that styles make."""
        self._cell: list[str] = []
        self._cells: list[str] = []
        self._rows: list[list[str]] = []

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
                self._skip, self._at_start = 0, brace == b"{"
                if brace == b"{":
                    self._stack.append(self._group)
                    self._group, self._optional = replace(self._group), False
                else:
                    self._end_group()
            elif symbol == b"*":
                self._optional = True
            elif symbol and symbol in b"\r\n":
                self._flush()
                self._end_paragraph()
            elif symbol in _SYMBOLS:
                self._flush()
                self._add_text(_SYMBOLS[symbol])
        self._flush()
        self._group = _Group()
        self._end_paragraph()
        self._end_cell()
        self._end_row()
        self._write_table()
        for aside in self._asides:
            self.builder.add_quote(aside)

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
        elif word in _UNREAD and (begins or group.destination == "none"):
            group.destination = "unread"
        elif word in _LEFT_OUT or (begins and optional and word not in _KNOWN):
            # Elsewhere than at the start of a group, programs write it without a meaning.
            group.destination = "none" if begins else group.destination
        elif group.destination == "info" if word in _INFO else word in _DESTINATIONS:
            group.destination = word if group.destination != "none" else "none"
        elif word in {"par", "sect", "page"}:
            self._end_paragraph()
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
            self._fonts[group.font] = _CODEC_OF_CHARSET.get(value, "")

    def _set_paragraph(self, word: str, number: int | None) -> None:
        """Apply a control word for paragraphs and tables of the body, or of a style."""
        destination, value = self._group.destination, number or 0
        if destination not in {"", "stylesheet"}:
            return
        properties = self._style if destination else self._properties
        if word == "pard":
            self._properties = _Properties()
        elif word == "s":
            properties.style = value
        elif word == "outlinelevel":
            properties.level = value + 1
        elif word == "intbl":
            properties.in_table = number != 0
        elif word == "ilvl":
            properties.depth = max(0, min(value, _MAX_DEPTH))
        elif word == "cell":
            self._properties.in_table = True
            self._end_paragraph()
            self._end_cell()
        elif word == "row":
            self._end_row()

    def _end_group(self) -> None:
        """Return to the outer group; the end of a style or an aside completes it."""
        ended = self._group.destination
        self._group = self._stack.pop() if self._stack else self._group
        if ended == "stylesheet" and (name := self._take_text(ended).rstrip("; ")):
            level = find_heading_level(name) or int(find_role(name) == "title") or self._style.level
            if level:
                self._levels[self._style.style] = level
            self._style = _Properties()
        elif ended in _ASIDES and ended != self._group.destination:
            kind, text = _ASIDES[ended], " ".join(self._take_text(ended).split())
            author = self._take_text("atnauthor") if kind == "comment" else ""
            self._asides[label_note(text, author, kind)] = None

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
        text = self._bytes.decode(self._group.codec or self._page_codec, "replace")
        self._bytes.clear()
        if text:
            self._add_text(text)

    def _add_text(self, text: str) -> None:
        destination = self._group.destination
        if destination in _INFO:
            self.info[destination] = self.info.get(destination, "") + text
        elif not destination and self._group.hidden:
            self.builder.leave_out("hidden and deleted text", text)
        elif destination == "unread":
            self.builder.leave_out("fields and properties", text)
        elif destination in {"", "stylesheet", "atnauthor", *_MARKERS, *_ASIDES}:
            name = "listtext" if destination in _MARKERS else destination
            self._texts.setdefault(name, []).append(text)

    def _take_text(self, destination: str) -> str:
        """Return the text of a destination, and begin it anew.

        Characters beyond the first plane are written as two escapes.
        """
        text = "".join(self._texts.pop(destination, ()))
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").strip()

    def _end_paragraph(self) -> None:
        """End the open paragraph; its properties hold for the next one."""
        if self._group.destination:
            self._add_text(" ")
            return
        text, marker = self._take_text(""), self._take_text("listtext")
        if self._properties.in_table:
            self._cell += [text] if text else []
        elif text:
            self._write_table()
            level = self._levels.get(self._properties.style, 0) or self._properties.level
            if 0 < level <= _MAX_DEPTH + 1 and len(text) <= LONGEST_HEADING:
                number = f"{marker} " if marker[:1].isdigit() else ""
                self.builder.add_heading(level, number + text)
            elif marker:
                number = f"{marker} " if _NUMBER.fullmatch(marker) else "- "
                self.builder.add_item(self._properties.depth, number + text)
            else:
                self.builder.add_paragraph(text)

    def _end_cell(self) -> None:
        self._cells.append(" ".join(self._cell))
        self._cell = []

    def _end_row(self) -> None:
        if any(self._cells):
            self._rows.append(self._cells)
        self._cells = []

    def _write_table(self) -> None:
        rows, self._rows = self._rows, []
        if rows and max(map(len, rows)) > 1:
            digits = any(char.isdigit() for cell in rows[0] for char in cell)
            self.builder.add_table(rows, header=all(rows[0]) and not digits)
        else:
            for row in rows:
                self.builder.add_paragraph(" ".join(row))


class RtfParser:
    """Parses Rich Text Format."""

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document."""
        body = data.lstrip(b"\xef\xbb\xbf\r\n\t \0")
        if not body.startswith(b"{\\rtf"):
            raise build_refusal("not an RTF file")
        reader = _Reader(body)
        reader.read()
        info = {name: " ".join(text.split()) for name, text in reader.info.items()}
        metadata = Metadata(
            title=info["title"] if any(map(str.isalnum, info.get("title", ""))) else None,
            authors=(info["author"],) if info.get("author") else (),
            tags=list_unique(split_keywords(info.get("keywords", ""))),
        )
        return reader.builder.build(path, metadata)
