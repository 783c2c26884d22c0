"""Reads Org files of Emacs, org-roam and Logseq by their lines.

Lines that no rule names are paragraphs. Drawers, comments and keywords are left out of the blocks.
"""

import re
from collections.abc import Callable, Iterator

from kebab.core.documents import BlockKind, ParsedDocument
from kebab.parse.blocks import MAX_HEADING_LEVEL, Lines, Span, build_line_document
from kebab.parse.encoding import decode
from kebab.parse.metadata import read_metadata
from kebab.text.names import read_file_name

_KEYWORD = re.compile(r"#\+(\w+(?:\[[^\]]*\])?):\s*(.*)", re.IGNORECASE)
_BEGIN = re.compile(r"#\+begin_(\w+)", re.IGNORECASE)
_HEADLINE = re.compile(r"(\*+)\s+(.*)")
_DRAWER = re.compile(r":[\w-]+:\Z")
_PROPERTY = re.compile(r":([\w-]+):\s+(.*)")
_ITEM = re.compile(r"(?:[-+]|\d{1,9}[.)]|[A-Za-z][.)])(?:\s|\Z)")
_RULE = re.compile(r"-{5,}\Z")
_TODO_WORDS = ("TODO", "DONE", "NEXT", "WAITING", "HOLD", "CANCELLED", "CANCELED", "STARTED")
_PRIORITY = re.compile(r"\[#\w{1,2}\]\s*")
_TAGS = re.compile(r"(?<!\s)\s++:([\w@#%:]+):\Z")
_COOKIE = re.compile(r"(?<!\s)\s*+\[\d*(?:/\d*|%)\]")
_LINK = re.compile(r"\[\[([^\[\]]{1,1000})\](?:\[([^\[\]]{1,1000})\])?\]")
_EMPHASIS = re.compile(r"(?<![\w*/=~+])([*/_=~+])(\S(?:[^\n]{0,200}?\S)?)\1(?!\w)")
_ALIAS = re.compile(r'"([^"]+)"|(\S+)')
_SCHEME = re.compile(r"[A-Za-z][\w+.-]*:")
_CODE = frozenset({"src", "example", "verbatim"})


class OrgParser:
    """Parses Org files."""

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document, with its keywords and the tags of its headlines as metadata."""
        decoded = decode(data)
        scanner = OrgScanner(decoded.text)
        spans = list(scanner.scan())
        metadata = read_metadata(scanner.fields)
        tags = tuple(dict.fromkeys((*metadata.tags, *scanner.tags)))
        properties = (*metadata.properties, *scanner.properties)
        metadata = metadata._replace(
            tags=tags, aliases=tuple(scanner.aliases), properties=properties
        )
        if not metadata.title and sum(span.level == 1 for span in spans) > 1:
            # Headlines beside each other are sections; none is the title of all.
            metadata = metadata._replace(title=read_file_name(path))
        links = (*scanner.links, *_find_links(decoded.text))
        return build_line_document(decoded, path, spans, metadata, links)


class OrgScanner:
    """Finds the blocks of an Org file, and what it says of itself; call `scan` once."""

    def __init__(self, text: str) -> None:
        self.fields: dict[str, str] = {}
        self.tags: list[str] = []
        self.aliases: list[str] = []
        self.properties: list[tuple[str, str]] = []
        """The properties of headlines, which stand in drawers."""
        self.links: list[str] = []
        self._lines = Lines(text)
        self._todo_words = set(_TODO_WORDS)
        self._no_drawer_before = 0
        self._readers: dict[str, Callable[[int], Span | None]] = {
            "*": self._read_headline,
            "#": self._read_mark,
            ":": self._read_colon,
            "|": lambda number: Span(BlockKind.TABLE, number, self._find_end(number, "|")),
        }

    def scan(self) -> Iterator[Span]:
        """Yield the blocks that are no paragraphs."""
        number = 0
        while number < self._lines.count:
            bare = self._lines.text[number]
            read = self._readers.get(bare[:1], self._read_list)
            span = read(number) if bare else None
            if span is not None:
                yield span
            number = max(number + 1, span.last if span else 0)

    def _read_headline(self, number: int) -> Span | None:
        """Read a headline; its label has no keyword, priority, tags or counts."""
        match = _HEADLINE.match(self._lines.text[number])
        if match is None or self._lines.indents[number]:
            return self._read_list(number) if match and len(match[1]) == 1 else None
        tags = _TAGS.search(match[2])
        if tags:
            self.tags += [tag for tag in tags[1].split(":") if tag]
        words = _TAGS.sub("", match[2]).strip()
        first, _, rest = words.partition(" ")
        if first in self._todo_words:
            words = rest
        label = to_plain_label(_COOKIE.sub("", _PRIORITY.sub("", words, count=1)))
        level = min(len(match[1]), MAX_HEADING_LEVEL)
        return Span(BlockKind.HEADING, number, number + 1, level, label)

    def _read_mark(self, number: int) -> Span | None:
        """Read a keyword, a block between `#+begin_` and `#+end_`, or a comment."""
        bare = self._lines.text[number]
        begin = _BEGIN.match(bare)
        if begin:
            return self._read_block(number, begin[1].lower())
        keyword = _KEYWORD.match(bare)
        if keyword:
            name = keyword[1].lower()
            value = keyword[2].strip()
            if name in {"todo", "seq_todo", "typ_todo"}:
                self._todo_words.update(
                    word.partition("(")[0] for word in value.split() if word != "|"
                )
            elif name == "include":
                self.links.append(value.partition('" ')[0].strip('"'))
            elif value and name in self.fields:
                self.fields[name] += f"\n{value}"
            elif value:
                self.fields[name] = value
        comment = keyword or bare == "#" or bare.startswith(("# ", "#+"))
        return Span(None, number, number + 1) if comment else None

    def _read_block(self, number: int, name: str) -> Span | None:
        mark = f"#+end_{name}"
        end = self._lines.find_close(number, name, lambda line: line.lower().startswith(mark))
        if end == number:
            return None
        if name in {"comment", "export", "html", "latex"}:
            return Span(None, number, end + 1)
        if name in _CODE:
            return Span(BlockKind.CODE, number, end + 1)
        kind = BlockKind.QUOTE if name in {"quote", "verse"} else BlockKind.PARAGRAPH
        return Span(kind, number, end + 1)

    def _read_colon(self, number: int) -> Span | None:
        """Read a drawer, which is left out, or lines of fixed width."""
        bare = self._lines.text[number]
        if _DRAWER.match(bare) and bare.lower() != ":end:":
            if number < self._no_drawer_before:
                return None
            end = number
            for end in range(number + 1, self._lines.count):
                text = self._lines.text[end]
                if text.lower() == ":end:":
                    return Span(None, number, end + 1)
                if _HEADLINE.match(text):
                    break
                match = _PROPERTY.match(text)
                if match:
                    self.properties.append((match[1].lower(), match[2]))
                if match and match[1].lower() == "roam_aliases":
                    self.aliases += [quoted or word for quoted, word in _ALIAS.findall(match[2])]
            self._no_drawer_before = end
            return None
        if bare == ":" or bare.startswith(": "):
            return Span(BlockKind.CODE, number, self._find_end(number, ":"))
        return None

    def _find_end(self, number: int, mark: str) -> int:
        """Return the line behind the lines that begin with a mark."""
        while number < self._lines.count and self._lines.text[number].startswith(mark):
            number += 1
        return number

    def _read_list(self, number: int) -> Span | None:
        """Read the items of a list; two blank lines or a line that is indented less end it."""
        lines, first, indent = self._lines, number, self._lines.indents[number]
        if _RULE.match(lines.text[number]):
            return Span(None, number, number + 1)
        if not _ITEM.match(lines.text[number]) and not lines.text[number].startswith("* "):
            return None
        end = number
        while number < lines.count:
            line = lines.raw[number].lstrip()
            item = _ITEM.match(line) or (indent > 0 and line.startswith("* "))
            if (
                not (item and lines.indents[number] == indent)
                and number > first
                and lines.indents[number] <= indent
            ):
                break
            end = number + 1
            number = lines.skip_blank(end, lines.count)
            if number > end + 1:
                break
        return Span(BlockKind.LIST, first, end)


def to_plain_label(source: str) -> str:
    """Return a headline on one line without its inline markup."""
    visible = _LINK.sub(lambda link: link[2] or link[1], source[:1000])
    return " ".join(_EMPHASIS.sub(r"\2", visible).split())


def _find_links(text: str) -> Iterator[str]:
    for match in _LINK.finditer(text):
        target = match[1].partition("::")[0]
        local = target.removeprefix("file:")
        if local and not local.startswith(("#", "*", "(")) and not _SCHEME.match(local):
            yield local
