"""Reads LaTeX and bibliographies (BibTeX and BibLaTeX) by their lines.

Lines that no rule names are paragraphs. No file is included. The heading of an entry of a
bibliography is its first line, with its title as the label.
"""

import re
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from pathlib import PurePosixPath

from kebab.core.documents import BlockKind, Edit, Metadata, ParsedDocument
from kebab.parse.blocks import MAX_HEADING_LEVEL, Lines, Span, build_line_document
from kebab.parse.encoding import decode
from kebab.parse.metadata import list_unique
from kebab.text.dates import find_date

_MAX_ARGUMENT = 2000
_HIDDEN = re.compile(
    r"\\(?:thanks|footnote|label|index|cite\w*|vspace|hspace)\*?(?:\[[^\[\]]*\])?\{[^{}]*\}"
)
_ACCENT = re.compile(
    r"\\(?:([`'^\"~=.])\s*|([cvuHkr])(?:\s+|(?=\{)))(?:\{\\?([A-Za-z])\}|\\?([A-Za-z]))"
)
_LETTER_NAMES = "ss|ae|AE|oe|OE|aa|AA|o|O|l|L|i|j"
_LETTERS = re.compile(rf"\\({_LETTER_NAMES})(?![A-Za-z])(?:\{{\}})?\s?")
_COMMAND = re.compile(r"\\(?:texorpdfstring\{[^{}]*\}|([A-Za-z]+)\*?(?:\[[^\[\]]*\])?)")
_NAMES = {
    "LaTeX": "LaTeX",
    "TeX": "TeX",
    "lambda": "λ",
    "Lambda": "Λ",
    "dots": "…",
    "ldots": "…",
    "times": "×",
}
_MARKS = dict(
    zip(
        "`'^~\"=.cvuHkr",
        "\u0300\u0301\u0302\u0303\u0308\u0304\u0307\u0327\u030c\u0306\u030b\u0328\u030a",
        strict=True,
    )
)
_SPECIAL = dict(zip(_LETTER_NAMES.split("|"), "ßæÆœŒåÅøØłŁij", strict=True))


def read_argument(text: str, start: int) -> str:
    """Return the text between the braces of an argument, behind one in brackets."""
    position = start
    if text[position : position + 1] == "[":
        closed = text.find("]", position, position + _MAX_ARGUMENT)
        position = closed + 1 if closed >= 0 else position
    opened = text.find("{", position, position + 16)
    if opened < 0 or text[position:opened].strip():
        return ""
    depth = 0
    for end in range(opened, min(len(text), opened + _MAX_ARGUMENT)):
        if text[end] in "{}" and text[end - 1] != "\\":
            depth += 1 if text[end] == "{" else -1
            if not depth:
                return text[opened + 1 : end]
    return text[opened + 1 : opened + _MAX_ARGUMENT].partition("\n\n")[0]


def to_plain_text(source: str) -> str:
    """Return a text on one line without its commands."""
    plain = _HIDDEN.sub("", source)
    plain = (
        re.sub(r"(?<!\\)\$", "", plain).replace("\\\\", " ").replace("\\,", " ").replace("\\ ", " ")
    )
    plain = _LETTERS.sub(lambda match: _SPECIAL[match[1]], plain)
    plain = _ACCENT.sub(lambda one: (one[3] or one[4]) + _MARKS[one[1] or one[2]], plain)
    plain = re.sub(r"\\([&%$#_{}])", r"\1", plain)
    plain = _COMMAND.sub(lambda match: _NAMES.get(match[1] or "") or _find_greek(match[1]), plain)
    plain = re.sub(r"[{}]", "", plain).replace("~", " ").replace("``", '"').replace("''", '"')
    return unicodedata.normalize("NFC", " ".join(plain.split()))


def _find_greek(name: str | None) -> str:
    """Return the letter of a command such as `alpha` and `Delta`; other commands are nothing."""
    size = "SMALL" if name and name.islower() else "CAPITAL"
    with suppress(KeyError):
        return unicodedata.lookup(f"GREEK {size} LETTER {name}")
    return ""


_SEEN = re.compile(
    rf"(?P<brace>\{{)?(?:{_ACCENT.pattern}|{_LETTERS.pattern})(?(brace)\}})"
    r"|\\[&%$#_{}]|\\-|(?<!\S)%[^\n]*|(?<!\\)%$",
    re.MULTILINE,
)
"""What a reader sees otherwise: accents, letters, signs behind a backslash, and comments."""


def find_edits(text: str, start: int, end: int, pattern: re.Pattern[str] = _SEEN) -> Iterator[Edit]:
    """Yield what a reader sees instead of the parts of prose that a pattern finds."""
    for match in pattern.finditer(text, start, end):
        source = match[0]
        is_nothing = source.startswith("%") or source == "\\-"
        seen = source[1:] if source[1:] in "&%$#_{}" else to_plain_text(source)
        yield Edit(*match.span(), "" if is_nothing else seen)


_SECTION = re.compile(
    r"\\(part|chapter|section|subsection|subsubsection|paragraph|subparagraph|frametitle)\b\*?"
)
_RANKS = ("part", "chapter", "section", "subsection", "subsubsection", "paragraph", "subparagraph")
_FRAME = re.compile(r"\\begin\{frame\}(?:<[^>]*>)?(?:\[[^\]]*\])?\s*(?=\{)")
_BEGIN = re.compile(r"\\begin\{([A-Za-z]+)\*?\}")
_LAYOUT = re.compile(
    r"(?:\\(?:maketitle|tableofcontents|listoffigures|listoftables|newpage|clearpage|pagebreak"
    r"|centering|appendix|frontmatter|mainmatter|backmatter|noindent|bigskip|medskip|smallskip"
    r"|printbibliography|titlepage|frame)\b\s*"
    r"|\\(?:label|vspace|hspace|pagestyle|thispagestyle|bibliographystyle|usepackage|setcounter"
    r"|begin|end)\*?(?:\[[^\]]*\])?\{[^{}]*\}(?:\{[^{}]*\})?\s*)+\Z"
)
_LINK = re.compile(
    r"\\(?:input|include|subfile|includegraphics|bibliography|addbibresource)\*?"
    r"(?:\[[^\]]{0,400}\])?\{([^{}\n]{1,400})\}"
)
_PROPERTY = re.compile(r"\\(title|author|date)\b\*?(?:\[[^\]]{0,400}\])?\s*(?=\{)")
_DOCUMENT = "\\begin{document}"
_END = "\\end{document}"
_KINDS = {
    **dict.fromkeys(("verbatim", "Verbatim", "lstlisting", "minted", "alltt"), BlockKind.CODE),
    **dict.fromkeys(("equation", "align", "gather", "multline", "math"), BlockKind.CODE),
    **dict.fromkeys(("tabular", "tabularx", "longtable", "table", "tabulary"), BlockKind.TABLE),
    **dict.fromkeys(("itemize", "enumerate", "description"), BlockKind.LIST),
    **dict.fromkeys(("quote", "quotation", "verse"), BlockKind.QUOTE),
    **dict.fromkeys(("comment", "tikzpicture", "filecontents"), None),
}
_ABSTRACT_RANK = _RANKS.index("section") + 1


class LatexParser:
    """Parses LaTeX."""

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document, with the title, authors and date of its preamble."""
        decoded = decode(data)
        text = decoded.text
        spans = list(_find_spans(text))
        # Levels from 1 without gaps instead of ranks.
        ranks = sorted({span.level for span in spans if span.level})
        levels = {rank: min(level, MAX_HEADING_LEVEL) for level, rank in enumerate(ranks, 1)}
        spans = [span._replace(level=levels.get(span.level, 0)) for span in spans]
        links = (match[1].strip() for match in _LINK.finditer(text))
        return build_line_document(decoded, path, spans, _read_metadata(text), links, find_edits)


def _read_metadata(text: str) -> Metadata:
    found: dict[str, str] = {}
    for match in _PROPERTY.finditer(text, 0, 1_000_000):
        if match[1] not in found:
            found[match[1]] = read_argument(text, match.end())
    authors = re.split(r"\\and\b", found.get("author", ""))
    names = [to_plain_text(author.partition("\\\\")[0]) for author in authors]
    return Metadata(
        title=to_plain_text(found.get("title", "")) or None,
        authors=list_unique(names),
        date=find_date(found.get("date", "")),
    )


def _find_spans(text: str) -> Iterator[Span]:
    """Yield the blocks that are no paragraphs; the level of a heading is its rank."""
    lines = Lines(text)
    begins = (number for number, line in enumerate(lines.text) if line.startswith(_DOCUMENT))
    ends = (number for number, line in enumerate(lines.text) if line.startswith(_END))
    first, last = next(begins, -1) + 1, next(ends, lines.count)
    if first:
        yield Span(None, 0, first)
    number = first
    while number < last:
        span = _read_block(lines, number, last) if lines.text[number] else None
        if span is not None:
            yield span
        number = max(number + 1, span.last if span else 0)
    if last < lines.count:
        yield Span(None, last, lines.count)


def _read_block(lines: Lines, number: int, last: int) -> Span | None:
    """Return the block that begins at a line, None for a paragraph."""
    bare = lines.text[number]
    if bare.startswith("%"):
        return Span(None, number, number + 1)
    if not bare.startswith("\\"):
        return None
    heading = _read_heading(lines, number, last)
    if heading is not None:
        return heading
    begin = _BEGIN.match(bare)
    if begin and begin[1] == "abstract":
        return Span(BlockKind.HEADING, number, number + 1, _ABSTRACT_RANK, "Abstract")
    if begin and begin[1] in _KINDS and begin[1] not in lines.never_closed:
        environment = _read_environment(lines, number, last, begin[1])
        if environment is not None:
            return environment
    return Span(None, number, number + 1) if _LAYOUT.match(bare) else None


def _read_environment(lines: Lines, number: int, last: int, name: str) -> Span | None:
    """Return an environment up to its end; environments of its own name may be inside."""
    opening, closing, depth = f"\\begin{{{name}", f"\\end{{{name}", 0
    for end in range(number, last):
        depth += lines.text[end].count(opening) - lines.text[end].count(closing)
        if depth <= 0:
            return Span(_KINDS[name], number, end + 1)
    lines.never_closed.add(name)
    return None


def _read_heading(lines: Lines, number: int, last: int) -> Span | None:
    """Return the heading of a command for a section or a slide; its level is its rank."""
    bare = lines.text[number]
    match = _SECTION.match(bare) or _FRAME.match(bare)
    if match is None:
        return None
    name = match[1] if match.re is _SECTION else "frametitle"
    rank = _RANKS.index(name) + 1 if name in _RANKS else len(_RANKS)
    source = "\n".join(lines.text[number : min(number + 8, last)])
    argument = read_argument(source, match.end())
    end = number + 1 + source[: match.end() + len(argument)].count("\n")
    return Span(BlockKind.HEADING, number, end, rank, to_plain_text(argument))


_ENTRY = re.compile(r"^[ \t]*@[ \t]*([A-Za-z]+)\s*[{(][ \t]*([^\s,={}\"]*)", re.MULTILINE)
_TITLE = re.compile(r"\btitle\s*=\s*(?=[{\"])", re.IGNORECASE)
_QUOTED = re.compile(r'"((?:[^"{}]|\{[^{}]*\})*)"')
_NOT_SHOWN = re.compile(rf"{_SEEN.pattern}|[{{}}]", re.MULTILINE)
_MAX_ENTRY = 20_000
"""How much of an entry is searched for its title."""


class BibtexParser:
    """Parses a bibliography."""

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document; its title is the name of the file."""
        decoded = decode(data)
        metadata = Metadata(title=PurePosixPath(path).name)
        spans = _find_entries(decoded.text)

        def find(text: str, start: int, end: int) -> Iterator[Edit]:
            # Below the first line of an entry its braces are not shown either.
            return find_edits(text, start, end, _SEEN if text[start] == "@" else _NOT_SHOWN)

        return build_line_document(decoded, path, spans, metadata, (), find)


def _find_entries(text: str) -> Iterator[Span]:
    """Yield the first line of each entry as a heading, and the lines of comments.

    An entry ends where the next begins, so one without end costs itself only.
    """
    found = list(_ENTRY.finditer(text))
    line = offset = 0
    ends = [*(one.start() for one in found[1:]), len(text)]
    for match, end in zip(found, ends, strict=False):  # a text without entries has an end too
        line += text.count("\n", offset, match.start())
        offset = match.start()
        kind = match[1].lower()
        if kind in {"comment", "preamble"}:
            yield Span(None, line, line + text[offset:end].rstrip().count("\n") + 1)
        elif kind != "string":
            title = _TITLE.search(text, match.end(), min(end, match.end() + _MAX_ENTRY))
            start = title.end() if title else end
            quoted = _QUOTED.match(text, start, end)
            label = quoted[1] if quoted else read_argument(text, start) if title else ""
            shown = to_plain_text(label) or match[2] or kind
            yield Span(BlockKind.HEADING, line, line + 1, 1, shown)
