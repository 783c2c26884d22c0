"""Collects what the events of a Markdown body say, with ranges of UTF-8 bytes."""

import re
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

from kebab.core.review import FootnoteUse, Heading, LinkUse, Span, UndefinedLabel
from kebab.parse.markdown.blocks import get_options, replace_tabs, translate_panics
from kebab.parse.markdown.text_marks import find_html_parts

_HEADING_ID = re.compile(r"[ \t]*\{:?[ \t]*[#.:/][^{}]*\}[ \t]*$")
_ID = re.compile(r"#([^\s{}*/]+)")
_WIKI_DESTINATION = re.compile(rb"\(([^()\s]*)[^()]*\)")
_DEFINED_TARGET = re.compile(rb"\]:\s*<?")
_LINKS = ("Link", "Image")
_REFERENCES = frozenset({"Reference", "Collapsed", "Shortcut"})
_ADDRESSES = frozenset({"Autolink", "Email"})


class BodyParts(NamedTuple):
    """What the events say. `code` has math and comments; `marks` tags and targets of links."""

    headings: list[Heading]
    links: list[LinkUse]
    footnotes: list[FootnoteUse]
    undefined: list[UndefinedLabel]
    code_blocks: list[Span]
    code: list[Span]
    marks: list[Span]


def read_body_parts(body: str) -> BodyParts:
    """Return the parts of a body in bytes of its UTF-8.

    Raises:
        RuntimeError: The library failed.
    """
    source = replace_tabs(body) if "\t" in body else body
    found = BodyParts([], [], [], [], [], [], [])
    broken: list[Mapping[str, Any]] = []
    with translate_panics():
        options = get_options()
        from pyromark import Options, events_with_range, reference_definitions

        options |= Options.ENABLE_MATH
        events = events_with_range(
            source, options=options, merge_text=True, broken_link_callback=broken.append
        )
        definitions = reference_definitions(source, options=options) if "]:" in source else {}
        _Walk(source.encode(), found, definitions).read(events)
    for link in broken:
        span, kind = link["span"], link["link_type"]
        end = span["end"] + 2 * (kind == "Collapsed")
        use = UndefinedLabel(link["reference"], span["start"], end, kind != "Shortcut")
        found.undefined.append(use)
    return found


class _Walk:
    """Collects what the events of a body say, in bytes."""

    def __init__(
        self, source: bytes, found: BodyParts, definitions: Mapping[str, Mapping[str, Any]]
    ) -> None:
        self._source = source
        self._found = found
        self._definitions = {_fold_label(label): one for label, one in definitions.items()}
        self._end = 0
        self._label: list[str] | None = None
        self._open_links: list[tuple[Mapping[str, Any], int, bool]] = []
        self._in_code = False
        self._wiki_end = -1
        for one in definitions.values():
            found.marks.append((one["span"]["start"], one["span"]["end"]))

    def read(self, events: Iterable[tuple[Any, Any]]) -> None:
        """Read the events; each begins or ends an element, or is text or a mark."""
        for event, where in events:
            if type(event) is str:
                self._read_mark(event)
            elif "Text" in event:
                if self._label is not None or where["start"] == self._wiki_end:
                    self._read_text(event["Text"], where["start"])
            elif "Start" in event:
                self._open_element(event["Start"], where["start"], where["end"])
                continue
            elif "End" in event:
                self._close_element(event["End"], where["start"], where["end"])
            else:
                self._read_inline(event, where["start"], where["end"])
            self._end = where["end"]

    def _read_mark(self, mark: str) -> None:
        """Read a line break or a rule."""
        if self._label is not None and mark != "Rule":
            self._label.append(" ")

    def _read_text(self, text: str, start: int) -> None:
        if start == self._wiki_end and text.startswith("("):
            text = self._read_destination(text, start)
        if self._label is not None:
            self._label.append(text)

    def _read_inline(self, event: Mapping[str, str], start: int, end: int) -> None:
        """Read a code span, math, a tag, a line of HTML, or the use of a footnote."""
        ((kind, text),) = event.items()
        if kind == "FootnoteReference":
            self._found.footnotes.append(FootnoteUse(text, start, end, is_definition=False))
        elif kind == "InlineHtml":
            is_comment = text.startswith("<!--")
            (self._found.code if is_comment else self._found.marks).append((start, end))
        elif kind != "Html":
            self._found.code.append((start, end))
            if self._label is not None:
                self._label.append(text)

    def _add_html(self, start: int, end: int) -> None:
        for (first, last), is_tag in find_html_parts(self._source[start:end].decode("latin-1")):
            spans = self._found.marks if is_tag else self._found.code
            spans.append((start + first, start + last))

    def _open_element(self, tag: Any, start: int, end: int) -> None:
        self._end = start
        if type(tag) is str:
            if tag == "HtmlBlock":
                self._add_html(start, end)
        elif "Link" in tag or "Image" in tag:
            link = tag.get("Link") or tag["Image"]
            self._open_links.append((link, start, "Image" in tag))
            self._end = start + (2 if "Image" in tag else 1)
        elif "Heading" in tag:
            self._label = []
        elif "CodeBlock" in tag:
            self._found.code_blocks.append((start, end))
        elif "FootnoteDefinition" in tag:
            label = tag["FootnoteDefinition"]
            mark_end = self._source.find(b"]:", start, end) + 2
            use = FootnoteUse(label, start, max(mark_end, start + 1), is_definition=True)
            self._found.footnotes.append(use)

    def _close_element(self, tag: Any, start: int, end: int) -> None:
        if tag in _LINKS:
            link, begin, is_image = self._open_links.pop()
            self._add_link(link, begin, end, is_image=is_image)
        elif type(tag) is dict and "Heading" in tag:
            text = " ".join("".join(self._label or ()).split())
            end -= len(self._source[start:end]) - len(self._source[start:end].rstrip())
            level = int(tag["Heading"][1:])
            self._found.headings.append(_build_heading(level, text, start, end))
            self._label = None

    def _add_link(self, link: Mapping[str, Any], start: int, end: int, *, is_image: bool) -> None:
        """Add a link that ends; the end of its text was the end of the last event."""
        kind, target = link["link_type"], link["dest_url"]
        add = partial(self._add_use, start=start, end=end, is_image=is_image)
        if isinstance(kind, dict):
            self._add_wiki_link(target.rstrip("\\").strip(), start, end, is_image=is_image)
        elif kind == "Inline":
            first, last = self._find_destination(end)
            add(target, "inline", (first, last))
            self._found.marks.append((first, last))
        elif kind in _REFERENCES:
            self._found.marks.append((min(self._end + 1, end), end))
            defined = self._definitions.get(_fold_label(link["id"]))
            add(
                target,
                "reference",
                self._find_defined(defined["span"]) if defined else (start, end),
            )
        elif kind in _ADDRESSES:
            self._found.code.append((start, end))
            add(target, "auto", (start + 1, end - 1))

    def _add_wiki_link(self, target: str, start: int, end: int, *, is_image: bool) -> None:
        self._wiki_end = end
        first = start + (3 if is_image else 2)
        raw = target.encode()
        found = self._source.find(raw, first, end)
        span = (found, found + len(raw)) if found >= 0 else (first, end - 2)
        self._add_use(target, "wiki", span, start=start, end=end, is_image=is_image)
        pipe = self._source.find(b"|", first, end)
        if pipe >= 0:
            self._found.marks.append((first, pipe + 1))

    def _add_use(
        self, target: str, kind: Any, target_span: Span, *, start: int, end: int, is_image: bool
    ) -> None:
        self._found.links.append(LinkUse(target, kind, start, end, target_span, is_image))

    def _find_destination(self, end: int) -> Span:
        """Return where the target of an inline link stands that ends at an offset."""
        source = self._source
        start = max(source.find(b"](", max(self._end - 1, 0), end), 0) + 2
        while start < end - 1 and source[start : start + 1].isspace():
            start += 1
        if source[start : start + 1] == b"<":
            last = source.find(b">", start, end)
            return (start + 1, last) if last > start else (start, end - 1)
        words = source[start : end - 1].split(None, 1)
        return start, start + len(words[0] if words else b"")

    def _find_defined(self, span: Mapping[str, int]) -> Span:
        """Return where the target of a definition stands."""
        start, end = span["start"], span["end"]
        opening = _DEFINED_TARGET.search(self._source, start, end)
        if opening is None:
            return start, end
        rest = self._source[opening.end() : end]
        is_quoted = opening[0].endswith(b"<")
        target = rest.partition(b">")[0] if is_quoted else (rest.split(None, 1) or [b""])[0]
        return opening.end(), opening.end() + len(target)

    def _read_destination(self, text: str, start: int) -> str:
        """Read `(target)` behind a wiki link: a link whose text has brackets; return the rest."""
        match = _WIKI_DESTINATION.match(self._source, start)
        if match is None:
            return text
        target, link = match[1].decode(), self._found.links.pop()
        self._add_use(
            target, "inline", match.span(1), start=link.start, end=match.end(), is_image=False
        )
        self._found.marks.append(match.span(1))
        return text[len(match[0].decode()) :]


def _build_heading(level: int, text: str, start: int, end: int) -> Heading:
    """Return a heading; the attributes at its end may declare its anchor."""
    attributes = _HEADING_ID.search(text) if text.endswith("}") else None
    if attributes is None:
        return Heading(level, text, start, end)
    anchor = _ID.search(attributes[0])
    return Heading(
        level, text[: attributes.start()].strip(), start, end, anchor[1] if anchor else None
    )


def _fold_label(label: str) -> str:
    return " ".join(label.split()).casefold()
