"""Reads Markdown: CommonMark with tables, front matter, and what Obsidian and its kin add.

The library yields events in the order of the source, with ranges of bytes. One walk over them finds
everything, in linear time. Lines that are not text for a reader are left out.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from kebab.core.documents import Block, BlockKind, Edit, ParsedDocument
from kebab.core.files import get_suffix
from kebab.parse.blocks import (
    BLOBS,
    Span,
    build_blocks,
    describe_left_out,
    exclude_lines,
    find_blob_lines,
    group_lines,
    hide_lines,
    join_edits,
    list_omissions,
)
from kebab.parse.encoding import (
    decode,
    find_html_edits,
    find_markdown_escapes,
    find_string_escapes,
)
from kebab.parse.metadata import (
    choose_title,
    merge_metadata,
    read_front_matter,
    read_inline_metadata,
)
from kebab.parse.text.markdown_noise import (
    TABLE_RULE,
    find_noise_lines,
    has_visible_text,
    read_events,
    translate_panics,
)
from kebab.text.language import detect_document_language
from kebab.text.names import has_export_id

_ATTRIBUTES = re.compile(r"(?<!\s)\s*+\{[#.:][^{}]*\}\s*$")
_SHORTCODE = re.compile(r"\{\{[<%]([^{}]*)[%>]\}\}")
_SHORTCODE_NAME = re.compile(r"\w*\s*")
_DESTINATION = re.compile(r"\(([^()\s]*+)[^()]*+\)")
_PIPE = re.compile(r"(?<!\\)\|")
_URL_END = re.compile("[?#]")
_WIKI_LINK = re.compile(r"\[\[([^\[\]|\n]+)(?:\|[^\[\]\n]*)?\]\]")
_INLINE_LINK = re.compile(r"\[[^\[\]\n]*\]\(([^()\s]+)\)")
_ANCHOR = re.compile(r"<a\s[^<>]{0,500}?\bhref\s*=\s*([\"'])([^\"'<>]*)\1", re.IGNORECASE)
_TITLE_FIRST = re.compile(r"(?:---|\+\+\+)[ \t]*\ntitle[ \t]*[:=][ \t]*[^\s>|]", re.IGNORECASE)
"""A title on the first line of front matter; every passage has it anyway."""

_match_definition = re.compile(r"\[[^\[\]]+\]:\s*\S").match
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:|//")
_GLUED_TAG = re.compile(r"<!--|</?(?:sub|sup|wbr)\b", re.IGNORECASE)
"""Comments, and tags within a word, such as those of `H<sub>2</sub>O`."""

_TAG = re.compile(r"#(?<!\S#)([\d/_-]*[^\W\d_][\w/-]*)")
_ESCAPED = re.compile(r"&#?\w{1,32};|\\[!-/:-@\[-`{}~]")
_COMMENT_MARK = re.compile(rb"(?<!%)%%(?!%)")
_COLOUR = re.compile(r"(?=\D*\d)(?:[0-9a-f]{3}|[0-9a-f]{6}|[0-9a-f]{8})", re.IGNORECASE)
_EMPHASIS = {"Emphasis": 1, "Strong": 2}
"""The sizes of the marks of emphasis."""

_KINDS = {
    "Heading": BlockKind.HEADING,
    "List": BlockKind.LIST,
    "Table": BlockKind.TABLE,
    "CodeBlock": BlockKind.CODE,
    "BlockQuote": BlockKind.QUOTE,
    "HtmlBlock": BlockKind.HTML,
}


class Body(NamedTuple):
    """The structure of a body.

    `text` is the body, of the same length, with blanks for lines that are no text for a reader;
    those of encoded data are `blobs`. `spans` are its top-level blocks; link definitions are none.
    `links` are the targets of its links to other files, and `tags` its inline tags without `#`.
    `edits` say what a reader sees instead of character references, escapes and comments.
    """

    spans: list[Span]
    links: list[str]
    tags: list[str]
    edits: list[Edit]
    text: str = ""
    blobs: frozenset[int] = frozenset()


def read_body(body: str) -> Body:
    """Return the structure of a body, which has no front matter.

    Raises:
        RuntimeError: The library failed.
    """
    with translate_panics():
        return _Walk(body).read(read_events(body))


class _Walk:
    def __init__(self, body: str) -> None:
        self._spans: list[Span] = []
        self._links: list[str] = []
        self._source = body.encode()
        self._line = self._offset = 0
        self._label: list[str] | None = None
        self._wiki_link_end = -1
        self._item_end = 0
        self._depth = 0
        self._tag: Any = None
        self._tags: list[str] = []
        self._has_tags = _TAG.search(body) is not None
        self._has_anchors = _ANCHOR.search(body) is not None
        self._in_code = False
        self._seen: list[Edit] = []
        self._has_escapes = _ESCAPED.search(body) is not None
        self._marks: list[int] = []
        self._has_marks = body.count("%%") > 1
        reasons = (self._has_tags, self._has_anchors, self._has_escapes, self._has_marks)
        self._reads_all = any(reasons) or _GLUED_TAG.search(body) is not None

    def read(self, events: Iterable[tuple[Any, Any]]) -> Body:
        """Return the structure; each event begins or ends an element, or is text."""
        for event, where in events:
            if isinstance(event, str):
                if event == "Rule" and not self._depth:
                    self._add_span(BlockKind.PARAGRAPH, where["start"], where["end"])
                elif self._label is not None:  # a line break
                    self._label.append(" ")
            elif "Start" in event:
                tag = event["Start"]
                if not self._depth or isinstance(tag, dict) or tag in _EMPHASIS:
                    self._open_element(tag, where)
                self._depth += 1
            elif "End" in event:
                self._depth -= 1
                self._in_code = False
                if event["End"] == "HtmlBlock":
                    block = self._source[where["start"] : where["end"]]
                    if b"&" in block or b"<!--" in block:
                        self._add_edits(find_html_edits, block, where["start"])
                if self._depth <= 1:
                    self._close_element(where)
            elif (
                self._reads_all or self._label is not None or where["start"] == self._wiki_link_end
            ):
                self._read_piece(event, where["start"], where["end"])
        links = list(dict.fromkeys(filter(None, self._links)))
        return Body(self._spans, links, list(dict.fromkeys(self._tags)), self._list_edits())

    def _read_piece(self, event: Mapping[str, str], start: int, end: int) -> None:
        if self._has_anchors and (html := event.get("InlineHtml") or event.get("Html")):
            self._links += (_to_path(found[2]) for found in _ANCHOR.finditer(html))
        if "Text" in event and not self._in_code:
            source = self._source[start:end]
            if self._has_escapes and (b"&" in source or b"\\" in source):
                self._add_edits(find_markdown_escapes, source, start)
            if self._has_marks and b"%%" in source:
                self._marks += (start + mark.start() for mark in _COMMENT_MARK.finditer(source))
            if self._label is None and b"#" in source and start != self._wiki_link_end:
                begins_word = not start or self._source[start - 1 : start].isspace()
                for match in _TAG.finditer(source.decode()):
                    tag = match[1].strip("/")
                    if (match.start() or begins_word) and not _COLOUR.fullmatch(tag):
                        self._tags.append(tag)
        elif "InlineHtml" in event and (mark := _GLUED_TAG.match(event["InlineHtml"])):
            self._seen.append(Edit(start, end, "^" if mark[0] == "<sup" else ""))
        if self._label is not None or start == self._wiki_link_end:
            ((kind, text),) = event.items()
            # `[[1]](target)` is no wiki link, but a link whose text has brackets.
            found = _DESTINATION.match(text) if start == self._wiki_link_end else None
            if found:
                self._links[-1] = _to_path(found[1])
                text = text[found.end() :]
            if self._label is not None and (
                kind != "InlineHtml" or any("{{" in part for part in self._label or ())
            ):
                self._label.append(text)

    def _add_edits(
        self, find: Callable[[str, int, int], Iterable[Edit]], source: bytes, start: int
    ) -> None:
        """Keep what a function finds in a part of the source."""
        text = source.decode()
        for first, last, seen in find(text, 0, len(text)):
            offset = start + len(text[:first].encode())
            self._seen.append(Edit(offset, offset + len(text[first:last].encode()), seen))

    def _list_edits(self) -> list[Edit]:
        """Return the edits in order, with offsets in code points."""
        points = {0: 0}
        done = 0
        for at in sorted({at for edit in self._seen for at in edit[:2]}):
            points[at] = points[done] + len(self._source[done:at].decode())
            done = at
        return [Edit(points[one], points[two], seen) for one, two, seen in sorted(self._seen)]

    def _open_element(self, tag: Any, where: Mapping[str, int]) -> None:
        if not self._depth:
            self._tag = tag
            self._label = [] if "Heading" in tag else None
        elif isinstance(tag, str):
            self._join_word(where["start"], where["end"], _EMPHASIS[tag])
        else:
            self._read_link(tag, where["start"], where["end"])
        self._in_code = "CodeBlock" in tag

    def _close_element(self, where: Mapping[str, int]) -> None:
        """End a top-level element, or one right within it."""
        if self._depth:
            self._item_end = where["end"]
        else:
            name = self._tag if isinstance(self._tag, str) else next(iter(self._tag))
            kind = _KINDS.get(name, BlockKind.PARAGRAPH)
            start, end = where["start"], where["end"]
            if kind is BlockKind.HEADING:
                level = int(self._tag["Heading"]["level"][1:])
                label = "".join(self._label or ())[:1000]
                if "{" in label:
                    label = _SHORTCODE.sub(_get_shortcode_text, _ATTRIBUTES.sub("", label))
                self._add_span(kind, start, end, level, " ".join(label.split()))
            elif name == "Paragraph":
                self._add_paragraph(start, end)
            else:
                # The range of a list may reach into the line behind it.
                self._add_span(kind, start, self._item_end if kind is BlockKind.LIST else end)
            self._label = None
            opening = -1
            for at in self._marks:
                if opening < 0:
                    opening = -1 if self._source[at - 1 : at].isalnum() and at else at
                elif not self._source[at + 2 : at + 3].isalnum():
                    self._seen.append(Edit(opening, at + 2))
                    opening = -1
            self._marks.clear()

    def _add_paragraph(self, start: int, end: int) -> None:
        """Add a paragraph; a table in it that begins behind its first line is a block of its own.

        The library finds tables only at the first line of a paragraph.
        """
        text = self._source[start:end]
        rule = TABLE_RULE.search(text.decode()) if b"|" in text and b"-" in text else None
        above = text.decode()[: rule.start()].splitlines() if rule else []
        if rule is None or len(above) < 2 or not _have_same_columns(above[-1], rule[0]):  # noqa: PLR2004 - text and header
            self._add_span(BlockKind.PARAGRAPH, start, end)
            return
        header = start + len("\n".join(above[:-1]).encode()) + 1
        self._add_span(BlockKind.PARAGRAPH, start, header)
        self._add_span(BlockKind.TABLE, header, end)

    def _add_span(
        self, kind: BlockKind, start: int, end: int, level: int = 0, label: str = ""
    ) -> None:
        self._line += self._source.count(b"\n", self._offset, start)
        self._offset = start
        last = self._line + self._source.count(b"\n", start, max(start, end - 1)) + 1
        self._spans.append(Span(kind, self._line, last, level, label))

    def _join_word(self, start: int, end: int, size: int) -> None:
        """Leave out the marks of emphasis that stand within a word."""
        for mark, beside in ((start, start - 1), (end - size, end)):
            sign = self._source[max(beside, 0) : beside + 1]
            if sign.isalnum() or not sign.isascii():
                self._seen.append(Edit(mark, mark + size))

    def _read_link(self, tag: Mapping[str, Any], start: int, end: int) -> None:
        link = tag.get("Link") or tag.get("Image")
        if link:
            target = link["dest_url"]
            is_wiki_link = isinstance(link["link_type"], dict)
            self._links.append(_to_wiki_path(target) if is_wiki_link else _to_path(target))
            if is_wiki_link and self._source[max(start - 1, 0) : start] == b"#":
                self._tags.append(self._links[-1])
            self._wiki_link_end = end if is_wiki_link else -1


def _have_same_columns(header: str, rule: str) -> bool:
    counts = {len(_PIPE.findall(row.strip().strip("|"))) for row in (header, rule)}
    return len(counts) == 1 and "|" in header


def _to_path(url: str) -> str:
    """Return the path of a relative URL; empty for one of another host and for a mere fragment."""
    path = "" if _SCHEME.match(url) else _URL_END.split(url, maxsplit=1)[0]
    if "%" in path:
        from urllib.parse import unquote

        return unquote(path)
    return path


def _to_wiki_path(target: str) -> str:
    """Return the name in a wiki link, without its heading or block."""
    name = target.partition("#")[0].rstrip("\\").strip()
    return "" if _SCHEME.match(name) else name


def _get_shortcode_text(shortcode: re.Match[str]) -> str:
    """Return what a shortcode shows: its text without its name and quotation marks."""
    text = _SHORTCODE_NAME.sub("", shortcode[1].strip(), count=1)
    text = text.removeprefix('"').removesuffix('"').strip()
    return shortcode[0] if '"' in text else text


class MarkdownParser:
    """Parses any note that is not binary data.

    The text is the whole file; its blocks leave out noise and encoded data.
    """

    version = "markdown-v6"

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document, with its front matter as metadata."""
        decoded = decode(data)
        front = read_front_matter(decoded.text)
        source = decoded.text[front.body :]
        visible = _read_visible_body(source, is_mdx=get_suffix(path) == ".mdx")
        lines = decoded.text.count("\n", front.searched, front.body)
        text = decoded.text[: front.body] + visible.text
        moved = (
            one._replace(first=one.first + lines, last=one.last + lines) for one in visible.spans
        )
        blocks = build_blocks(text, front.searched, moved)
        # Front matter says more than the title, or anything at all where there is no text.
        fields = [key for key, value in front.metadata.properties if value]
        if front.searched and any(not blocks or key != "title" for key in fields):
            first = 2 if blocks and _TITLE_FIRST.match(text) else 0
            span = Span(BlockKind.PROPERTIES, first, text.count("\n", 0, front.body))
            found = build_blocks(text[: front.body], 0, [Span(None, 0, first), span])
            blocks = (*found, *blocks)
        at = front.body
        shifted = (Edit(at + one, at + two, seen) for one, two, seen in visible.edits)
        seen_otherwise = [*find_string_escapes(text, 0, at), *shifted]
        head = Block(BlockKind.PROPERTIES, 0, at)  # its words are those of the metadata
        body = [head, *(block for block in blocks if block.start >= at)]
        blobs = {number + decoded.text.count("\n", 0, at) for number in visible.blobs}
        code = ((one.first, one.last) for one in visible.spans if one.kind is BlockKind.CODE)
        properties = read_inline_metadata(visible.text, code, is_exported=has_export_id(path))
        metadata = merge_metadata(front.metadata, properties, visible.tags)
        links = [*_find_property_links(text[: front.body]), *visible.links]
        return ParsedDocument(
            text=decoded.text,
            title=choose_title(metadata, blocks, path),
            blocks=blocks,
            metadata=metadata,
            lang=metadata.lang or detect_document_language(decoded.text, blocks),
            encoding=decoded.encoding,
            warnings=(
                *decoded.warnings,
                *front.warnings,
                *describe_left_out(BLOBS, source, visible.blobs),
            ),
            links=tuple(dict.fromkeys(links))[:10_000],
            edits=join_edits(decoded.text, blocks, seen_otherwise),
            omissions=list_omissions(decoded.text, body, seen_otherwise, blobs),
        )


def _find_definitions(body: str, spans: Sequence[Span]) -> Iterator[Span]:
    """Yield the definitions of links at the end of a body, which are no text of a section."""
    if "]:" not in body:
        return
    first = max((span.last for span in spans), default=0)
    lines = body.split("\n")[first:]
    if any(lines) and all(map(_match_definition, filter(None, map(str.strip, lines)))):
        yield Span(BlockKind.PROPERTIES, first, first + len(lines))


def _find_property_links(front: str) -> list[str]:
    """Return the targets of the links in front matter, also of those that YAML reads as lists."""
    wiki = (_to_wiki_path(match[1]) for match in _WIKI_LINK.finditer(front))
    inline = (_to_path(match[1]) for match in _INLINE_LINK.finditer(front))
    return list(filter(None, (*wiki, *inline)))


def _read_visible_body(source: str, *, is_mdx: bool) -> Body:
    """Return the structure of a body without comments, shortcodes, bare tags and encoded data."""
    blobs = find_blob_lines(source)
    hidden = blobs | find_noise_lines(source, is_mdx=is_mdx)
    body = read_body(hide_lines(source, hidden))
    lines = source.split("\n")
    for span in body.spans:
        html = "\n".join(lines[span.first : span.last]) if span.kind is BlockKind.HTML else ""
        if html and not has_visible_text(html):
            hidden |= {*range(span.first, span.last)}
    spans = [*exclude_lines(body.spans, list(group_lines(sorted(hidden))))]
    text = hide_lines(source, hidden)
    spans += _find_definitions(text, spans)
    return body._replace(spans=spans, text=text, blobs=frozenset(blobs))
