"""Decodes HTML, parses it into a tree, and finds in it the metadata and what is no content.

The content is handed on as the HTML that the parser serialises: every element has its end tag,
and text and attributes have no stray angle brackets, so that it can be read in one linear pass.
"""

import codecs
import json
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from html import escape
from itertools import accumulate
from typing import TYPE_CHECKING

from kebab.core.documents import Metadata
from kebab.errors.system import translate_import_errors
from kebab.parse.blocks import TextBuilder
from kebab.parse.encoding import Decoded, decode, normalize_text
from kebab.parse.metadata import list_unique, read_language, split_authors, split_keywords
from kebab.text.dates import parse_date
from kebab.text.normalize import load_words, split_names

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_DECLARATION = re.compile(
    rb"<meta\b[^>]{0,500}?\bcharset\s*=\s*[\"']?\s*([\w.:-]{1,40})"
    rb"|<\?xml\b[^>]{0,200}?\bencoding\s*=\s*[\"']\s*([\w.:-]{1,40})",
    re.IGNORECASE,
)
_BOMS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_CODECS = {
    **dict.fromkeys(("ascii", "iso8859-1"), "cp1252"),
    **dict.fromkeys(("gb2312", "gbk"), "gb18030"),
    **dict.fromkeys(("iso8859-11", "tis-620"), "cp874"),
    "euc_kr": "cp949",
    "iso8859-9": "cp1254",
    "shift_jis": "cp932",
}
"""The codecs that browsers use in place of those that pages name, as the Encoding Standard says."""

_ALIASES = {"windows-949": "cp949", "windows-31j": "cp932"}
"""Names of encodings on the web that Python does not know."""

_TEXT_CODEC = re.compile(
    "utf-[78]|ascii|cp\\d+|iso8859-\\d+|iso2022_\\w+|euc_\\w+|shift_\\w+|gb\\w+|hz|big5\\w*|johab"
    "|koi8-\\w|mac-\\w+|tis-620"
)

_BROKEN_SHARE = 0.005
"""The largest share of characters that the declared encoding may fail to decode."""


def decode_html(data: bytes) -> Decoded:
    """Return the text of an HTML file.

    A page that is valid UTF-8 is UTF-8, whatever it says, because saved pages are often converted
    without a change of their declaration.
    """
    is_marked = data.startswith(_BOMS) or b"\0" in data
    found = None if is_marked else _DECLARATION.search(data[:4_096])
    return decode_as(data, (found[1] or found[2]).decode("ascii", "replace") if found else "")


def find_codec(label: str) -> str:
    """Return the codec of a name of an encoding, empty when there is none for text."""
    lower = label.strip().lower().removeprefix("x-")
    for known in (_ALIASES.get(lower, lower), lower.replace("-", "")):
        with suppress(LookupError, ValueError):
            name = codecs.lookup(known).name
            return _CODECS.get(name, name) if _TEXT_CODEC.fullmatch(name) else ""
    return ""


def decode_as(data: bytes, label: str, detect: Callable[[bytes], Decoded] = decode) -> Decoded:
    """Return a text in UTF-8 where it is that, else in the encoding of a label, else as detected.

    Raises:
        ParseFailed: The bytes are no text.
    """
    codec = find_codec(label)
    with suppress(UnicodeDecodeError):
        codec = codec if data.isascii() else data.decode() and "utf-8"
    plain = data.removeprefix(codecs.BOM_UTF8)
    return (decode_declared(plain, codec) if codec else None) or detect(data)


def decode_declared(data: bytes, codec: str) -> Decoded | None:
    """Return the text in the declared codec, None when it does not fit the bytes."""
    text = data.decode(codec, "replace")
    lost = text.count("\ufffd")
    if lost > _BROKEN_SHARE * len(text):
        # Text in another encoding has hardly a character that is valid in UTF-8.
        others = sum(char > "\x7f" for char in text) - lost
        if codec != "utf-8" or lost > others:
            return None
    warnings = (f"characters that are not {codec} were replaced: {lost}",) if lost else ()
    return Decoded(normalize_text(text), codec, warnings)


DROP = "data-kebab-drop"
"""The attribute that marks the elements that are no content."""

_MAX_DEPTH = 5_000
"""The deepest nesting that is parsed; the time of the parser grows with its square."""

_NESTING_TAG = re.compile(
    "<(/?)(?!(?:area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr|p|li|dt|dd|tr"
    "|td|th|option|thead|tbody|tfoot|colgroup)[\\s/>])[a-zA-Z][^<>]*(?<!/)>"
)
"""Tags of elements but those without an end tag, or that end where the next of a kind begins."""

_TAG = re.compile(r"<[^<>]*>")
_HEAD = 2_000
_XHTML = re.compile("<\\?xml|<html[^>]{0,200} xmlns=", re.IGNORECASE)
_EMPTY_ELEMENT = re.compile(
    r"<((?!(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)\b)[A-Za-z][\w:.-]*+)"
    r"(?:\s[^>]*)?",
    re.IGNORECASE,
)

_TEMPLATE = re.compile(r"<(/?)template\b")
_CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
_RAW = re.compile(
    r"<(script|style|iframe|noembed|noframes|xmp|plaintext)\b[^>]*>.*?</\1>|<!--.*?-->", re.DOTALL
)
_NOSCRIPT = re.compile(r"<(/?)noscript>")

_HIDDEN = {
    "hidden": '[hidden],[aria-hidden="true"]',
    "<dialog": "dialog:not([open])",
    "display:none": '[style*="display:none"]',
    "display: none": '[style*="display: none"]',
    "visibility:hidden": '[style*="visibility:hidden"]',
    "visibility: hidden": '[style*="visibility: hidden"]',
    "mso-hide:all": '[style*="mso-hide:all"]',
}
"""By a text that such a page contains, the selectors of hidden elements."""

_HIDDEN_SHARE = 0.5
"""The largest share of the text that is left out as hidden, or as for browsers without scripts."""

_PANEL = re.compile(r"tab|panel|pane\b|accordion|collaps|answer|spoiler|detail", re.IGNORECASE)
_UNSHOWN = ("alt", "title", "aria-label", "placeholder", "value", "label", "srcdoc", "tags")
"""The attributes with words of people that are not read."""
_LABELLED = (
    '[title],[aria-label],[placeholder],input[value],[label],[srcdoc],a[href^="http"]'
    ',a[href^="mailto:"],area[alt],input[alt],a[tags]'
)
_SCRIPT_TEXT = re.compile(
    r'"(?:@\w+|query-input)"\s*:\s*"[^"]*"|"((?:[^"\\]|\\.)*+)"\s*(:?)', re.DOTALL
)
_DESCRIPTION = ",".join(
    f'meta[{kind}*="{name}" i][content]'
    for kind in ("name", "property")
    for name in ("description", "abstract", "subject", "section", "publisher", "site_name")
)
_RAW_TEXT = "iframe,noembed,noframes,xmp,plaintext"
"""Elements whose text is not that of HTML, and is not read."""
_MAX_SCRIPTS, _MAX_SCRIPT_CHARS = 20, 100_000
_FEWEST_CHARS = 20
"""The least text beside links that makes an element worth reading."""

_PARTS = "script,style,noscript,template,svg,nav,header,footer,aside,main,article,[role]"
_NAVIGATION = split_names("nav role=navigation role=search role=menu role=dialog role=alertdialog")
_AROUND = split_names("header footer aside role=banner role=contentinfo role=complementary")
_NO_TEXT = split_names("script style noscript template svg") | _NAVIGATION | _AROUND
_MAX_CHECKED = 2_000
"""The most elements whose size is measured, which takes time for nested ones."""


class Page:
    """A parsed page."""

    def __init__(self, text: str) -> None:
        """Parse a page.

        Raises:
            DependencyMissing: The HTML parser is not installed.
            ValueError: The HTML parser refuses the page, or its elements are nested too deeply.
        """
        if _is_too_deep(text):
            raise ValueError(f"elements are nested more than {_MAX_DEPTH:,} levels deep")
        with translate_import_errors("reading HTML", "selectolax"):
            from selectolax.lexbor import LexborHTMLParser, SelectolaxError

        text = _close_elements(text) if _XHTML.search(text, 0, _HEAD) else text
        # The content of a web component, in a saved page.
        text = _TEMPLATE.sub(r"<\1div", text) if "<template shadowroot" in text else text
        try:
            self.tree: LexborHTMLParser = LexborHTMLParser(text)
        except SelectolaxError as fault:
            raise ValueError(str(fault)) from fault
        self.omissions: dict[str, str] = {}
        """What is not read of the page: its texts by what they are."""
        self._text = text
        self._body = self.tree.body
        self._parts = [] if self._body is None else _list_nodes(self._body, _PARTS)
        size = 0 if self._body is None else _measure(self._body)
        around = [node for node in self._parts if _has_kind(node, _NO_TEXT)]
        # What has most of the text beside links is content, whatever its tag says.
        main = {
            node.mem_id
            for node in around[:_MAX_CHECKED]
            if len(node.text()) * 2 > size and (_measure(node) - _measure_links(node)) * 2 > size
        }
        self._around = [node for node in around if node.mem_id not in main]
        frames = (one for one in self._around if _has_kind(one, _NAVIGATION | _AROUND))
        left_out = sum(map(_measure, _list_outermost(frames)))
        self.size = max(0, size - left_out)
        """The code points of the text outside scripts, styles and navigation."""

    def leave_out(self, builder: TextBuilder, *, is_part: bool = False) -> None:
        """Tell a builder what is not read of the page, which is one of many if it `is_part`."""
        for reason, text in self.omissions.items():
            builder.leave_out(reason, text)
        for reason, texts in (
            ("labels and addresses of elements", self._list_labels()),
            ("data in scripts", self._list_script_texts()),
        ):
            if is_part:  # to look for the words of each in the whole text takes long
                builder.leave_out(reason, " ".join(texts))
            else:
                builder.leave_out_unknown(reason, texts)

    def _list_labels(self) -> Iterator[str]:
        """Yield what the attributes of the content say, and the text that is not that of HTML.

        Addresses are those of other sites, without their queries.
        """
        skipped = _list_outermost([*self._around, *self.tree.css(f"[{DROP}]")][:_MAX_CHECKED])
        ignored = {one.mem_id for node in skipped for one in node.css(_LABELLED)}
        nodes = [] if self._body is None else _list_nodes(self._body, _LABELLED)
        named = self.tree.css_first('link[rel="canonical"][href*="//"]')
        site = "/".join((named.attributes["href"] or "").split("/")[:3]) if named else " "
        for node in nodes:
            if node.mem_id not in ignored:
                attributes = node.attributes
                yield from (_TAG.sub(" ", attributes.get(name) or "") for name in _UNSHOWN)
                address = (attributes.get("href") or "").partition("?")[0]
                yield address if ":" in address and not address.startswith(site) else ""
        yield from (node.attributes["content"] or "" for node in self.tree.css(_DESCRIPTION))
        yield from (_TAG.sub(" ", node.text()) for node in self.tree.css(_RAW_TEXT))

    def _list_script_texts(self) -> Iterator[str]:
        """Yield the values of data in scripts that are words, and no addresses."""
        for script in self.tree.css('script[type$="json"]')[:_MAX_SCRIPTS]:
            for text, is_key in _SCRIPT_TEXT.findall(script.text()[:_MAX_SCRIPT_CHARS]):
                if not is_key and (" " in text or text.isalpha()):
                    with suppress(ValueError):
                        yield _TAG.sub(" ", json.loads(f'"{text}"', strict=False))

    def extract_content(self) -> str:
        """Return the content as HTML, with the elements marked that are not to be read.

        These are hidden elements, navigation, and headers, footers and the like that say nothing
        beside their links. Their text is among the omissions.
        """
        if self._body is None:
            return ""
        self._mark_hidden(self._body)
        navigation = (node for node in self._around if _has_kind(node, _NAVIGATION))
        self._omit("navigation", _list_outermost(navigation))
        inside = self._body.css("article header,article footer,article aside")
        read = {node.mem_id for node in inside}
        around = (n for n in self._around if _has_kind(n, _AROUND) and n.mem_id not in read)
        beside = self._list_beside()
        for what, nodes in (("headers and footers", around), ("text beside the content", beside)):
            self._omit(what, _list_outermost(nodes, self._is_informative))
        return self._write(self._body)

    def _list_beside(self) -> Iterator["LexborNode"]:
        """Yield the elements beside the main one, the longest of its kind, and those around it."""
        nodes = [node for node in self._parts if _has_kind(node, {"main", "role=main"})]
        nodes = nodes or [node for node in self._parts if node.tag == "article"]
        node = max(nodes[:_MAX_CHECKED], key=lambda one: len(one.text()), default=None)
        while node is not None and node.tag != "body" and node.parent is not None:
            for one in node.parent.iter():
                if one.mem_id != node.mem_id and one.is_element_node and _measure(one):
                    yield one
            node = node.parent

    def _omit(self, what: str, nodes: "list[LexborNode]") -> None:
        """Mark elements that are not read, and keep their text as an omission."""
        for node in nodes:
            node.attrs[DROP] = ""
        if text := " ".join(node.text(separator=" ") for node in nodes).strip():
            self.omissions[what] = f"{self.omissions.get(what, '')} {text}".strip()

    def _is_informative(self, node: "LexborNode") -> bool:
        """Return whether an element has a title, or is mostly, and some words, no links."""
        if node.css_first("h1") is not None and node.css_first("nav") is None:
            return True
        text = " ".join(node.text(separator=" ").split())
        links = _measure_links(node)
        return len(text) - links >= max(_FEWEST_CHARS, links)

    def extract_body(self, *, hidden: bool = True) -> str:
        """Return the whole body as HTML; without `hidden` the hidden elements are marked."""
        if self._body is None:
            return ""
        if not hidden:
            self._mark_hidden(self._body)
        return self._write(self._body, marked=not hidden)

    def _write(self, body: "LexborNode", *, marked: bool = True) -> str:
        """Return the body as HTML, with what is for browsers without scripts if it is long."""
        html = _serialise(body, marked=marked)
        others = (node for node in self._parts if node.tag == "noscript")
        is_long = sum(len(node.text().strip()) for node in others) > _HIDDEN_SHARE * self.size
        return _NOSCRIPT.sub(r"<\1div>", html) if is_long else html

    def _mark_hidden(self, body: "LexborNode") -> None:
        present = ",".join(_HIDDEN[text] for text in _HIDDEN if text in self._text)
        nodes = _list_nodes(body, present)[:_MAX_CHECKED] if present else ()
        hidden = _list_outermost(nodes, self._is_panel)
        # A script shows what has more text than all else.
        if sum(map(_measure, hidden)) <= _HIDDEN_SHARE * self.size:
            self._omit("hidden elements", hidden)

    def _is_panel(self, node: "LexborNode") -> bool:
        """Return whether a hidden element is a part of the content that a click shows."""
        names = " ".join(node.attributes.get(name) or "" for name in ("role", "class", "id"))
        is_named = _PANEL.search(names) is not None and not _has_kind(node, _NAVIGATION)
        return is_named and self._is_informative(node)


def _close_elements(text: str) -> str:
    """Return XHTML with an end tag behind each empty element, and text for sections of text."""
    if "<![CDATA[" in text:
        text = _CDATA.sub(lambda section: escape(section[1], quote=False), text)
    *parts, tail = text.split("/>")
    for number, part in enumerate(parts):
        start = part.rfind("<")
        found = _EMPTY_ELEMENT.fullmatch(part, start) if start >= 0 else None
        parts[number] = f"{part}></{found[1]}>" if found else f"{part}/>"
    return "".join([*parts, tail])


def _is_too_deep(text: str) -> bool:
    """Return whether elements are nested more deeply than the parser reads in linear time."""
    tags = _NESTING_TAG.findall(text) if text.count("<") > _MAX_DEPTH else ()
    steps = (-1 if end else 1 for end in tags)
    return any(depth > _MAX_DEPTH for depth in accumulate(steps, lambda *two: max(0, sum(two))))


def _list_nodes(root: "LexborNode", selector: str) -> "list[LexborNode]":
    """Return the elements that match, each once, in order."""
    return list({node.mem_id: node for node in root.css(selector)}.values())


def _list_outermost(
    nodes: "Iterable[LexborNode]", is_kept: "Callable[[LexborNode], bool]" = lambda _: False
) -> "list[LexborNode]":
    """Return the elements in order but those that are kept, or are within one before them."""
    outer: list[LexborNode] = []
    inner: set[int] = set()
    for node in nodes:
        if node.mem_id not in inner and not is_kept(node):
            outer.append(node)
            inner.update(one.mem_id for one in node.css("*"))
    return outer


def _measure_links(node: "LexborNode") -> int:
    return sum(map(_measure, _list_outermost(node.css("a,button,option,nav"))))


def _measure(node: "LexborNode") -> int:
    """Return the length of the text of an element without scripts and the like."""
    raw = sum(len(one.text()) for one in node.css("script,style,noscript,template,svg"))
    return max(0, len(node.text()) - raw)


def _has_kind(node: "LexborNode", kinds: Collection[str]) -> bool:
    """Return whether the tag of an element, or its role as `role=name`, is one of `kinds`."""
    return node.tag in kinds or f"role={node.attributes.get('role')}" in kinds


def _serialise(node: "LexborNode", *, marked: bool = True) -> str:
    """Return the HTML of an element without comments and elements with other content than HTML."""
    html = node.html or ""
    return _RAW.sub("", html if marked else html.replace(f' {DROP}=""', ""))


NOT_CONTENT, VOID, BLOCKS, _FURNITURE = map(split_names, load_words("html_names").values())
"""The elements that are never read; those without an end tag; those that begin and end paragraphs,
and mean no more. Classes and ids of page furniture, and of requests for consent to cookies."""

_KEPT = split_names("article body h1 h2 h3 h4 h5 h6 main section table")


def is_left_out(name: str, tag: str) -> bool:
    """Return whether an element is marked, or is by its class no content of a page."""
    if name in VOID:
        return False
    if DROP in tag:
        return True
    if name in _KEPT:
        return False
    names = get_attribute(tag, "class").split()
    if name not in {"dt", "span"} and "section" not in names:  # whose ids are those of headings
        names.append(get_attribute(tag, "id").lower())
    return not _FURNITURE.isdisjoint(names)


def get_attribute(tag: str, name: str) -> str:
    """Return an attribute of a serialised tag as it is written, empty without it."""
    start = tag.find(f' {name}="')
    return tag[start + len(name) + 3 :].partition('"')[0] if start >= 0 else ""


_AUTHORS = ("author", "article:author", "dc.creator", "dcterms.creator", "citation_author")
_DATES = (
    *("article:published_time", "dc.date", "dcterms.date", "dcterms.created", "dc.date.issued"),
    *("citation_publication_date", "date", "pubdate", "publish_date", "created", "changed"),
)
_KEYWORDS = ("keywords", "article:tag")
_MAX_KEYWORDS = 20
_MAX_KEYWORD_CHARS = 40
_MAX_AUTHORS = 10
_MAX_AUTHOR_CHARS = 100
_SEPARATOR = re.compile(r"(?<!\s)\s*+(?:(?<=\s)[-–—·:•]\s+|[|»«]\s*)|(?<=\S): ")
_PLACEHOLDERS = frozenset({"untitled", "untitled document", "document", "new page", "index"})
_JSON_DATE = re.compile(r'"datePublished"\s*:\s*"([^"]{8,40})"')


def read_metadata(tree: "LexborHTMLParser") -> Metadata:
    """Return the metadata of a page."""
    named: defaultdict[str, list[str]] = defaultdict(list)
    # Everything but the head is large, and declares nothing.
    for node in tree.head.css("meta[content]") if tree.head is not None else ():
        attributes = node.attributes
        name = attributes.get("name") or attributes.get("property") or attributes.get("itemprop")
        content = " ".join((attributes.get("content") or "").split())
        if name and content:
            named[name.strip().lower()].append(content)

    def list_values(names: tuple[str, ...]) -> list[str]:
        return [content for name in names for content in named[name]]

    keywords = (one for text in list_values(_KEYWORDS) for one in split_keywords(text))
    declared = [
        node.attributes.get(name)
        for node in (tree.root, tree.body)
        if node is not None
        for name in ("lang", "xml:lang")
    ]
    candidates = list_values(_DATES)
    html = tree.raw_html or b""
    if not candidates and b"datePublished" in html:
        for script in tree.css('script[type="application/ld+json"]')[:5]:
            candidates += _JSON_DATE.findall(script.text())
    if not candidates and b"<time" in html:
        times = tree.css("time[datetime]")[:1]
        candidates += [node.attributes.get("datetime") or "" for node in times]
    return Metadata(
        title=_find_title(tree, named["og:title"]) or None,
        tags=list_unique(keyword for keyword in keywords if len(keyword) <= _MAX_KEYWORD_CHARS)[
            :_MAX_KEYWORDS
        ],
        lang=next(filter(None, map(read_language, [*declared, *named["dc.language"]])), None),
        authors=list_unique(
            author
            for text in list_values(_AUTHORS)
            for author in split_authors(text)
            if len(author) <= _MAX_AUTHOR_CHARS and "://" not in author
        )[:_MAX_AUTHORS],
        date=next(filter(None, map(parse_date, candidates)), None),
    )


def shorten_title(title: str, headings: Iterable[str]) -> str:
    """Return the part of a title that is a heading of the page, without the name of the site."""
    parts = [part.casefold() for part in _SEPARATOR.split(title) if part]
    for heading in headings:
        folded = heading.casefold()
        if len(parts) > 1 and folded and (folded in parts or title.casefold().startswith(folded)):
            return heading
    return title


def _find_title(tree: "LexborHTMLParser", others: list[str]) -> str:
    """Return the declared title; one that names no page is none."""
    node = tree.head.css_first("title") if tree.head is not None else None
    title = " ".join(str(node.text()).split()) if node is not None else ""
    if not title or title.lower() in _PLACEHOLDERS:
        return others[0] if others else ""
    return shorten_title(title, others)
