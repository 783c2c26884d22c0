"""Renders the text of documents, snippets and answers as HTML.

Markdown is rendered by markdown-it with HTML switched off. The text that a parser extracted from
any other format has the blocks of Markdown, and only those are read in it, so that a star in a
letter stays a star. Code is highlighted by pygments, with classes and without styles. Whatever the
text is, nh3 lets only the elements and attributes of `_ELEMENTS` through, as the last step.

Only `build_tag` writes tags, and it escapes text and attributes. So `<` and `>` stand in the HTML
only where a tag begins and ends, and `mark_text` can find the text between tags.
"""

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from html import escape as escape_html
from itertools import pairwise
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, TypeAlias
from urllib.parse import quote, unquote

import nh3

from kebab.core.media import CHAT, MARKDOWN, CitationKind, get_media_type, is_code
from kebab.errors.system import translate_import_errors
from kebab.parse.blocks import group_lines

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token


_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff\ud800-\udfff]")
_OVERRIDES = re.compile("[\u202d\u202e]")
_DIRECTIONS = re.compile("[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]")
_VOID = frozenset({"img", "input", "link", "meta", "hr", "br"})


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def escape(text: str) -> Html:
    """Return text as HTML.

    Control characters are replaced. The order of letters is never overridden: the two characters
    that do so are shown by their names.
    """
    if isinstance(text, Html):
        return text
    return Html(escape_html(replace_controls(text), quote=True))


def replace_controls(text: str) -> str:
    """Return text or HTML without control characters and without overrides of the direction."""
    return _OVERRIDES.sub(name_character, _CONTROLS.sub("\ufffd", text))


def name_character(match: re.Match[str]) -> str:
    """Return the name of a character that cannot be seen, such as `⟦U+202E⟧`."""
    return f"⟦U+{ord(match[0]):04X}⟧"


def clean_line(text: str) -> str:
    """Return a title or a path on one line, without characters that change its direction."""
    return _DIRECTIONS.sub("", " ".join(text.split()))


def show_directions(text: str) -> str:
    """Return code in which the characters that change the direction can be seen."""
    return _DIRECTIONS.sub(name_character, text)


def build_tag(name: str, /, *children: str, **attributes: str | int | bool | None) -> Html:
    """Return an element; children are text unless they are HTML.

    `_` in the name of an attribute is `-`, but for the last one, as in `class_`. True is an
    attribute without a value; None and False leave it out.
    """
    words = [name]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        label = key.removesuffix("_").replace("_", "-")
        words.append(label if value is True else f'{label}="{escape(str(value))}"')
    head = f"<{' '.join(words)}>"
    return Html(head if name in _VOID else f"{head}{join(children)}</{name}>")


def join(parts: Iterable[str]) -> Html:
    """Return HTML and texts as one piece of HTML."""
    return Html("".join(map(escape, parts)))


_TAG = re.compile(r"(<[^<>]*>)")
_LETTER = re.compile(r"<[^<>]*>|&#?\w+;|([^\W_])")
"""Finds letters and digits, and what has letters in HTML that are no text."""


def mark_text(html: str, wanted: str, class_: str, *, start: int = 0) -> Html | None:
    """Return HTML with a text marked from `start` on, None when it does not contain the text.

    Only letters and digits are compared, so line ends and the signs of Markdown do not matter. No
    mark crosses the border of an element.
    """
    places = [one.start() for one in _LETTER.finditer(html, start) if one[1]]
    letters = _fold(re.findall(r"[^\W_]", wanted))
    found = _fold(html[place] for place in places).find(letters) if letters else -1
    if found < 0:
        return None
    first, last = places[found], places[found + len(letters) - 1]
    marked = (
        build_tag("mark", Html(piece), class_=class_)
        if piece.strip() and not piece.startswith("<")
        else piece
        for piece in _TAG.split(html[first : last + 1])
    )
    return Html(html[:first] + "".join(marked) + html[last + 1 :])


def _fold(letters: Iterable[str]) -> str:
    """Return letters in one case, one for each."""
    return "".join(letter.lower()[0] for letter in letters)


NOTEBOOK = "application/x-ipynb+json"
_FULL_MARKDOWN = frozenset({MARKDOWN, CHAT, NOTEBOOK})
_DATA = frozenset({"application/json", "application/x-ndjson", "application/yaml",
                   "application/toml", "text/x-ini", "application/xml"})  # fmt: skip
_DELIMITED = frozenset({"text/csv", "text/tab-separated-values"})
_BLOCKS = frozenset(
    {"paragraph_open", "heading_open", "list_item_open", "tr_open", "fence", "code_block"}
)
"""The tokens of Markdown that get their lines as attributes."""
_NAMES = {"class", "data-lines", "dir", "id"}
_ELEMENTS = {
    **dict.fromkeys(
        ["b", "blockquote", "br", "code", "del", "em", "hr", "i", "li", "p", "s", "span", "strong"],
        _NAMES,
    ),
    **dict.fromkeys(["summary", "table", "tbody", "thead", "tr", "td", "ul"], _NAMES),
    "details": _NAMES | {"open"},
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), _NAMES | {"data-line"}),
    "a": _NAMES | {"href", "title", "target", "rel", "data-doc"},
    "button": {"type", "class", "data-marker"},
    "div": _NAMES | {"role", "tabindex", "aria-label"},
    "img": {"src", "alt", "title", "loading", "decoding"},
    "mark": _NAMES | {"data-mark"},
    "ol": _NAMES | {"start"},
    "pre": _NAMES | {"tabindex"},
    "th": _NAMES | {"scope"},
}


class Passage(NamedTuple):
    """The passage of a document: its lines, 1-based and inclusive, and a quotation."""

    first: int
    last: int
    quote: str = ""

    def overlaps(self, first: int, last: int) -> bool:
        """Return whether lines are part of it."""
        return bool(self.last) and self.first <= last and first <= self.last


class RenderTask(NamedTuple):
    """A part of a document.

    `first` is the line at which `text` begins. `links` has the id of the document of each link.
    `head` is the first line of a file of rows. `folder` is the file of the document and the folder
    of its source, in which pictures are shown.
    """

    doc_id: str
    path: str
    media: str
    text: str
    first: int = 1
    passage: Passage = Passage(0, 0)
    links: Mapping[str, str] | None = None
    head: str = ""
    folder: tuple[str, str] | None = None


def render(task: RenderTask) -> Html:
    """Return the HTML of a part of a document.

    The blocks of its passage have the class `passage`, and the quotation is marked from there on.
    """
    html = render_blocks(task)
    block = _PASSAGE.search(html)
    start = block.start() if block else 0
    return clean_html(mark_text(html, task.passage.quote, "quote", start=start) or html)


_PASSAGE = re.compile(r'<\w+ class="(?:\w+ )?passage"')


def render_blocks(task: RenderTask) -> Html:
    """Return the HTML of a text by its media type, before it is cleaned."""
    media = get_media_type(task.media)
    if task.media in _DELIMITED:
        html = _render_delimited(task)
    elif media.cites is CitationKind.CELL and task.media != NOTEBOOK:
        html = _render_rows(task)
    elif is_code(task.media) or task.media in _DATA:
        code = _highlight(task.text, task.path, "")
        html = _render_lines(task, list(map(Html, code.split("\n"))))
    elif task.media in _FULL_MARKDOWN:
        html = _render_markdown(task, _build_full_parser())
    elif media.cites is CitationKind.LINE:
        html = _render_paragraphs(task)
    else:
        html = _render_markdown(task, _build_block_parser())
    return html


def clean_html(html: str) -> Html:
    """Return HTML with the elements and attributes that the page knows, and no others."""
    schemes = {"http", "https", "mailto"}
    tags = set(_ELEMENTS)
    return Html(
        nh3.clean(html, tags=tags, attributes=_ELEMENTS, link_rel=None, url_schemes=schemes)
    )


def _describe_lines(task: RenderTask, first: int, last: int, class_: str = "") -> dict[str, str]:
    """Return the attributes of a block of lines; those of a passage have its class."""
    names = [class_] * bool(class_) + ["passage"] * task.passage.overlaps(first, last)
    lines = f"{first}-{last}" if last > first else str(first)
    return {**({"class_": " ".join(names)} if names else {}), "data_lines": lines}


def _render_lines(task: RenderTask, lines: Sequence[str]) -> Html:
    """Return code line by line."""
    rows = [
        build_tag("span", line, "\n", **_describe_lines(task, number, number, "line"))
        for number, line in enumerate(lines, task.first)
    ]
    return build_tag("pre", build_tag("code", *rows), class_="code", dir="ltr", tabindex="0")


def _highlight(code: str, path: str, language: str) -> Html:
    """Return code with the classes of its tokens, begun and ended on each line."""
    shown = show_directions(replace_controls(code))
    with translate_import_errors("highlighting code", "pygments"):
        from pygments import highlight
        from pygments.formatters.html import HtmlFormatter
        from pygments.lexers import find_lexer_class_for_filename, get_lexer_by_name
        from pygments.util import ClassNotFound
    options = {"stripnl": False, "ensurenl": False}
    try:
        if language:
            lexer = get_lexer_by_name(language, **options)
        else:
            kind = find_lexer_class_for_filename(path.rpartition("/")[2])
            if kind is None:
                return escape(shown)
            lexer = kind(**options)
    except ClassNotFound:
        return escape(shown)
    formatter = HtmlFormatter(nowrap=True, classprefix="hl-", lineseparator="\n")
    html = highlight(shown, lexer, formatter)
    # The formatter ends its last line.
    return Html(html if shown.endswith("\n") else html.removesuffix("\n"))


def _render_paragraphs(task: RenderTask) -> Html:
    """Return text with lines of its own: paragraphs between blank lines, with their line ends."""
    lines = task.text.split("\n")
    numbers = (index for index, line in enumerate(lines) if line.strip())
    return join(
        build_tag(
            "p",
            "\n".join(lines[begin:end]),
            **_describe_lines(task, task.first + begin, task.first + end - 1, "plain"),
            dir="auto",
        )
        for begin, end in group_lines(numbers)
    )


def _render_delimited(task: RenderTask) -> Html:
    """Return the rows of a file of values as a table; a cell may have several lines."""
    lines = task.text.split("\n")
    head = task.head or lines[0]
    delimiter = max(",;\t|", key=head.count)
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter)
    rows: list[_Row] = []
    done = 0
    try:
        header = next(csv.reader([head], delimiter=delimiter), [])
        for cells in reader:
            rows.append((task.first + done, task.first + reader.line_num - 1, cells))
            done = reader.line_num
    except csv.Error:  # a cell is too long, or there is a carriage return
        return _render_lines(task, lines)
    return _build_table(task, rows if task.head else rows[1:], header)


def _render_rows(task: RenderTask) -> Html:
    """Return the rows of sheets, each run of rows as a table."""
    lines = task.text.split("\n")
    found = []
    for begin, end in group_lines(index for index, line in enumerate(lines) if line.strip()):
        rows = [
            (task.first + index, task.first + index, _CELL_BORDER.split(lines[index]))
            for index in range(begin, end)
        ]
        found.append(_build_table(task, rows))
    return join(found)


_CELL_BORDER = re.compile(r"(?<!\\) \| ")
_Row: TypeAlias = tuple[int, int, Sequence[str]]
"""The first line of a row, its last line, and its cells."""


def _build_table(task: RenderTask, rows: Sequence[_Row], header: Sequence[str] = ()) -> Html:
    """Return a table that can be scrolled."""
    body = [
        build_tag(
            "tr",
            *(build_tag("td", cell.replace("\\|", "|"), dir="auto") for cell in cells),
            **_describe_lines(task, first, last),
        )
        for first, last, cells in rows
    ]
    names = (build_tag("th", cell, dir="auto", scope="col") for cell in header)
    head = build_tag("thead", build_tag("tr", *names)) if header else Html()
    table = build_tag("table", head, build_tag("tbody", *body))
    return build_tag("div", table, class_="table", tabindex="0", role="region", aria_label="Table")


_FRONT_MATTER = re.compile(r"---[ \t]*\n(.*?\n)?(?:---|\.\.\.)[ \t]*(?:\n|$)", re.DOTALL)


def _render_markdown(task: RenderTask, parser: "MarkdownIt") -> Html:
    """Return the blocks of Markdown with their lines."""
    text, first, front = replace_controls(task.text), task.first, Html()
    if first == 1 and task.media == MARKDOWN and (match := _FRONT_MATTER.match(text)):
        lines = match[0].count("\n")
        body = _highlight((match[1] or "").rstrip("\n"), "", "yaml")
        place = _describe_lines(task, 1, max(1, lines), "front")
        code = build_tag("pre", build_tag("code", body), dir="ltr", tabindex="0")
        is_open = task.passage.overlaps(1, max(1, lines))
        front = build_tag(
            "details", build_tag("summary", "Properties"), code, **place, open=is_open
        )
        text, first = text[match.end() :], first + lines
    if task.media not in _FULL_MARKDOWN:
        text = _LIST_DEPTH.sub(lambda match: match[0] * 2, text)
    tokens = parser.parse(text)
    anchors: dict[str, str] = {}
    for token, inside in pairwise([*tokens, None]):
        assert token is not None, "only the last one is missing"
        if style := token.attrs.pop("style", None):  # the policy of the page allows none
            token.attrs["class"] = f"align-{str(style).rpartition(':')[2]}"
        if not token.map or token.type not in _BLOCKS:
            continue
        begin = first + token.map[0]
        place = _describe_lines(task, begin, max(begin, first + token.map[1] - 1))
        is_item = token.type == "list_item_open"
        if not (
            is_item and inside is not None and not inside.hidden
        ):  # the paragraphs of a loose item are marked
            token.attrs = {"class": place["class_"]} if "class_" in place else {}
        token.attrs |= {"data-lines": place["data_lines"], "dir": "auto"}
        if token.type == "heading_open" and inside is not None:
            slug = _make_slug(inside.content)
            anchor = f"at-{begin}-{slug}".rstrip("-")
            anchors.setdefault(slug, anchor)
            token.attrs |= {"id": anchor, "data-line": str(begin)}
    for index, token in enumerate(tokens):
        if token.children:
            token.children = list(_rewrite(task, token.children, anchors))
            if index > 1 and tokens[index - 2].type == "blockquote_open":
                _build_callout(tokens[index - 2], token)
    html = parser.renderer.render(tokens, parser.options, {})
    return join((front, Html(replace_controls(html))))


_CALLOUT = re.compile(r"\[!(\w{1,20})\][+-]?\s*")


def _build_callout(quote: "Token", first: "Token") -> None:
    """Make a quotation a callout if its first line is one, such as `[!tip] Sharp tools`."""
    from markdown_it.token import Token

    parts = first.children or []
    match = _CALLOUT.match(parts[0].content) if parts and parts[0].type == "text" else None
    if match is None:
        return
    kind = match[1].lower()
    parts[0].content = parts[0].content[match.end() :]
    end = next((at for at, one in enumerate(parts) if one.type == "softbreak"), len(parts))
    title = [one for one in parts[:end] if one.type != "text" or one.content]
    if not title:
        title = [Token("text", "", 0, content=kind.capitalize())]
    opened = Token("strong_open", "strong", 1, attrs={"class": "callout-title"})
    first.children = [opened, *title, Token("strong_close", "strong", -1), *parts[end + 1 :]]
    quote.attrs["class"] = f"callout {kind}"


_LIST_DEPTH = re.compile(r"^(?:  )+(?=(?:[-*+]|\w{1,3}[.)]) )", re.MULTILINE)
"""The indentation of an item that `TextBuilder` wrote: two blanks a level, too few for Markdown."""


def _make_slug(title: str) -> str:
    return _NO_LETTERS.sub("-", title.casefold())[:60].strip("-")


_NO_LETTERS = re.compile(r"[\W_]+")
_TASK = re.compile(r"\[([ xX])\] ")


def _rewrite(
    task: RenderTask, tokens: Sequence["Token"], anchors: Mapping[str, str]
) -> Iterator["Token"]:
    """Yield the tokens of a line with safe links, pictures of the own folder, and signs of tasks.

    A link leads to another document of the knowledge base, to a heading, or out by `http`, `https`
    or `mailto`; any other is text.
    """
    for index, token in enumerate(tokens):
        if token.type == "link_open":
            attributes = _resolve_link(task, str(token.attrs.get("href", "")), anchors)
            title = str(token.attrs.get("title", ""))
            token.attrs = {**attributes, **({"title": title} if title else {})}
            token.tag = "a" if attributes else "span"
        elif token.type == "link_close":
            opened = next(one for one in reversed(tokens[:index]) if one.type == "link_open")
            token.tag = opened.tag
        elif token.type == "image":
            address = str(token.attrs.get("src", ""))
            path = unquote(address.partition("?")[0].partition("#")[0])
            is_safe = not (_SCHEME.match(path) or _UNSAFE.search(path.replace(" ", "")))
            is_own = is_safe and task.folder and locate_picture(*task.folder, path)
            source = f"/read/{quote(task.doc_id)}/image?src={quote(path)}"
            token.meta = {"src": source if is_own else None}
        elif token.type == "text" and not index and (match := _TASK.match(token.content)):
            token.content = ("☐ " if match[1] == " " else "☑ ") + token.content[match.end() :]
        yield token


_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")
_OUTSIDE = ("http://", "https://", "mailto:")
_UNSAFE = re.compile(r"[\x00-\x20\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\\]")


def _resolve_link(
    task: RenderTask, address: str, anchors: Mapping[str, str] = MappingProxyType({})
) -> dict[str, str | int | float]:
    """Return the attributes of a link, none for an address that is not linked."""
    links = task.links or {}
    if _UNSAFE.search(unquote(address)) and not links.get(unquote(address)):
        return {}
    if address.lower().startswith(_OUTSIDE):
        relation = "noopener noreferrer nofollow"
        return {"href": address, "rel": relation, "target": "_blank", "class": "outside"}
    if address.startswith("#"):
        anchor = anchors.get(_make_slug(unquote(address[1:])))
        return {"href": f"#{anchor}"} if anchor else {}
    if _SCHEME.match(address) or address.startswith("//"):
        return {}
    whole, bare = unquote(address), unquote(address.partition("#")[0])
    doc_id = links.get(whole) or links.get(bare)
    if not doc_id:
        return {}
    return {"href": f"/?doc={quote(doc_id)}", "class": "inside", "data-doc": doc_id}


_SUFFIXES = {".png", ".jpg", ".jpeg", ".gif", ".webp"}
"""What is shown as a picture; SVG is not, because it may hold scripts."""


def is_picture(name: str) -> bool:
    """Return whether the name of a file is that of a picture."""
    return PurePosixPath(name).suffix.lower() in _SUFFIXES


def locate_picture(file: str, root: str, source: str) -> Path | None:
    """Return the file of a picture that a document names, None unless it lies in the folder."""
    if not is_picture(source) or "\0" in source or PurePosixPath(source).is_absolute():
        return None
    try:
        place = Path(file).parent.joinpath(source).resolve(strict=True)
        inside = place.is_relative_to(Path(root).resolve(strict=True)) and place.is_file()
    except (OSError, ValueError, RuntimeError):
        return None
    return place if inside and is_picture(place.name) else None


def _render_image(_: object, tokens: Sequence["Token"], index: int, *__: object) -> str:
    """Return a picture, or what its author says about it with its address."""
    token = tokens[index]
    text = token.content or ""
    source = token.meta.get("src")
    if source:
        return build_tag("img", src=source, alt=text, loading="lazy", decoding="async")
    address = str(token.attrs.get("src", ""))
    return build_tag("span", f"{text} ({address})" if text else address, class_="picture")


def _render_code(_: object, tokens: Sequence["Token"], index: int, *__: object) -> str:
    """Return a block of code of Markdown."""
    token = tokens[index]
    language = (token.info.split() or [""])[0] if token.type == "fence" else ""
    code = _highlight(token.content.removesuffix("\n"), "", language)
    attributes = {name.replace("-", "_"): str(value) for name, value in token.attrs.items()}
    attributes["dir"] = "ltr"
    if "class" in attributes:
        attributes = {"class_": attributes.pop("class"), **attributes}
    return build_tag("pre", build_tag("code", code), **attributes, tabindex="0") + "\n"


_WIKILINK = re.compile(r"!?\[\[([^\[\]|\n]{1,300})(?:\|([^\[\]\n]{1,300}))?\]\]")


def _read_wikilink(state: "StateInline", silent: bool) -> bool:  # noqa: FBT001 - the parser calls it
    """Read `[[Note|text]]`, which becomes a link, or `![[loaf.png]]`, which becomes a picture."""
    match = _WIKILINK.match(state.src, state.pos, state.posMax)
    if match is None or state.linkLevel:  # links hold no links
        return False
    target = match[1].strip()
    if not silent and match[0][0] == "!" and is_picture(target):
        token = state.push("image", "img", 0)
        token.attrs, token.content = {"src": target}, (match[2] or target).strip()
    elif not silent:
        token = state.push("link_open", "a", 1)
        token.attrs = {"href": target}
        shown = match[2] or target.strip("#").replace("#", " › ")
        state.push("text", "", 0).content = shown.strip()
        state.push("link_close", "a", -1)
    state.pos = match.end()
    return True


_HIGHLIGHT = re.compile(r"==(?=\S)([^=\n]{1,1000})(?<=\S)==")


def _read_highlight(state: "StateInline", silent: bool) -> bool:  # noqa: FBT001 - the parser calls it
    """Read `==text==`, which its author marked."""
    match = _HIGHLIGHT.match(state.src, state.pos, state.posMax)
    if match is None:
        return False
    if not silent:
        state.push("written_open", "mark", 1).attrs = {"class": "written"}
        state.push("text", "", 0).content = match[1]
        state.push("written_close", "mark", -1)
    state.pos = match.end()
    return True


@cache
def _build_full_parser() -> "MarkdownIt":
    """Return the parser of Markdown that people write."""
    parser = _build_parser("commonmark")
    parser.enable(["table", "strikethrough"])
    parser.disable(["html_block", "html_inline"])
    parser.inline.ruler.before("link", "wikilink", _read_wikilink)
    parser.inline.ruler.before("link", "highlight", _read_highlight)
    return parser


@cache
def _build_block_parser() -> "MarkdownIt":
    """Return the parser of the blocks that `kebab.parse.blocks.TextBuilder` writes."""
    parser = _build_parser("zero")
    parser.enable(["heading", "fence", "list", "table", "blockquote", "newline"])
    return parser


def _build_parser(preset: str) -> "MarkdownIt":
    with translate_import_errors("rendering Markdown", "markdown-it-py"):
        from markdown_it import MarkdownIt

    options = {"html": False, "linkify": False, "breaks": preset == "zero", "maxNesting": 50}
    parser = MarkdownIt(preset, options)
    setattr(parser, "validateLink", bool)  # noqa: B010 - `_resolve_link` decides
    for name, rule in _RULES.items():
        parser.add_render_rule(name, rule)
    return parser


_RULES: Mapping[str, Callable[..., str]] = {
    "fence": _render_code,
    "code_block": _render_code,
    "image": _render_image,
    "table_open": lambda *_: (
        '<div class="table" tabindex="0" role="region" aria-label="Table"><table>\n'
    ),
    "table_close": lambda *_: "</table></div>\n",
}
