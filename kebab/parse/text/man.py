"""Reads manual pages in roff: the macros of `man` and of `mdoc`, also compressed with gzip.

The text is about what `nroff` shows: headings, paragraphs with their tags, literal lines. Nothing
is run and no other file is opened; definitions of macros, and drawings, are left out.
"""

import re
import zlib
from collections.abc import Iterator

from kebab.core.documents import Metadata, ParsedDocument
from kebab.errors.catalog import ParseFailed
from kebab.parse.blocks import TextBuilder
from kebab.parse.encoding import decode
from kebab.text.dates import find_date
from kebab.text.normalize import split_names

_GZIP_MAGIC = b"\x1f\x8b"
_MAX_BYTES = 64_000_000
"""The longest text that a compressed page may have; the longest of Debian has 2 MB."""

_NAMED = (
    "em— en– hy- mi− bu• aq' lq“ rq” oq‘ cq’ ga` aa´ ha^ ti~ rs\\ at@ sh# Do$ co© rg® tm™ de° sc§"
    " mu× di÷ +-± <=≤ >=≥ !=≠ ->→ <-← ua↑ da↓ ssß *aα *bβ *pπ *mμ *lλ if∞ Eu€ Po£ lB[ rB] lC{ rC}"
    ' ba| bv| sl/ ul_ Fo« Fc» 12½ 14¼ 34¾ oeœ aeæ AEÆ /oø /OØ oAÅ oaå dq"'
)
_CHARACTERS = {one[:2]: one[2:] for one in _NAMED.split()}
_ACCENTS = {
    "'": "\u0301",
    "`": "\u0300",
    "^": "\u0302",
    ":": "\u0308",
    "~": "\u0303",
    ",": "\u0327",
}
_STRINGS = {"lq": "“", "rq": "”", "R": "®", "Tm": "™", "Lt": "<", "Gt": ">", "Ba": "|", "Am": "&"}
_ESCAPE = re.compile(
    r"""\\(?:
        [fFmMgYVkn](?:\[[^]\n]{0,99}+\]|\(..|.)          # fonts, colours, registers
      | s[+-]?(?:\[[^]\n]{1,99}+\]|\(..|'[^'\n]{0,99}+'|\d\d?)  # sizes
      | [hvwlLoDxNbSHRXZA]'[^'\n]{0,99}+'                # motions, drawings
      | \*(?:\[(?P<s3>[^]\n]{1,99}+)\]|\((?P<s2>..)|(?P<s1>.))
      | (?:\[(?P<c3>[^]\n]{1,99}+)\]|\((?P<c2>..)|C'(?P<c1>[^'\n]{0,99}+)')
      | (?P<one>.)
    )""",
    re.VERBOSE,
)
_ONE = {"-": "-", "e": "\\", "\\": "\\", "E": "\\", " ": " ", "~": "\u00a0", "0": " ", ".": "."}
_COMMENT = re.compile(r"(?<!\\)(?:\\\\)*+\\[\"#].*")
_ARGUMENT = re.compile(r'[ \t]*(?:"((?:[^"]|"")*+)"?|((?:\\.|[^ \t])++))')
_CONTROL = re.compile(r"[.'][ \t]*(\S*)[ \t]*(.*)", re.DOTALL)
_CONDITION = re.compile(r"\s*(!?)(n|t|o|e|[^\s\\]+)\s*(.*)", re.DOTALL)


class ManParser:
    """Parses a manual page."""

    version = "man-v2"

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document; its title is the name with its section, such as `tar(1)`.

        Raises:
            ParseFailed: The file is no text, or expands beyond the limit.
        """
        decoded = decode(self._expand(data, path), path, self.version)
        page = _Page()
        page.read(decoded.text)
        name = f"{page.name}({page.section})" if page.section else page.name
        return page.builder.build(
            path, Metadata(title=name or None, date=find_date(page.date)), warnings=decoded.warnings
        )

    def _expand(self, data: bytes, path: str) -> bytes:
        if not data.startswith(_GZIP_MAGIC):
            return data
        unpacker = zlib.decompressobj(wbits=31)
        try:
            text = unpacker.decompress(data, _MAX_BYTES)
        except zlib.error as fault:
            cause = f"damaged: it cannot be unpacked: {fault}"
            raise ParseFailed(path=path, parser=self.version, cause=cause) from fault
        if not unpacker.eof:
            is_long = len(text) >= _MAX_BYTES
            cause = f"expands to more than {_MAX_BYTES:,} bytes" if is_long else "damaged: cut off"
            raise ParseFailed(path=path, parser=self.version, cause=cause)
        return text


class _Page:
    """Collects the text of a page; `name`, `section` and `date` are of its head."""

    def __init__(self) -> None:
        self.builder = TextBuilder()
        self.name = self.section = self.date = ""
        self._strings = dict(_STRINGS)
        self._words: list[str] = []
        self._lines: list[str] = []
        self._is_literal = False
        self._tag = ""
        self._wants_tag = False
        self._command = ""

    def read(self, text: str) -> None:
        """Read all lines of a page."""
        for line in _strip_conditions(text):
            control = _CONTROL.match(line)
            if control and control[1]:
                self._run(control[1], control[2])
            elif control is None:
                self._add_text(self._expand(line))
        self._flush()

    def _run(self, macro: str, rest: str) -> None:
        """Apply a request or a macro; those that no list names have no text."""
        words = [
            self._expand(plain or quoted.replace('""', '"'))
            for quoted, plain in _ARGUMENT.findall(rest.rstrip())
        ]
        if macro == "ds" and words:
            # A string that repeats others could grow without bound.
            text = " ".join(words[1:])
            self._strings[words[0]] = text if len(text) <= _MAX_STRING else ""
        elif macro in {"TH", "Dt"}:
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

    def _expand(self, text: str) -> str:
        """Return a text without escapes."""
        return _ESCAPE.sub(self._replace, text) if "\\" in text else text

    def _replace(self, match: re.Match[str]) -> str:
        string = match["s1"] or match["s2"] or match["s3"]
        if string is not None:
            return self._strings.get(string, "")
        name = match["c1"] or match["c2"] or match["c3"]
        if name is not None:
            return _read_character(name)
        return _ONE.get(match["one"] or "", "")

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
        """End the paragraph."""
        text = " ".join(self._words).replace("\n ", "\n")
        self.builder.add_code("\n".join(self._lines))
        self.builder.add_paragraph("\n".join(filter(None, (self._tag, text))))
        self._words, self._lines, self._tag, self._wants_tag = [], [], "", False

    def _write_mdoc(self, words: list[str]) -> str:
        """Return the words of an `mdoc` line, without its macros but with the marks they set."""
        parts, closers, sign = list[str](), "", ""
        end = len(words)
        while end and words[end - 1] in _CLOSING:
            end -= 1
        for word in words[:end]:
            if word in _ENCLOSURES:
                opener, closer = _ENCLOSURES[word]
                parts.append(opener)
                closers = closer + closers
            elif _MDOC.fullmatch(word):
                sign = {"Fl": "-", "Xr": "("}.get(word, "")
                parts += {"Nd": ["-"], "Ns": ["\b"]}.get(word, [])
                parts += [self._command] if word == "Nm" and word == words[end - 1] else []
            elif word in _CLOSING:
                parts.append(f"\b{word}")
            elif sign == "(":
                parts.append(word)
                sign = "()"
            else:
                parts.append(f"\b({word})" if sign == "()" else sign.strip("()") + word)
        if words[0] == "Nm" and not self._command:
            self._command = "".join(words[1:2])
        return _GLUED.sub("", " ".join(parts)) + closers + "".join(words[end:])


def _read_character(name: str) -> str:
    """Return the character of an escape such as `em`, `'e` and `u00E9`; unknown ones as written."""
    if re.fullmatch(r"u[0-9A-F]{4,5}", name) and int(name[1:], 16) not in range(0xD800, 0xE000):
        return chr(int(name[1:], 16))
    if len(name) == 2 and name[0] in _ACCENTS and name[1].isalpha():  # noqa: PLR2004
        return name[1] + _ACCENTS[name[0]]
    return _CHARACTERS.get(name, name if name.isascii() and len(name) == 1 else "")


def _strip_conditions(text: str) -> Iterator[str]:
    """Yield the lines that a terminal shows, without comments and definitions of macros."""
    until, skipped = "", 0
    last = True
    for raw in text.replace("\\\n", "").split("\n"):
        line = _COMMENT.sub("", raw)
        if until:
            until = "" if re.match(rf"[.']\s*{re.escape(until)}(?:\s|$)", line) else until
            continue
        if skipped:
            skipped = max(skipped + line.count("\\{") - line.count("\\}"), 0)
            continue
        control = _CONTROL.match(line)
        macro = control[1] if control else ""
        if macro in {"de", "de1", "ig", "am", "PS", "EQ"}:
            ends = {"PS": "PE", "EQ": "EN"}
            until = ends.get(macro) or (control[2].split()[1:2] or ["."])[0] if control else "."
        elif macro in {"if", "ie", "el"} and control:
            shown, rest = (not last, control[2]) if macro == "el" else _judge(control[2])
            last = shown if macro == "ie" else last
            skipped = 0 if shown else max(rest.count("\\{") - rest.count("\\}"), 0)
            if shown and (body := rest.replace("\\{", "").strip()):
                yield body
        else:
            yield line.replace("\\}", "").replace("\\{", "")


def _judge(text: str) -> tuple[bool, str]:
    """Return whether a condition holds on a terminal, as far as it is known, and what follows."""
    match = _CONDITION.match(text)
    if match is None:
        return False, text
    holds = match[2] in {"n", "o"}
    return holds != bool(match[1]), match[3]


_MAX_STRING = 200
_HEADINGS = {"SH": 1, "Sh": 1, "SS": 2, "Ss": 2}
_LITERAL = frozenset({"nf", "EX", "Bd", "TS"})
_FILLED = frozenset({"fi", "EE", "Ed", "TE"})
_PARAGRAPHS = split_names("PP P LP HP Pp RS RE sp Bl El SY TP TQ IP It") | _LITERAL | _FILLED
_ALTERNATING = frozenset(split_names("BR BI RB RI IR IB"))
_FONTS = split_names("B I R SM SB OP UR MT")
_CLOSING = frozenset(".,;:)]?!")
_MDOC = re.compile(r"%[A-Z]|[A-Z][a-z0-9]x?")
"""A macro of `mdoc`; its words are text."""
_GLUED = re.compile(r" ?\x08 ?(?=[.,;:)\]?!(])|(?<=[\[({<“‘]) | ?\x08 ?")
_ENCLOSURES = {
    **dict.fromkeys(("Op", "Bq"), ("[", "]")),
    "Pq": ("(", ")"),
    "Brq": ("{", "}"),
    "Aq": ("<", ">"),
    "Dq": ("“", "”"),
    "Sq": ("‘", "’"),
    "Qq": ('"', '"'),
    "Oo": ("[", ""),
    "Oc": ("\b]", ""),
}
"""The macros of `mdoc` that stand for marks around the rest of a line; some only open or close."""
