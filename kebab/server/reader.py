"""Loads a document by the operations of the server, and puts the HTML of the reader together.

Also renders snippets and answers as HTML, with their marks and citation markers.
"""

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from html import unescape
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, TypeAlias
from unicodedata import bidirectional
from urllib.parse import urlencode

from msgspec import UNSET, Struct, field

from kebab.core.files import find_container
from kebab.core.media import MARKDOWN, PDF, CitationKind, get_media_type
from kebab.server.rendering import (
    Html,
    Passage,
    RenderTask,
    build_tag,
    clean_html,
    clean_line,
    escape,
    join,
    locate_picture,
    render_blocks,
)
from kebab.server.requests import Failed, Outcome
from kebab.source.content import read_front_matter
from kebab.wire.fetch import FetchRequest
from kebab.wire.library import DocInspection, FetchResult, InspectDocRequest
from kebab.wire.record import ABSENT, LookupFault, NotFound, Request

Run: TypeAlias = Callable[[Request[Any]], Awaitable[Any]]
"""Runs an operation. It raises `Failed` when that fails, or when there is nothing of the name."""

MOST_LINES = 1_000
MOST_CHARS = 60_000
"""How much of a document is rendered at once; so much Markdown takes about 0.2 s."""
_LINES_BEFORE = 200
"""How many lines are shown before the passage."""

_LINES = re.compile(r"L?(\d{1,9})(?:-L?(\d{1,9}))?")
_PAGE = re.compile(r"#page=(\d{1,9})")
_FENCE = re.compile(r" {0,3}(```|~~~)")


def build_missing(name: str, message: str) -> Failed:
    """Return that there is no such thing in a document."""
    fault = LookupFault(kind="not_found", message=message, retryable=False, candidates=[])
    return Failed(Outcome(404, NotFound(name=name, found=False, error=fault)))


class ReadRequest(Struct, frozen=True):
    """What the reader shows: a document, a passage of it, a quotation, or a part from a line on."""

    doc: str
    at: str = ""
    quote: str = ""
    begin: int = field(default=0, name="from")


class Part(NamedTuple):
    """The loaded part of a document, with the tasks that render it, one for each page of a PDF."""

    detail: DocInspection
    tasks: Sequence[RenderTask]
    first: int
    last: int
    line_count: int
    note: str
    pages: Sequence[int] = ()


async def load_part(run: Run, request: ReadRequest) -> Part:
    """Load what the reader shows.

    Raises:
        Failed: There is no such document.
    """
    detail = await run(InspectDocRequest(name=request.doc))
    name = detail.document.doc_id
    (whole,) = (await run(FetchRequest(refs=[name]))).results
    if isinstance(whole, NotFound):
        raise build_missing(whole.name, whole.error.message)
    lines = whole.text.split("\n")
    passage, note = await _find_passage(run, request, detail)
    if whole.is_indexed_text and not note:
        note = "the file is gone, so this is the text that was indexed"
        if get_media_type(detail.document.media).cites in {CitationKind.LINE, CitationKind.CODE}:
            passage = passage._replace(first=0, last=0)
    wanted = request.begin or (passage.first - _LINES_BEFORE if passage.first else 1)
    begin, end = choose_window(lines, wanted)
    task = RenderTask(
        doc_id=name,
        path=detail.document.doc_path,
        media=detail.document.media,
        text="\n".join(lines[begin:end])[:MOST_CHARS],
        first=begin + 1,
        passage=passage,
        links={link.target: link.doc_id for link in detail.links if link.target and link.doc_id},
        head=lines[0] if begin else "",
        folder=_find_folder(detail) if detail.file else None,
    )
    tasks, pages = [task], list[int]()
    if detail.document.media == PDF and whole.places is not UNSET:
        tasks, pages = _cut_pages(task, whole, end)
    return Part(detail, tasks, begin + 1, end, len(lines), note, pages)


async def _find_passage(
    run: Run, request: ReadRequest, detail: DocInspection
) -> tuple[Passage, str]:
    """Return the passage that a request names, and what is to be said about it."""
    at = request.at
    if not at:
        return Passage(0, 0, request.quote), ""
    if match := _LINES.fullmatch(at):
        first = int(match[1])
        return Passage(first, max(first, int(match[2] or first)), request.quote), ""
    (found,) = (await run(FetchRequest(refs=[at]))).results
    if not isinstance(found, FetchResult) or found.doc_id != detail.document.doc_id:
        return Passage(0, 0, request.quote), f"this document has no such passage: {at}"
    passage = Passage(found.start_line, found.end_line, request.quote)
    if found.is_indexed_text and found.freshness == "changed":
        note = "the file changed since it was indexed and no longer has this passage"
        return passage._replace(first=0, last=0), note
    return passage, ""


async def find_picture(run: Run, name: str, source: str) -> Path:
    """Return the file of a picture that a document names.

    Raises:
        Failed: It does not lie in the folder of the source.
    """
    detail = await run(InspectDocRequest(name=name))
    found = locate_picture(*_find_folder(detail), source) if detail.file else None
    if found is None:
        raise build_missing(source, "no such picture")
    return found


def _find_folder(detail: DocInspection) -> tuple[str, str]:
    """Return the file of a document, or its container, and the folder of its source."""
    file = Path(find_container(detail.file or ""))
    inner = PurePosixPath(find_container(detail.document.doc_path))
    return str(file), str(file.parents[len(inner.parts) - 1])


async def find_place(run: Run, name: str, line: int) -> FetchResult:
    """Return a line of a document with its file.

    Raises:
        Failed: There is no such document or line, or its file is gone.
    """
    found: FetchResult | NotFound = (await run(FetchRequest(refs=[f"{name}#L{line}"]))).results[0]
    if isinstance(found, NotFound):
        raise Failed(Outcome(404, found))
    if not isinstance(found.file, str) or found.freshness in ABSENT:
        raise build_missing(name, f"there is no file to open: {found.doc_path}")
    return found


def choose_window(lines: Sequence[str], wanted: int) -> tuple[int, int]:
    """Return the first line and the end of a part from a wanted line on, both counted from 0.

    A short document is one part. A part begins after a blank line outside of a block of code where
    there is one near by.
    """
    if len(lines) <= MOST_LINES and sum(map(len, lines)) <= MOST_CHARS:
        return 0, len(lines)
    begin = max(0, min(wanted - 1, len(lines) - 1))
    is_code, best = False, 0
    for index in range(begin):
        if not is_code and not lines[index].strip():
            best = index + 1
        elif _FENCE.match(lines[index]):
            is_code = not is_code
    if begin - best <= _LINES_BEFORE:
        begin = best
    size, end = 0, begin
    while end < len(lines) and end - begin < MOST_LINES and size <= MOST_CHARS:
        size += len(lines[end]) + 1
        end += 1
    return begin, end


def _cut_pages(
    task: RenderTask, whole: FetchResult, end: int
) -> tuple[list[RenderTask], list[int]]:
    """Return a task and a number for each page of a PDF that has lines in the part."""
    lines = whole.text.split("\n")
    assert whole.places is not UNSET
    starts = [place.line for place in whole.places]
    tasks, pages = [], []
    for place, after in zip(whole.places, [*starts[1:], len(lines) + 1], strict=True):
        number = _PAGE.search(place.uri)
        if number and after > task.first and place.line <= end:
            text = "\n".join(lines[place.line - 1 : after - 1]).rstrip("\n")
            tasks.append(task._replace(text=text[:MOST_CHARS], first=place.line))
            pages.append(int(number[1]))
    return tasks, pages


def build_article(part: Part, bodies: Sequence[Html]) -> Html:
    """Return the document as an element of the page."""
    document, pages = part.detail.document, list(bodies)
    if part.pages:  # of a PDF
        pages = [
            build_tag(
                "section",
                build_tag("p", f"page {number}", class_="page-number"),
                body,
                class_="page",
                data_page=number,
            )
            for body, number in zip(bodies, part.pages, strict=True)
        ]
    content = join(pages)
    # The direction of most letters of the body; its properties do not count.
    text = "".join(task.text for task in part.tasks)
    kinds = Counter(map(bidirectional, _FRONT_MATTER.sub("", text)[:_MOST_LETTERS]))
    notes = [part.note, *part.detail.warnings] if part.note else part.detail.warnings
    return build_tag(
        "article",
        _build_head(part, content),
        *(build_tag("p", f"note: {note}", class_="note") for note in notes),
        _build_link(part, "earlier"),
        build_tag("div", content, class_="doc-body", lang=document.lang or None),
        _build_link(part, "later"),
        class_="doc",
        dir="rtl" if kinds["R"] + kinds["AL"] > kinds["L"] else "ltr",
        data_doc=document.doc_id,
        data_lines=f"{part.first}-{part.last}",
    )


_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_MOST_LETTERS = 4_000


_TAG = re.compile("<[^<>]*>")
_FIRST_TITLE = re.compile("<h1[^<>]*>(.*?)</h1>", re.DOTALL)


def _build_head(part: Part, content: Html) -> Html:
    """Return the path and the properties of a document, and the title if its text has another."""
    document = part.detail.document
    title = clean_line(document.title)
    first = _FIRST_TITLE.search(content)
    is_told = first is not None and clean_line(unescape(_TAG.sub("", first[1]))) == title
    state = {"changed": "changed since", "gone": "file is gone"}.get(document.freshness, "")
    facts = [
        get_media_type(document.media).label,
        document.lang or "",
        (document.date or document.modified_at)[:10],
        *(f"#{tag}" for tag in document.tags),
        state,
    ]
    return build_tag(
        "header",
        "" if is_told else build_tag("h2", build_tag("bdi", title), class_="doc-title"),
        build_tag("p", build_tag("bdi", clean_line(document.doc_path)), class_="doc-path"),
        build_tag("p", " · ".join(clean_line(fact) for fact in facts if fact), class_="doc-facts"),
        class_="doc-head",
    )


def _build_link(part: Part, which: str) -> Html:
    """Return the link to the part before or after, empty where there is none."""
    before = max(1, part.first - MOST_LINES)
    line, exists = (
        (before, part.first > 1)
        if which == "earlier"
        else (part.last + 1, part.last < part.line_count)
    )
    if not exists:
        return Html()
    query = urlencode({"doc": part.detail.document.doc_id, "from": line})
    link = build_tag("a", f"{which} lines", href=f"/?{query}", class_=which, data_from=line)
    return build_tag("p", link, class_="parts")


class TextToRender(Struct, frozen=True, forbid_unknown_fields=True):
    """A snippet or an answer.

    `marks` are the ranges of code points to mark, and `labels` their classes, `hit` unless given.
    `headings` are lines that the page shows elsewhere. With `markers` these citation markers become
    buttons, as `[1]` does.
    """

    text: str
    media: str = MARKDOWN
    marks: list[tuple[int, int]] = []
    labels: list[str] = []
    headings: list[str] = []
    markers: list[int] = []


_MOST_TEXT = 100_000
_OPEN, _CLOSE = "\ue000", "\ue001"
"""Stand for the ends of a mark while the text is rendered; the text itself loses them."""
_SIGNS = str.maketrans(dict.fromkeys(map(ord, (_OPEN, _CLOSE)), " "))
_BLOCK_SIGNS = re.compile(
    r"[ \t]*(?:(?:[-*+]|\d{1,9}[.)]|#{1,6}|>)[ \t]+)*(?:\[!\w+\][+-]?[ \t]*)?"
)
_MARKER = re.compile(r"\[(\d{1,3})\]")
_HEADING_TAG = re.compile(r"<(/?)h[1-6]\b[^>]*>")


def render_text(wanted: TextToRender) -> Html:
    """Return the HTML of a snippet or an answer, with its marks.

    Headings become paragraphs, because the page has an outline of its own.
    """
    text, shown = _insert_marks(wanted.text[:_MOST_TEXT].translate(_SIGNS), wanted.marks)
    if wanted.headings:
        text = "\n".join(_drop_headings(text.split("\n"), {*wanted.headings}))
        # Links that the snippet cut lose their brackets.
        text = _CUT_START.sub(r"\2", _CUT_END.sub(r"\1", text))
    media = wanted.media
    if media == MARKDOWN and (properties := read_front_matter(text)) is not None:
        media, text = "application/yaml", properties
    html: str = render_blocks(RenderTask("", "", media, text))
    html = _HEADING_TAG.sub(lambda tag: f"<{tag[1]}p>", html)
    return clean_html(_replace_signs(html, wanted, shown))


_UNDERLINE = re.compile(r"[ \t]*(?:={2,}|-{2,})[ \t]*")
_DELIMITER = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")
_CUT_END = re.compile(r"!?\[\[(?:[^\[\]\n|]*\|)?([^\[\]\n]*)\Z")
_CUT_START = re.compile(r"\A([^\[\]\n]*\|)?([^\[\]\n]*)\]\]")


def _drop_headings(lines: Sequence[str], elsewhere: set[str]) -> Iterator[str]:
    """Yield lines without those headings, and with a head for the rows of a table without one."""
    before = ""
    for index, line in enumerate(lines):
        bare = line.replace(_OPEN, "").replace(_CLOSE, "").strip()
        after = lines[index + 1] if index + 1 < len(lines) else ""
        is_heading = bare.startswith("#") or _UNDERLINE.fullmatch(after)
        is_rule = _UNDERLINE.fullmatch(line) and not before
        if is_rule or (is_heading and bare.strip("#").strip() in elsewhere):
            before = ""
            continue
        if bare.startswith("|") and not before.startswith("|"):
            yield from _build_table_head(bare, after)
        before = bare
        yield line


def _build_table_head(row: str, after: str) -> Iterator[str]:
    """Yield the lines that make rows a table; the snippet may begin in the middle of one."""
    if not _DELIMITER.fullmatch(after):
        columns = max(1, row.strip("|").count("|") + 1)
        yield "|" + "  |" * columns
        if not _DELIMITER.fullmatch(row):
            yield "|" + "---|" * columns


def _insert_marks(text: str, marks: Sequence[tuple[int, int]]) -> tuple[str, list[int]]:
    """Return text with a sign at both ends of marks, and which marks these are, in their order.

    None stands before the sign of a block. A mark that another one covers is left out.
    """
    parts, shown, done = list[str](), list[int](), 0
    for index, (start, end) in sorted(enumerate(marks), key=lambda item: item[1]):
        block = _BLOCK_SIGNS.match(text, text.rfind("\n", 0, start) + 1)
        first = max(start, done, block.end() if block else 0)
        if first < end <= len(text):
            parts += [text[done:first], _OPEN, text[first:end], _CLOSE]
            shown.append(index)
            done = end
    return "".join([*parts, text[done:]]), shown


def _replace_signs(html: str, wanted: TextToRender, shown: Sequence[int]) -> str:
    """Return HTML with marks in place of their signs, each within one element, and buttons."""
    known, opened, is_open, is_code = set(wanted.markers), 0, False, False

    def build_button(match: re.Match[str]) -> str:
        number = match[1]
        if is_code or int(number) not in known:
            return match[0]
        return f'<button type="button" class="marker" data-marker="{number}">{number}</button>'

    parts = []
    for piece in _TAG_OR_SIGN.split(html):
        if piece == _OPEN:
            opened, is_open = opened + 1, True
        elif piece == _CLOSE:
            is_open = False
        elif piece.startswith("<"):
            is_code = piece.startswith("<code") or (is_code and not piece.startswith("</code"))
            parts.append(piece.replace(_OPEN, "").replace(_CLOSE, ""))
        elif is_open and piece.strip() and opened <= len(shown):
            index = shown[opened - 1]
            name = wanted.labels[index] if index < len(wanted.labels) else "hit"
            inner = _MARKER.sub(build_button, piece)
            parts.append(f'<mark class="{escape(name)}" data-mark="{index}">{inner}</mark>')
        else:
            parts.append(_MARKER.sub(build_button, piece))
    return "".join(parts)


_TAG_OR_SIGN = re.compile(f"(<[^<>]*>|{_OPEN}|{_CLOSE})")
