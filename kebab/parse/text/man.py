"""Reads manual pages in roff as plain text: the macros of `man` and of `mdoc`.

Headings, paragraphs with their tags, and literal lines are kept. Nothing is run and no other file
is opened. Definitions of macros and strings are left out; both branches of conditions are read.
"""

import re

from kebab.core.documents import Metadata, ParsedDocument
from kebab.parse.blocks import TextBuilder
from kebab.parse.encoding import decode
from kebab.text.dates import find_date
from kebab.text.normalize import split_names

_NAMED = "em— en– hy- mi− bu• aq' lq“ rq” oq‘ cq’ ga` ha^ ti~ rs\\ co© de° ->→ <-←"
_CHARACTERS = {one[:2]: one[2:] for one in [*_NAMED.split(), 'dq"']}
_ACCENTS = dict(zip("'`^:~,", "\u0301\u0300\u0302\u0308\u0303\u0327", strict=True))
_ESCAPE = re.compile(
    r"""\\(?:
        [fFmMgYVkn](?:\[[^]\n]{0,99}+\]|\(..|.)          # fonts, colours, registers
      | s[+-]?(?:\[[^]\n]{1,99}+\]|\(..|'[^'\n]{0,99}+'|\d\d?)  # sizes
      | [hvwlLoDxNbSHRXZA]'[^'\n]{0,99}+'                # motions, drawings
      | \*?(?:\[(?P<long>[^]\n]{1,99}+)\]|\((?P<two>..))
      | \*.
      | (?P<one>.)
    )""",
    re.VERBOSE,
)
_ONE = {"-": "-", "e": "\\", "\\": "\\", "E": "\\", " ": " ", "~": "\u00a0", "0": " ", ".": "."}
_COMMENT = re.compile(r"(?<!\\)(?:\\\\)*+\\[\"#].*")
_ARGUMENT = re.compile(r'[ \t]*(?:"((?:[^"]|"")*+)"?|((?:\\.|[^ \t])++))')
_CONDITION = re.compile(r"[.'][ \t]*(?:el|i[fe][ \t]+!?(?:[nto]|[^\s\\]+))[ \t]*")
_TYPESET = re.compile(r"[.'][ \t]*i[fe][ \t]+t[ \t][^{]*\Z")
"""A line for paper only."""
_CONTROL = re.compile(r"[.'][ \t]*(\S*)[ \t]*(.*)", re.DOTALL)
_DEFINITIONS = {"de": "..", "de1": "..", "ig": "..", "am": "..", "PS": ".PE", "EQ": ".EN"}
_HEADINGS = {"SH": 1, "Sh": 1, "SS": 2, "Ss": 2}
_LITERAL = frozenset({"nf", "EX", "Bd", "TS"})
_FILLED = frozenset({"fi", "EE", "Ed", "TE"})
_PARAGRAPHS = split_names("PP P LP HP Pp RS RE sp Bl El SY TP TQ IP It") | _LITERAL | _FILLED
_ALTERNATING = split_names("BR BI RB RI IR IB")
_FONTS = split_names("B I R SM SB OP UR MT")
_CLOSING = frozenset(".,;:)]?!")
_MDOC = re.compile(r"%[A-Z]|[A-Z][a-z0-9]x?")
"""A macro of `mdoc`; its words are text."""


class ManParser:
    """Parses a manual page."""

    version = "man-v3"

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document; its title is the name with its section, such as `tar(1)`."""
        decoded = decode(data, path, self.version)
        page = _Page()
        page.read(decoded.text)
        name = f"{page.name}({page.section})" if page.section else page.name
        return page.builder.build(
            path, Metadata(title=name or None, date=find_date(page.date)), warnings=decoded.warnings
        )


class _Page:
    """Collects the text of a page; `name`, `section` and `date` are of its head."""

    def __init__(self) -> None:
        self.builder = TextBuilder()
        self.name = self.section = self.date = ""
        self._words: list[str] = []
        self._lines: list[str] = []
        self._is_literal = False
        self._tag = ""
        self._wants_tag = False

    def read(self, text: str) -> None:
        """Read all lines of a page."""
        until = ""
        for raw in text.replace("\\\n", "").split("\n"):
            line = _COMMENT.sub("", raw)
            if _TYPESET.match(line):
                continue
            line = _CONDITION.sub("", line, count=1)
            line = line.replace("\\{", "").replace("\\}", "")
            if until:
                until = "" if line.startswith(until) else until
                continue
            control = _CONTROL.match(line)
            if control and control[1] in _DEFINITIONS:
                until = _DEFINITIONS[control[1]]
            elif control and control[1]:
                self._run(control[1], control[2])
            elif control is None and (line or not raw):
                self._add_text(_read_escapes(line))
        self._flush()

    def _run(self, macro: str, rest: str) -> None:
        """Apply a request or a macro; those that no list names have no text."""
        words = [
            _read_escapes(plain or quoted.replace('""', '"'))
            for quoted, plain in _ARGUMENT.findall(rest.rstrip())
        ]
        if macro in {"TH", "Dt"}:
            self.name, self.section, date, *_ = (*words, "", "", "")
            self.name, self.date = self.name.lower(), self.date or date
        elif macro == "Dd":
            self.date = " ".join(words).removeprefix("$Mdocdate: ").removesuffix(" $")
        elif macro in _HEADINGS:
            self._flush()
            self._is_literal = False
            self.builder.add_heading(_HEADINGS[macro], " ".join(words))
        elif macro in _PARAGRAPHS:
            self._flush()
            self._wants_tag = macro in {"TP", "TQ"}
            self._is_literal = macro in _LITERAL or (self._is_literal and macro not in _FILLED)
            self._tag = words[0] if words and macro == "IP" else ""
            self._tag = self._write_mdoc(words) if macro == "It" else self._tag
        elif macro == "br" and self._words:
            self._words[-1] += "\n"
        elif macro in _ALTERNATING and words:
            self._add_text("".join(words))
        elif macro in _FONTS and words:
            self._add_text(" ".join(words))
        elif _MDOC.fullmatch(macro):
            self._add_text(self._write_mdoc([macro, *words]))

    def _add_text(self, text: str) -> None:
        """Add a line of text to the paragraph, or to the lines that stay as they are."""
        if self._wants_tag:
            self._wants_tag, self._tag = False, text.strip()
        elif self._is_literal:
            self._lines.append(text)
        elif not text.strip():
            self._flush()
        else:
            self._words.append(text.strip())

    def _flush(self) -> None:
        text = " ".join(self._words).replace("\n ", "\n")
        self.builder.add_code("\n".join(self._lines))
        self.builder.add_paragraph("\n".join(filter(None, (self._tag, text))))
        self._words, self._lines, self._tag, self._wants_tag = [], [], "", False

    def _write_mdoc(self, words: list[str]) -> str:
        """Return the words of an `mdoc` line without its macros: `Xr cron 8` is `cron(8)`."""
        parts, sign = list[str](), ""
        for number, word in enumerate(words):
            if _MDOC.fullmatch(word):
                sign = {"Fl": "-", "Xr": "("}.get(word, "")
                if word == "Nm" and not set(words[number + 1 :]) - _CLOSING:
                    parts.append(self.name)
            elif parts and (word in _CLOSING or sign == "()"):
                parts[-1] += word if word in _CLOSING else f"({word})"
            else:
                parts.append(sign.strip("()") + word)
                sign = f"{sign})" if sign == "(" else sign
        return " ".join(parts)


def _read_escapes(text: str) -> str:
    return _ESCAPE.sub(_read_escape, text) if "\\" in text else text


def _read_escape(match: re.Match[str]) -> str:
    """Return the character of an escape such as `em`, `'e` and `u00E9`; unknown ones as nothing."""
    name = match["long"] or match["two"]
    if name is None:
        return _ONE.get(match["one"] or "", "")
    if re.fullmatch(r"u[0-9A-F]{4,5}", name) and int(name[1:], 16) not in range(0xD800, 0xE000):
        return chr(int(name[1:], 16))
    if name[0] in _ACCENTS and name[1:].isalpha():
        return name[1:] + _ACCENTS[name[0]]
    return _CHARACTERS.get(name, "")
