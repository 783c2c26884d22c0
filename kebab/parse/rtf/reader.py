"""Reads the tokens of Rich Text Format and tells a writer the paragraphs, cells and rows."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from kebab.parse.rtf.encodings import (
    DEFAULT,
    decode_bytes,
    find_charset_codec,
    find_page_codec,
)
from kebab.parse.rtf.writer import Paragraph, RtfWriter

_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])|([{}])|[\r\n]+"
    rb"|([^\\{}\r\n]+)",
    re.DOTALL,
)
_CHARACTERS = {
    "tab": "\t",
    "line": "\n",
    "softline": "\n",
    "emdash": "\u2014",
    "endash": "\u2013",
    "bullet": "\u2022",
    "lquote": "\u2018",
    "rquote": "\u2019",
    "ldblquote": "\u201c",
    "rdblquote": "\u201d",
    "emspace": " ",
    "enspace": " ",
    "nestcell": " ",
    "nestrow": " ",
}
_SYMBOLS = {b"~": " ", b"_": "-", b"\\": "\\", b"{": "{", b"}": "}", b"\n": "\n", b"\r": "\n"}
_LEFT_OUT = frozenset(
    {
        *("colortbl", "pict", "object", "header", "headerl", "headerr", "headerf", "footer"),
        *("footerl", "footerr", "footerf", "fldinst", "themedata", "listtable", "generator"),
        *("listoverridetable", "rsidtbl", "xmlnstbl", "nonshppict", "ftnsep", "ftnsepc"),
        *("aftnsep", "aftnsepc", "private", "operator", "comment", "doccomm", "pgptbl"),
        *("revtbl", "filetbl", "tc", "xe", "rxe", "datafield", "nonesttables"),
    }
)
_INFO = frozenset({"title", "author", "keywords", "subject"})
_MAX_FONTS = 10_000


@dataclass(slots=True)
class _Group:
    """The state of a group, which ends with it."""

    destination: str = ""
    codec: str = ""
    skipped_after_unicode: int = 1
    hidden: bool = False
    font: int = 0


@dataclass(slots=True)
class _Style:
    """A style of the style sheet."""

    number: int = 0
    level: int = 0
    name: list[str] = field(default_factory=list)


class RtfReader:
    """Reads one text."""

    def __init__(self, data: bytes, writer: RtfWriter) -> None:
        """Prepare to read `data` into a writer."""
        self._data, self._writer = data, writer
        self._group = _Group()
        self._stack: list[_Group] = []
        self._page_codec = DEFAULT
        self._fonts: dict[int, str] = {}
        self._default_font = 0
        self._bytes = bytearray()
        self._skip = 0
        self._style = _Style()
        self._optional = False
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
                self._do_symbol(symbol)
        self._flush()
        self._writer.finish()

    def _do_word(self, word: str, number: int | None) -> int:
        """Do what a control word says; return how many bytes to pass over behind it."""
        if word == "bin":
            return max(0, number or 0)
        optional, self._optional = self._optional, False
        if word == "u":
            self._add_unicode(number or 0)
            return 0
        self._flush()
        self._skip = 0
        if word in _CHARACTERS:
            self._add_text(_CHARACTERS[word])
        elif word in _LEFT_OUT or (optional and word not in self._actions):
            self._group.destination = "none"
        elif word in self._actions:
            self._actions[word](number)
        elif word in _INFO and self._group.destination == "info":
            self._group.destination = word
        return 0

    def _do_symbol(self, symbol: bytes) -> None:
        if symbol == b"*":
            self._optional = True
        elif symbol in _SYMBOLS:
            self._flush()
            if symbol in b"\r\n":
                self._end_paragraph(None)
            else:
                self._add_text(_SYMBOLS[symbol])

    def _list_actions(self) -> dict[str, Callable[[int | None], None]]:
        """Return what control words do."""
        destinations = ("fonttbl", "stylesheet", "info", "footnote", "listtext", "pntext")
        return {
            **{name: self._begin_destination(name) for name in destinations},
            "ansicpg": self._set_page,
            "deff": self._set_default_font,
            "f": self._set_font,
            "fcharset": self._set_charset,
            "uc": self._set_skipped,
            "v": self._set_hidden,
            "deleted": self._set_hidden,
            "plain": self._reset_characters,
            "s": self._set_style,
            "outlinelevel": self._set_level,
            "pard": self._reset_paragraph,
            "intbl": self._enter_table,
            "ilvl": self._set_depth,
            "par": self._end_paragraph,
            "sect": self._end_paragraph,
            "page": self._end_paragraph,
            "cell": lambda _: self._writer.end_cell(),
            "row": lambda _: self._writer.end_row(),
            "shppict": lambda _: None,
        }

    def _begin_destination(self, name: str) -> Callable[[int | None], None]:
        def begin(number: int | None) -> None:
            del number
            if self._group.destination != "none":
                self._group.destination = name
                if name == "footnote":
                    self._writer.begin_note()

        return begin

    def _begin_group(self) -> None:
        self._flush()
        self._skip = 0
        self._stack.append(self._group)
        self._group = replace(self._group)
        self._optional = False

    def _end_group(self) -> None:
        self._flush()
        self._skip = 0
        ended = self._group
        if self._stack:
            self._group = self._stack.pop()
        if ended.destination == "stylesheet" and self._style.name:
            self._writer.add_style(self._style.number, self._style.level, "".join(self._style.name))
            self._style = _Style()
        if ended.destination == "footnote" != self._group.destination:
            self._writer.end_note()

    def _add_bytes(self, data: bytes, *, escaped: bool = False) -> None:
        """Add bytes of text, without those that stand for the last Unicode escape."""
        if self._skip:
            count = 1 if escaped else len(data)
            skipped = min(self._skip, count)
            self._skip -= skipped
            data = data[skipped:] if not escaped else b""
        self._bytes += data

    def _add_unicode(self, number: int) -> None:
        self._flush()
        self._add_text(chr(number & 0xFFFF))
        self._skip = self._group.skipped_after_unicode

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
            self._style.name.append(text)
        elif destination in _INFO:
            self._writer.add_info(destination, text)
        elif destination in {"listtext", "pntext"}:
            self._writer.add_marker(text)
        elif destination in {"", "footnote"} and not self._group.hidden:
            self._writer.add_text(text)

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
            self._fonts[self._group.font] = find_charset_codec(number or 0)

    def _set_skipped(self, number: int | None) -> None:
        self._group.skipped_after_unicode = max(0, min(1 if number is None else number, 8))

    def _set_hidden(self, number: int | None) -> None:
        self._group.hidden = number != 0

    def _reset_characters(self, number: int | None) -> None:
        del number
        self._group.hidden = False
        self._group.codec = self._fonts.get(self._default_font, "")

    def _set_style(self, number: int | None) -> None:
        if self._group.destination == "stylesheet":
            self._style.number = number or 0
        elif not self._group.destination:
            self._writer.paragraph.style = number or 0

    def _set_level(self, number: int | None) -> None:
        if self._group.destination == "stylesheet":
            self._style.level = (number or 0) + 1
        elif not self._group.destination:
            self._writer.paragraph.level = (number or 0) + 1

    def _reset_paragraph(self, number: int | None) -> None:
        del number
        if not self._group.destination:
            text = self._writer.paragraph.text
            self._writer.paragraph = Paragraph(text=text, marker=self._writer.paragraph.marker)

    def _enter_table(self, number: int | None) -> None:
        if not self._group.destination:
            self._writer.paragraph.in_table = number != 0

    def _set_depth(self, number: int | None) -> None:
        if not self._group.destination:
            self._writer.paragraph.depth = max(0, min(number or 0, 8))

    def _end_paragraph(self, number: int | None) -> None:
        del number
        if self._group.destination in {"", "footnote"}:
            self._writer.end_paragraph()
