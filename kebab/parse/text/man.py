"""Reads manual pages in roff: the macros of `man` and of `mdoc`, also compressed with gzip.

The text is what `nroff` shows without its layout. Nothing is run and no other file is opened;
definitions of macros, and drawings, are left out.
"""

import re
import zlib
from collections.abc import Callable, Iterator

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

    version = "man-v1"

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
        self._in_synopsis = False
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
                self.add_text(self._expand(line))
        self._flush()

    def _run(self, macro: str, rest: str) -> None:
        """Apply a request or a macro; an unknown one has no text."""
        if macro in {"ds", "as"}:
            name, _, value = rest.partition(" ")
            text = self._expand(value.lstrip().removeprefix('"'))
            # A string that repeats others could grow without bound.
            self._strings[name] = text if len(text) <= _MAX_STRING else ""
            return
        words = _ARGUMENT.findall(rest.rstrip())
        arguments = [self._expand(plain or quoted.replace('""', '"')) for quoted, plain in words]
        handler = _HANDLERS.get(macro)
        if handler is not None:
            handler(self, arguments)
        elif macro in _FONTS:
            glue = "" if macro in _ALTERNATING else " "
            self.add_text(glue.join(arguments)) if arguments else None
        elif macro in _INLINE or macro in _ENCLOSURES:
            self.add_text(self._write_mdoc([macro, *arguments]))

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

    def add_text(self, text: str) -> None:
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
        if self._lines:
            self.builder.add_code("\n".join(self._lines))
        if self._tag:
            text = f"{self._tag}\n{text}" if text else self._tag
        self.builder.add_paragraph(text)
        self._words, self._lines, self._tag, self._wants_tag = [], [], "", False

    def set_literal(self, *, is_literal: bool) -> None:
        self._flush()
        self._is_literal = is_literal

    def set_head(self, arguments: list[str]) -> None:
        name, section, date, *_ = (*arguments, "", "", "")
        self.name, self.section, self.date = name.lower(), section, self.date or date

    def set_date(self, arguments: list[str]) -> None:
        text = " ".join(arguments)
        self.date = text.removeprefix("$Mdocdate: ").removesuffix(" $")

    def add_heading(self, level: int, arguments: list[str]) -> None:
        self.set_literal(is_literal=False)
        self._in_synopsis = arguments[:1] == ["SYNOPSIS"]
        self.builder.add_heading(level, " ".join(arguments))

    def begin_paragraph(self, *, wants_tag: bool = False) -> None:
        self._flush()
        self._wants_tag = wants_tag

    def begin_item(self, arguments: list[str]) -> None:
        """Begin an item of `man`, whose first argument is its tag."""
        self._flush()
        self._tag = arguments[0] if arguments else ""

    def begin_list_item(self, arguments: list[str]) -> None:
        """Begin an item of an `mdoc` list, all of whose arguments are its tag."""
        self._flush()
        self._tag = self._write_mdoc(arguments)

    def break_line(self) -> None:
        if self._words:
            self._words[-1] += "\n"

    def add_link(self, arguments: list[str]) -> None:
        if arguments:
            self.add_text(f"<{arguments[0]}>")

    def add_name(self, arguments: list[str]) -> None:
        """Add the command, which the first `Nm` names; in a synopsis it begins a line."""
        if self._in_synopsis:
            self.break_line()
        self._command = self._command or (arguments[0] if arguments else "")
        self.add_text(self._write_mdoc(["Nm", *arguments]))

    def _write_mdoc(self, arguments: list[str]) -> str:
        """Return the text of the macros and words of an `mdoc` line."""
        text, closers, prefix, is_glued = "", "", "", True
        waits = ""  # a macro that has not got its first word
        last = len(arguments)
        while last and arguments[last - 1] in _CLOSING:
            last -= 1
        for word in arguments[:last]:
            if word in _ENCLOSURES:
                opener, closer = _ENCLOSURES[word]
                ends = opener in _CLOSING_MARKS
                text += ("" if is_glued or ends else " ") + opener
                closers, is_glued, prefix, waits = closer + closers, not ends, "", ""
            elif word in _INLINE:
                text += _finish(waits, self._command, is_glued=is_glued)
                is_glued = is_glued if not waits else False
                prefix, waits = _INLINE[word], word
                if word == "Nd":
                    text, is_glued, waits = f"{text} -".lstrip(), False, ""
                elif word in {"Ns", "Ap"}:
                    text, is_glued, waits = text + ("'" if word == "Ap" else ""), True, ""
            elif word in _CLOSING:
                text += _finish(waits, self._command, is_glued=is_glued) + word
                is_glued, waits, prefix = False, "", ""
            elif waits == "" and prefix == "Xr":
                text, prefix = f"{text}({word})", ""
            else:
                mark = "" if prefix == "Xr" else prefix
                text += ("" if is_glued else " ") + mark + word
                is_glued, waits = word in _OPENING, ""
        return (
            text
            + _finish(waits, self._command, is_glued=is_glued)
            + closers
            + "".join(arguments[last:])
        )


def _finish(macro: str, command: str, *, is_glued: bool) -> str:
    """Return what a macro without words stands for."""
    meaning = {"Nm": command, "Ar": "file ...", "Fl": "-", "Pa": "~", "Ux": "UNIX"}.get(macro, "")
    return ("" if is_glued or not meaning else " ") + meaning


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
_ALTERNATING = frozenset(split_names("BR BI RB RI IR IB"))
_FONTS = _ALTERNATING | split_names("B I R SM SB")
_CLOSING = frozenset(".,;:)]?!")
_OPENING = frozenset("([")
_CLOSING_MARKS = frozenset("])”")
_INLINE = {
    **dict.fromkeys(split_names("Nm Ar Cm Pa Ev Va Vt Fa Ft Li Em Sy No Ns Ap An Er Dv Ic Tn"), ""),
    **dict.fromkeys(
        split_names("Ux Bx At St Lk Mt Nd Fn Fo In Cd Sx Ql Bsx Fx Nx Ox Dx Lb Ms Ad Ta"), ""
    ),
    **dict.fromkeys(split_names("%A %B %D %I %J %N %O %P %Q %R %T %U %V"), ""),
    "Fl": "-",
    "Xr": "Xr",
}
"""The macros of `mdoc` whose words are text, with what stands before each word."""
_ENCLOSURES = {
    **dict.fromkeys(("Op", "Bq"), ("[", "]")),
    "Pq": ("(", ")"),
    "Brq": ("{", "}"),
    "Aq": ("<", ">"),
    "Dq": ("“", "”"),
    "Sq": ("‘", "’"),
    "Qq": ('"', '"'),
    "Oo": ("[", ""),
    "Oc": ("]", ""),
    "Po": ("(", ""),
    "Pc": (")", ""),
    "Do": ("“", ""),
    "Dc": ("”", ""),
    **dict.fromkeys(("D1", "Dl"), ("", "")),
}
"""The macros of `mdoc` that stand for marks around the rest of a line; some only open or close."""
_HANDLERS: dict[str, Callable[[_Page, list[str]], None]] = {
    **dict.fromkeys(("TH", "Dt"), _Page.set_head),
    "Dd": _Page.set_date,
    **dict.fromkeys(("SH", "Sh"), lambda page, arguments: page.add_heading(1, arguments)),
    **dict.fromkeys(("SS", "Ss"), lambda page, arguments: page.add_heading(2, arguments)),
    **dict.fromkeys(("TP", "TQ"), lambda page, _: page.begin_paragraph(wants_tag=True)),
    "IP": _Page.begin_item,
    "It": _Page.begin_list_item,
    "Nm": _Page.add_name,
    "br": lambda page, _: page.break_line(),
    **dict.fromkeys(("UR", "MT"), _Page.add_link),
    "OP": lambda page, words: page.add_text(f"[{' '.join(words)}]"),
    **dict.fromkeys(("nf", "EX", "Bd", "TS"), lambda page, _: page.set_literal(is_literal=True)),
    **dict.fromkeys(("fi", "EE", "Ed", "TE"), lambda page, _: page.set_literal(is_literal=False)),
    **dict.fromkeys(
        split_names("PP P LP HP Pp RS RE sp Bl El SY"), lambda page, _: page.begin_paragraph()
    ),
}
