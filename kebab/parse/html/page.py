"""Parses HTML into a tree, and finds in it the main content of the page.

The content is handed on as the HTML that the parser serialises: every element has its end tag,
and text and attributes have no stray angle brackets, so that it can be read in one linear pass.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from operator import itemgetter
from typing import TYPE_CHECKING

from kebab.errors.system import translate_import_errors

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

DROP = "data-kebab-drop"
"""The attribute that marks the elements that are no content."""

MAX_DEPTH = 5_000
"""The deepest nesting that is parsed; the time of the parser grows with its square."""

_SLICE = 16_384
_TAG = re.compile(r"<(/?)([a-zA-Z]+)")
_NEVER_DEEP = (
    "area base br col embed hr img input link meta param source track wbr p"
    " li dt dd tr td th option thead tbody tfoot colgroup path line circle rect polygon"
)
"""Elements without an end tag, and those that end where the next of their kind begins."""

_HEAD = 2_000
_XHTML = re.compile("<\\?xml|<html[^>]{0,200} xmlns=", re.IGNORECASE)
_EMPTY_ELEMENT = re.compile(
    r"<((?!(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)\b)[A-Za-z][\w:.-]*)"
    r"(\s[^<>]*)?/>",
    re.IGNORECASE,
)

_RAW = re.compile(
    r"<(script|style|iframe|noembed|noframes|xmp|plaintext)\b[^>]*>.*?</\1>|<!--.*?-->", re.DOTALL
)
_HAS_RAW = re.compile("<(?:!--|script|style|iframe|noembed|noframes|xmp|plaintext)")

_MAIN = "main,[role=main],article,[role=article]"
_MAIN_SHARE = 0.25
"""The least share of the visible text in a main element that is believed."""

_HIDDEN = {
    "hidden": '[hidden],[aria-hidden="true"]',
    "display:none": '[style*="display:none"]',
    "display: none": '[style*="display: none"]',
    "visibility:hidden": '[style*="visibility:hidden"]',
    "visibility: hidden": '[style*="visibility: hidden"]',
    "mso-hide:all": '[style*="mso-hide:all"]',
}
"""By a text that such a page contains, the selectors of hidden elements."""

_HIDDEN_SHARE = 0.5
"""The largest share of the text that is left out as hidden; scripts show more than that."""

_NAVIGATION = "nav,[role=navigation],[role=search],[role=menu]"
_AROUND = "header,footer,aside,[role=banner],[role=contentinfo],[role=complementary]"
_NAVIGATION_KINDS = frozenset({"nav", "navigation", "search", "menu"})
_PAGE_KINDS = frozenset({"header", "footer", "aside", "banner", "contentinfo", "complementary"})
_NO_TEXT = f"script,style,noscript,template,svg,{_NAVIGATION},{_AROUND}"
_SMALL = {
    "<form": "form",
    "dialog": "[role=dialog],[role=alertdialog]",
    "cookie": "[class*=cookie],[id*=cookie]",
    "consent": "[class*=consent],[id*=consent]",
    "gdpr": "[class*=gdpr],[id*=gdpr]",
    "onetrust": "[class*=onetrust],[id*=onetrust]",
}
"""By a text that such a page contains, the selectors of forms and requests for consent."""

_FORM_CHARS = 300
_BANNER_CHARS = 3_000
_BANNER = re.compile(
    "(?:cookie|consent|gdpr|onetrust).{0,20}(?:banner|bar|notice|notification|popup|pop-up|modal|dialog"
    "|overlay|law|message|wall|manager|sdk|alert|box|prompt|container|bottom|disclaimer|root)",
    re.IGNORECASE,
)
_NEVER_SMALL = frozenset({"html", "body", "main", "article", "section"})
_MAX_CHECKED = 2_000
"""The most elements whose size is measured, which takes time for nested ones."""


class Page:
    """A parsed page."""

    def __init__(self, text: str) -> None:
        """Parse a page.

        Raises:
            DependencyMissing: The HTML parser is not installed.
            ValueError: The HTML parser refuses the page.
        """
        with translate_import_errors("reading HTML", "selectolax"):
            from selectolax.lexbor import LexborHTMLParser, SelectolaxError

        text = _expand_empty_elements(text) if _XHTML.search(text, 0, _HEAD) else text
        try:
            self.tree: LexborHTMLParser = LexborHTMLParser(text)
        except SelectolaxError as fault:
            raise ValueError(str(fault)) from fault
        self._text = text
        self._body = self.tree.body
        self._around: list[LexborNode] = []
        self.size = 0
        """The code points of the text outside scripts, styles and navigation."""
        if self._body is not None:
            self._around = _list_nodes(self._body, _NO_TEXT)
            left_out = sum(len(node.text()) for node in self._around[:_MAX_CHECKED])
            self.size = max(0, len(self._body.text()) - left_out)

    def extract_content(self) -> str:
        """Return the main content as HTML, with the elements marked that are not to be read."""
        if self._body is None:
            return ""
        self._mark_hidden(self._body)
        self._mark_banners(self._body)
        root = self._find_main(self._body)
        _mark([node for node in self._around if _has_kind(node, _NAVIGATION_KINDS)])
        if root is None:
            _mark(self._list_page_parts(self._body))
        return _serialise(root or self._body)

    def extract_whole(self) -> str:
        """Return the body as HTML, with hidden elements marked."""
        if self._body is None:
            return ""
        self._mark_hidden(self._body)
        return _serialise(self._body)

    def extract_body(self) -> str:
        """Return the whole body as HTML, without marks."""
        if self._body is None:
            return ""
        return _serialise(self._body).replace(f' {DROP}=""', "")

    def _mark_hidden(self, body: "LexborNode") -> None:
        for node in self._list_present(body, _HIDDEN)[:_MAX_CHECKED]:
            if len(node.text()) <= _HIDDEN_SHARE * self.size:
                _mark([node])

    def _mark_banners(self, body: "LexborNode") -> None:
        """Mark short forms and the requests for consent."""
        for node in self._list_present(body, _SMALL)[:_MAX_CHECKED]:
            attributes = node.attributes
            names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}"
            if node.tag in _NEVER_SMALL or "section" in names.split():
                continue
            is_banner = (attributes.get("role") or "").endswith("dialog") or _BANNER.search(names)
            limit = _BANNER_CHARS if is_banner else _FORM_CHARS if node.tag == "form" else 0
            if limit and len(node.text()) <= limit:
                _mark([node])

    def _list_present(self, body: "LexborNode", selectors: Mapping[str, str]) -> "list[LexborNode]":
        """Return the elements of the selectors whose text occurs in the page."""
        present = ",".join(selectors[text] for text in selectors if text in self._text)
        return _list_nodes(body, present) if present else []

    def _find_main(self, body: "LexborNode") -> "LexborNode | None":
        """Return the element with the main content, None when it is the body."""
        nodes = _list_nodes(body, _MAIN)[:_MAX_CHECKED]
        for kind in ("main", "article"):
            sizes = [(len(node.text()), node) for node in nodes if _has_kind(node, {kind})]
            size, best = max(sizes, key=itemgetter(0), default=(0, None))
            if best is not None and size >= _MAIN_SHARE * self.size:
                return best
        return None

    def _list_page_parts(self, body: "LexborNode") -> "list[LexborNode]":
        """Return headers, footers and asides but for those of articles and headers with a title."""
        inside = {node.mem_id for node in body.css("article header,article footer,article aside")}
        return [
            node
            for node in self._around
            if _has_kind(node, _PAGE_KINDS)
            and node.mem_id not in inside
            and not (node.tag == "header" and node.css_first("h1") and not node.css_first("nav"))
        ]


def is_too_deep(text: str) -> bool:
    """Return whether elements are nested more deeply than the parser reads in linear time."""
    surplus = 0
    for start in range(0, len(text), _SLICE):
        part = text[start : start + _SLICE]
        surplus = max(0, surplus + part.count("<") - 2 * part.count("</"))
        if surplus > MAX_DEPTH:
            return _count_depth(text) > MAX_DEPTH
    return False


def _count_depth(text: str) -> int:
    """Return the greatest surplus of start tags over end tags."""
    depth = deepest = 0
    never_deep = frozenset(_NEVER_DEEP.split())
    for end, name in _TAG.findall(text):
        if name.lower() not in never_deep:
            depth = max(0, depth - 1) if end else depth + 1
            deepest = max(deepest, depth)
    return deepest


def _expand_empty_elements(text: str) -> str:
    """Return XHTML with an end tag for elements such as `<title/>`, which are open in HTML."""
    return _EMPTY_ELEMENT.sub(r"<\1\2></\1>", text)


def _list_nodes(root: "LexborNode", selector: str) -> "list[LexborNode]":
    """Return the elements that match, each once, in order."""
    return list({node.mem_id: node for node in root.css(selector)}.values())


def _has_kind(node: "LexborNode", kinds: Collection[str]) -> bool:
    """Return whether the tag or the role of an element is one of `kinds`."""
    return node.tag in kinds or (node.attributes.get("role") or "") in kinds


def _mark(nodes: "list[LexborNode]") -> None:
    for node in nodes:
        node.attrs[DROP] = ""


def _serialise(node: "LexborNode") -> str:
    """Return the HTML of an element without comments and elements with other content than HTML."""
    html = node.html or ""
    return _RAW.sub("", html) if _HAS_RAW.search(html) else html


def slice_tags(html: str, size: int = 1 << 20) -> Iterator[str]:
    """Yield serialised HTML in parts that end before a tag."""
    start = 0
    while start < len(html):
        end = html.find("<", min(start + size, len(html)))
        end = len(html) if end < 0 else end
        yield html[start:end]
        start = end
