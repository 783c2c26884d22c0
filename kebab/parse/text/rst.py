"""Reads reStructuredText by its lines, as docutils and Sphinx define it.

Nothing is included, run or fetched: a directive is a range of lines, and a role is a word. docutils
itself reads 0.4 MB/s, 0.6 without inline markup: too slow. A test compares the sections of both.
"""

import re
from collections.abc import Iterator
from itertools import islice, takewhile

from kebab.core.documents import BlockKind, ParsedDocument
from kebab.parse.blocks import MAX_HEADING_LEVEL, Lines, Span, build_line_document
from kebab.parse.encoding import decode
from kebab.parse.metadata import read_metadata
from kebab.text.normalize import load_words, split_names
from kebab.text.sentences import measure_width

_MAX_CHARS = 1000
_MARKUP = re.compile(r"[`*_|\\\[]")
_LITERAL = re.compile(r"``(.+?)``")
_ROLE = re.compile(r"(?:(:[\w:+.-]{1,80}:)?)`([^`]+)`(?:_{1,2}|:[\w:+.-]{1,80}:)?")
_STRONG = re.compile(r"(?<![\w*\\])(\*{1,2})(?=\S)([^*]+)(?<=\S)\1(?![\w*])")
_SUBSTITUTION = re.compile(r"\|([^\s|](?:[^|]*[^\s|])?)\|_{0,2}")
_NOTE_REFERENCE = re.compile(r"(?<!\s)\s*+\[[\w#*.-]+\]_")
_REFERENCE = re.compile(r"(?<=[^\W_])_{1,2}(?!\w)")
_ESCAPE = re.compile(r"\\(\s?)(\S?)")
_TARGET = re.compile(r"(?<!\s)\s*+<[^<>]*>\s*\Z")


def to_plain_label(source: str) -> str:
    """Return a title on one line without its inline markup."""
    source = source[:_MAX_CHARS]
    if _MARKUP.search(source):
        literals: list[str] = []
        source = _LITERAL.sub(lambda match: _keep(match[1], literals), source)
        source = _ROLE.sub(lambda match: _keep(_read_role(match), literals), source)
        source = _STRONG.sub(r"\2", _NOTE_REFERENCE.sub("", source))
        source = _REFERENCE.sub("", _SUBSTITUTION.sub(r"\1", source))
        source = _ESCAPE.sub(r"\2", source)
        source = re.sub("\0(\\d+)\0", lambda match: literals[int(match[1])], source)
    return " ".join(source.split())


def _keep(text: str, kept: list[str]) -> str:
    """Return a mark for text that has no further markup."""
    kept.append(text)
    return f"\0{len(kept) - 1}\0"


def _read_role(match: re.Match[str]) -> str:
    text = _TARGET.sub("", match[2]) or match[2].strip(" <>")
    if match[1] and text.startswith("~"):
        return text[1:].rpartition(".")[2]
    return text.lstrip("!") if match[1] else text


_SHORT_RULE = 4
_MAX_HEAD = 12

_RULE = re.compile(r"([!-/:-@[-`{-~])\1*\Z")
_BULLET = re.compile(r"[-*+•\u2023\u2043](?:\s|\Z)")
_ENUMERATOR = re.compile(r"\(?(?:\d{1,9}|[A-Za-z]|[ivxlcdmIVXLCDM]{1,9}|#)[.)](?:\s|\Z)")
FIELD = re.compile(r":(?![: ])((?:[^:\\]|\\.|:(?![ `]|\Z))*)(?<! ):(?:\s+(.*)|\Z)")
_GRID_TABLE = re.compile(r"\+-[-+]+-\+\Z")
_SIMPLE_TABLE = re.compile(r"=+(?: +=+)+\Z")
_MARKED = re.compile(
    rf"\.\.(?:\s|\Z)|>>> |__(?:\s|\Z)|{FIELD.pattern}|{_GRID_TABLE.pattern}|{_SIMPLE_TABLE.pattern}"
    r"|([!-/:-@[-`{-~])\3*\Z"
)
"""What begins another element than a paragraph, a title or a list."""
_TABLE_RULE = re.compile(r"=+(?: +=+)*\Z")

_METADATA = split_names(load_words("rst_names")["fields"])

_DIRECTIVE = re.compile(r"\.\.\s+([A-Za-z0-9](?:[\w:+.-]*[A-Za-z0-9])?) ?::(?:\s+(.*)|\Z)")
_NOTE = re.compile(r"\.\.\s+\[[^\]]+\](?:\s|\Z)")
_FILE_ENTRY = re.compile(r"(?:.*<([^<>]+)>|([^<>]+))\Z")

_OMITTED = split_names(
    "codeauthor contents currentmodule default-domain default-role highlight include index"
    " meta py:currentmodule raw role sectionauthor sectnum tabularcolumns toctree"
)
_CODE = split_names(
    "code code-block console digraph doctest graph graphviz highlightlang ipython"
    " literalinclude math mermaid parsed-literal plantuml productionlist prompt sourcecode"
    " testcleanup testcode testoutput testsetup uml"
)
_TABLE = frozenset({"csv-table", "flat-table", "list-table", "table"})
_FILES = frozenset({"figure", "image", "include", "literalinclude"})
_OBJECTS = split_names(
    "attribute class classmethod cmdoption confval data decorator decoratormethod describe"
    " django-admin envvar event exception fieldlookup function macro member method object"
    " opcode option property rst:directive rst:directive:option rst:role setting staticmethod"
    " struct templatefilter templatetag type var"
)
_DOMAINS = frozenset({"c", "cpp", "http", "js", "py", "std"})


class RstScanner:
    """Collects the blocks, fields and links of a text; call `scan` once.

    Lines are read one after the other at their own indents, so that nothing is nested. Text in no
    span is paragraphs.
    """

    def __init__(self, text: str) -> None:
        self.spans: list[Span] = []
        self.fields: dict[str, str] = {}
        self.links: list[str] = []
        self._lines = Lines(text)
        self._styles: list[str] = []
        self._level = 0
        self._objects: list[tuple[int, int]] = []

    def scan(self) -> None:
        """Read the whole text."""
        number = 0
        while (number := self._lines.skip_blank(number, self._lines.count)) < self._lines.count:
            number = self._read_block(number)

    def _read_block(self, number: int) -> int:
        """Add the block that begins at a line, and return the line behind it."""
        bare = self._lines.text[number]
        if bare == ".." or bare.startswith(".. "):
            return self._read_explicit(number)
        if FIELD.match(bare):
            return self._read_fields(number)
        if self._is_item(number):
            return self._read_items(number)
        if _GRID_TABLE.match(bare) or _SIMPLE_TABLE.match(bare):
            return self._read_table(number)
        return self._read_title(number) or self._read_paragraph(number)

    def _read_paragraph(self, number: int) -> int:
        """Add a paragraph with literal text behind it, or a sample session; a rule is left out."""
        lines, bare, indent = self._lines, self._lines.text[number], self._lines.indents[number]
        blank = lines.find_blank(number, lines.count)
        if bare.startswith(">>> "):
            return self._add(BlockKind.CODE, number, blank)
        is_rule = len(bare) >= _SHORT_RULE and _RULE.match(bare) and blank == number + 1
        if is_rule or bare == "__" or bare.startswith("__ "):
            return self._omit(number, number + 1)
        end = self._add(BlockKind.PARAGRAPH, number, lines.find_dedent(number, blank, indent))
        literal = lines.skip_blank(end, lines.count)
        is_code = lines.text[end - 1].endswith("::") and end < literal < lines.count
        if is_code and lines.indents[literal] > indent:
            return self._add(BlockKind.CODE, literal, self._find_end(literal, indent))
        return end

    def _read_explicit(self, number: int) -> int:
        bare = self._lines.text[number]
        end = self._find_end(number + 1, self._lines.indents[number])
        match = _DIRECTIVE.match(bare)
        if match is not None:
            argument = (match[2] or "").strip()
            return self._read_directive(match[1].lower(), argument, number, end)
        if _NOTE.match(bare):
            return self._add(BlockKind.PARAGRAPH, number, end)
        is_empty = bare == ".." and self._is_blank(number + 1)
        return self._omit(number, number + 1 if is_empty else end)

    def _read_directive(self, name: str, argument: str, number: int, end: int) -> int:
        """Read a directive; its content is read like other text unless it is code or a table."""
        if name in _FILES and argument and "://" not in argument:
            self.links.append(argument)
        if name == "toctree":
            for entry in self._lines.text[number + 1 : end]:
                match = _FILE_ENTRY.match(entry)
                target = (match[1] or match[2]).strip() if match else ""
                if target and not FIELD.match(entry) and target != "self" and "://" not in target:
                    self.links.append(target)
        if name in _OMITTED:
            return self._omit(number, end)
        if name in _CODE or name in _TABLE:
            return self._add(BlockKind.CODE if name in _CODE else BlockKind.TABLE, number, end)
        if _is_object(name, argument):
            indent = self._lines.indents[number]
            while self._objects and self._objects[-1][0] >= indent:
                self._objects.pop()
            level = min(self._level + len(self._objects) + 1, MAX_HEADING_LEVEL)
            self._objects.append((indent, len(self.spans)))
            head = self._lines.find_blank(number + 1, end)
            plain = argument.replace("\\", "").strip()
            if not plain.startswith(("-", "/")):
                plain = plain.partition("(")[0].strip() or plain
            label = " ".join(plain.split())[:120].rstrip()
            self.spans.append(Span(BlockKind.HEADING, number, head, level, label))
            return head
        options = number + 1
        while options < end and FIELD.match(self._lines.text[options]):
            options += 1
        if name in {"container", "ifconfig", "only", "rst-class"} or (name == "class" and argument):
            return self._omit(number, options)
        # The text stays with the name of the directive, such as `note`.
        first = self._lines.skip_blank(options, end)
        is_text = first < end and (
            not (_MARKED.match(self._lines.text[first]) or self._is_item(first))
        )
        content = self._lines.find_blank(first, end) if is_text else options
        return self._add(BlockKind.PARAGRAPH, number, content)

    def _add(self, kind: BlockKind, first: int, last: int) -> int:
        """Add a block that is no heading, and return the line behind it.

        It ends the objects that are not indented less: a heading would cover what follows them, so
        it loses its label.
        """
        while self._objects and self._objects[-1][0] >= self._lines.indents[first]:
            _, index = self._objects.pop()
            self.spans[index] = self.spans[index]._replace(label="")
        self.spans.append(Span(kind, first, last))
        return last

    def _omit(self, first: int, last: int) -> int:
        self.spans.append(Span(None, first, last))
        return last

    def _find_end(self, number: int, indent: int) -> int:
        """Return the first line from a line on that is not indented deeper."""
        return self._lines.find_dedent(number, self._lines.count, indent + 1)

    def _is_blank(self, number: int) -> bool:
        return number >= self._lines.count or not self._lines.text[number]

    def _read_title(self, number: int) -> int:
        """Add the heading that begins at a line, and return the line behind it; 0 if there is none.

        A rule of less than four marks that is shorter than its title is text.
        """
        texts = self._lines.text
        if self._lines.indents[number]:
            return 0
        rule = _RULE.match(texts[number])
        above = rule is not None and texts[number] == "".join(texts[number + 2 : number + 3])
        title = number + 1 if above else number
        if title + 1 >= self._lines.count or not texts[title]:
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

    def _is_item(self, number: int) -> bool:
        """Return whether a line begins a list item, or is a term above its definition."""
        bare, indents = self._lines.text[number], self._lines.indents
        if _BULLET.match(bare) or bare == "|" or bare.startswith("| "):
            return True
        is_last = self._is_blank(number + 1)
        has_body = not is_last and indents[number + 1] > indents[number]
        if _ENUMERATOR.match(bare):  # another line is text that begins with `A.`
            return is_last or has_body or bool(_ENUMERATOR.match(self._lines.text[number + 1]))
        return has_body and not _MARKED.match(bare)

    def _read_items(self, number: int) -> int:
        """Add the list that begins at a line; further lines of its items are indented."""
        first, indent = number, self._lines.indents[number]
        while True:
            end = self._find_end(number + 1, indent)
            number = self._lines.skip_blank(end, self._lines.count)
            is_more = number < self._lines.count and self._lines.indents[number] == indent
            if not is_more or not self._is_item(number):
                return self._add(BlockKind.LIST, first, end)

    def _read_fields(self, number: int) -> int:
        """Add a list of fields; those at the start of the document are its metadata."""
        first, end, fields, texts = number, number, dict[str, str](), self._lines.text
        indent = self._lines.indents[first]
        while number < self._lines.count and self._lines.indents[number] == indent:
            match = FIELD.match(texts[number])
            if match is None:
                break
            end = self._find_end(number + 1, indent)
            lines = (match[2] or "", *texts[number + 1 : end])
            fields[match[1].lower()] = "\n".join(filter(None, lines))
            number = self._lines.skip_blank(end, self._lines.count)
        if not indent and self._is_head():
            self.fields.update(fields)
            if set(fields) <= _METADATA:
                return self._omit(first, end)
        return self._add(BlockKind.LIST, first, end)

    def _is_head(self) -> bool:
        """Return whether the text so far has at most its title."""
        body = [span for span in self.spans[:_MAX_HEAD] if span.kind]
        return len(self.spans) < _MAX_HEAD and (not body or (len(body) == 1 and body[0].level > 0))

    def _read_table(self, number: int) -> int:
        """Add a table; one without a grid has blank lines, and ends with its last rule."""
        lines, indent = self._lines, self._lines.indents[number]
        end = lines.find_blank(number, lines.count)
        if lines.text[number].startswith("="):
            inside = takewhile(
                lambda at: not lines.text[at] or lines.indents[at] >= indent,
                range(number, lines.count),
            )
            rules = [*islice((at + 1 for at in inside if _TABLE_RULE.match(lines.text[at])), 3)]
            if len(rules) > 1:
                end = rules[1] if self._is_blank(rules[1]) else rules[-1]
        return self._add(BlockKind.TABLE, number, end)


def _is_object(name: str, signature: str) -> bool:
    """Return whether a directive describes an object, e.g. a function or an option.

    Without a domain `class` is a style when its argument looks like no name of a class.
    """
    domain, _, base = name.rpartition(":")
    known = name in _OBJECTS or (domain in _DOMAINS and base in _OBJECTS)
    if not known or not signature:
        return False
    return name != "class" or not signature.islower() or "(" in signature or "." in signature


_ROLE_LINK = re.compile(r":(?:doc|download):`(?:[^`<>]{0,400}<)?!?([^`<>\n]{1,400})>?`")
_TEXT_LINK = re.compile(r"`[^`<>]{0,400}<([^`<>\s]{1,400})>`_")
_FOREIGN = re.compile(r"[a-z][a-z0-9+.-]*:|#|//|.*_\Z", re.IGNORECASE)


class RstParser:
    """Parses reStructuredText by its lines."""

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document, with its bibliographic fields as metadata."""
        decoded = decode(data)
        scanner = RstScanner(decoded.text)
        scanner.scan()
        links = (*scanner.links, *_find_inline_links(decoded.text))
        return build_line_document(
            decoded, path, scanner.spans, read_metadata(scanner.fields), links
        )


def _find_inline_links(text: str) -> Iterator[str]:
    if "`" not in text:
        return
    for pattern in (_ROLE_LINK, _TEXT_LINK):
        for match in pattern.finditer(text):
            target = match[1].strip()
            if target and not _FOREIGN.match(target):
                yield target
