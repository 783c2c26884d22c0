"""Finds the blocks, links and inline tags of Markdown.

Markdown is CommonMark with tables, footnotes and wiki links.
The library yields events in the order of the source, with ranges of bytes. One walk over them finds
everything, in linear time.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from kebab.core.documents import BlockKind
from kebab.errors.system import translate_import_errors
from kebab.parse.blocks import Span

if TYPE_CHECKING:
    from pyromark import Markdown, Options

_MAX_HEADING_CHARS = 1000
_ATTRIBUTES = re.compile(r"\s*\{[#.:][^{}]*\}\s*$")
_SHORTCODE = re.compile(r"\{\{[<%]([^{}]*)[%>]\}\}")
_SHORTCODE_NAME = re.compile(r"\w*\s*")
_DESTINATION = re.compile(r"\(([^()\s]*)[^()]*\)")
_SPACE_AFTER_FENCE = re.compile(r"([`~]{3})([ \t]+)$", re.MULTILINE)
_TAB_IN_RULE = re.compile(r"[-:|] *\t")
_TABLE_RULE = re.compile(r"^[ \t]{0,3}(?=[^\n]*-)(?=[^\n]*\|)[-:| \t]+$", re.MULTILINE)
_PIPE = re.compile(r"(?<!\\)\|")
_URL_END = re.compile("[?#]")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:|//")
_TAG = re.compile(r"#(?<!\S#)([\d/_-]*[^\W\d_][\w/-]*)")
_COLOUR = re.compile(r"(?=\D*\d)(?:[0-9a-f]{3}|[0-9a-f]{6}|[0-9a-f]{8})", re.IGNORECASE)
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

    `spans` are its top-level blocks; link definitions are none. `links` are the targets of its
    links to other files, and `tags` its inline tags without `#`.
    """

    spans: list[Span]
    links: list[str]
    tags: list[str]


def read_body(body: str) -> Body:
    """Return the structure of a body, which has no front matter.

    Raises:
        RuntimeError: The library failed.
    """
    with translate_panics():
        return _Walk(body).read(_read_events(body))


def find_code_lines(body: str) -> set[int]:
    """Return the numbers of the lines, from 0, of the blocks of code at any depth.

    Raises:
        RuntimeError: The library failed.
    """
    source = body.encode()
    found: set[int] = set()
    line = offset = 0
    with translate_panics():
        for event, where in _read_events(body):
            if not isinstance(event, str) and "CodeBlock" in event.get("Start", ()):
                start, end = where["start"], where["end"]
                line += source.count(b"\n", offset, start)
                offset = start
                found.update(range(line, line + source.count(b"\n", start, end - 1) + 1))
    return found


def _read_events(body: str) -> Iterable[tuple[Any, Any]]:
    source = replace_tabs(body) if "\t" in body else body
    return _get_reader().events_with_range(source, merge_text=True)


@contextmanager
def translate_panics() -> Iterator[None]:
    """Turn a panic of native code, which is no `Exception`, into an error."""
    try:
        yield
    except BaseException as fault:
        if type(fault).__name__ != "PanicException":
            raise
        raise RuntimeError(str(fault)) from fault


def replace_tabs(body: str) -> str:
    """Return a body with spaces for tabs behind fences and in the rules of tables.

    They mean the same, but the library does not accept tabs there.
    """
    body = _SPACE_AFTER_FENCE.sub(lambda fence: fence[1] + " " * len(fence[2]), body)
    if "|" in body and _TAB_IN_RULE.search(body):
        return _TABLE_RULE.sub(lambda rule: rule[0].replace("\t", " "), body)
    return body


@cache
def _get_reader() -> "Markdown":
    options = get_options()
    from pyromark import Markdown

    return Markdown(options=options)


def get_options() -> "Options":
    """Return what the library reads besides CommonMark."""
    with translate_import_errors("reading Markdown", "pyromark"):
        from pyromark import Options

    return Options.ENABLE_TABLES | Options.ENABLE_FOOTNOTES | Options.ENABLE_WIKILINKS


class _Walk:
    """Collects what the events of a body say."""

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
        self._in_code = False

    def read(self, events: Iterable[tuple[Any, Any]]) -> Body:
        """Return the structure; each event begins or ends an element, or is text."""
        for event, where in events:
            if isinstance(event, str):
                self._read_mark(event, where)
            elif "Start" in event:
                self._open_element(event["Start"], where)
            elif "End" in event:
                self._close_element(where)
            elif self._label is not None or where["start"] == self._wiki_link_end:
                self._read_text(event, where["start"])
            elif self._has_tags and "Text" in event and not self._in_code:
                self._read_tags(where["start"], where["end"])
        links = list(dict.fromkeys(filter(None, self._links)))
        return Body(self._spans, links, list(dict.fromkeys(self._tags)))

    def _read_mark(self, mark: str, where: Mapping[str, int]) -> None:
        """Read a line break or a rule."""
        if mark == "Rule":
            if not self._depth:
                self._add_span(BlockKind.PARAGRAPH, where["start"], where["end"])
        elif self._label is not None:
            self._label.append(" ")

    def _open_element(self, tag: Any, where: Mapping[str, int]) -> None:
        if not self._depth:
            self._tag = tag
            self._label = [] if "Heading" in tag else None
        elif isinstance(tag, dict):
            self._read_link(tag, where["end"])
        if "CodeBlock" in tag:
            self._in_code = True
        self._depth += 1

    def _close_element(self, where: Mapping[str, int]) -> None:
        self._depth -= 1
        self._in_code = False
        if self._depth == 1:
            self._item_end = where["end"]
        elif not self._depth:
            self._close_block(self._tag, where)

    def _close_block(self, tag: Any, where: Mapping[str, int]) -> None:
        """Add the top-level block that ends."""
        name = tag if isinstance(tag, str) else next(iter(tag))
        kind = _KINDS.get(name, BlockKind.PARAGRAPH)
        start, end = where["start"], where["end"]
        if kind is BlockKind.HEADING:
            level = int(tag["Heading"]["level"][1:])
            self._add_span(kind, start, end, level, _clean_label("".join(self._label or ())))
        elif name == "Paragraph":
            self._add_paragraph(start, end)
        else:
            # The range of a list may reach into the line behind it.
            self._add_span(kind, start, self._item_end if kind is BlockKind.LIST else end)
        self._label = None

    def _add_paragraph(self, start: int, end: int) -> None:
        """Add a paragraph; a table in it that begins behind its first line is a block of its own.

        The library finds tables only at the first line of a paragraph.
        """
        text = self._source[start:end]
        rule = _TABLE_RULE.search(text.decode()) if b"|" in text and b"-" in text else None
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

    def _read_link(self, tag: Mapping[str, Any], end: int) -> None:
        """Keep the target of a link or an image."""
        link = tag.get("Link") or tag.get("Image")
        if link:
            target = link["dest_url"]
            is_wiki_link = isinstance(link["link_type"], dict)
            self._links.append(_to_wiki_path(target) if is_wiki_link else _to_path(target))
            self._wiki_link_end = end if is_wiki_link else -1

    def _read_text(self, event: Mapping[str, str], start: int) -> None:
        """Read text of a heading, or text behind a wiki link.

        `[[1]](target)` is no wiki link, but a link whose text has brackets.
        """
        ((kind, text),) = event.items()
        found = _DESTINATION.match(text) if start == self._wiki_link_end else None
        if found:
            self._links[-1] = _to_path(found[1])
            text = text[found.end() :]
        if self._label is not None and (kind != "InlineHtml" or self._is_in_shortcode()):
            self._label.append(text)

    def _read_tags(self, start: int, end: int) -> None:
        """Keep the tags in a piece of text; each begins behind a space."""
        source = self._source[start:end]
        if b"#" not in source:
            return
        begins_word = not start or self._source[start - 1 : start].isspace()
        for match in _TAG.finditer(source.decode()):
            tag = match[1].strip("/")
            if (match.start() or begins_word) and not _COLOUR.fullmatch(tag):
                self._tags.append(tag)

    def _is_in_shortcode(self) -> bool:
        return any("{{" in part for part in self._label or ())


def _have_same_columns(header: str, rule: str) -> bool:
    """Return whether two rows of a table have the same number of cells."""
    counts = {len(_PIPE.findall(row.strip().strip("|"))) for row in (header, rule)}
    return len(counts) == 1 and "|" in header


def _clean_label(label: str) -> str:
    """Return the text of a heading on one line, without attributes and shortcodes."""
    label = label[:_MAX_HEADING_CHARS]
    if "{" in label:
        label = _SHORTCODE.sub(_get_shortcode_text, _ATTRIBUTES.sub("", label))
    return " ".join(label.split())


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
