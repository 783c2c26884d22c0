"""Declares the elements that are blocks, and those that are no content."""

from kebab.parse.html.page import DROP

_NOT_CONTENT_NAMES = (
    "audio button canvas colgroup datalist head map meter noscript object option progress"
    " rp rt select svg template textarea title video"
)
_VOID_NAMES = "area base br col embed hr img input link meta source track wbr"
_BLOCK_NAMES = (
    "address article aside body caption center dd details dialog dir div fieldset"
    " figcaption figure footer form header hgroup hr legend main menu nav optgroup p"
    " search section summary tbody tfoot thead"
)
_KEPT_NAMES = "article body h1 h2 h3 h4 h5 h6 main section table"
_JUNK_CLASS_NAMES = (
    "addtoany_share_save_container breadcrumb breadcrumbs footnote-back hash-link header-anchor"
    " headerlink heading-anchor line-numbers-rows lineno linenos linenumber mw-editsection"
    " mw-jump-link share-bar share-button share-buttons sharedaddy skip-link skip-nav"
    " skip-to-content skip-to-main skiplink social-share table-of-contents toc"
)
_JUNK_IDS = frozenset({"breadcrumb", "breadcrumbs", "skip-link", "toc"})
NOT_CONTENT = tuple(_NOT_CONTENT_NAMES.split())
"""The elements that are never read."""

BLOCKS = tuple(_BLOCK_NAMES.split())
"""The elements that begin and end paragraphs, and mean no more."""

_VOID = frozenset(_VOID_NAMES.split())
_JUNK_CLASSES = frozenset(_JUNK_CLASS_NAMES.split())
_KEPT = frozenset(_KEPT_NAMES.split())


def is_left_out(name: str, tag: str) -> bool:
    """Return whether an element is marked, or is by its class no content of a page."""
    if name in _VOID:
        return False
    if DROP in tag:
        return True
    if name in _KEPT:
        return False
    classes = get_attribute(tag, "class")
    if classes and not _JUNK_CLASSES.isdisjoint(classes.split()):
        return True
    return get_attribute(tag, "id") in _JUNK_IDS


def get_attribute(tag: str, name: str) -> str:
    """Return an attribute of a serialised tag as it is written, empty without it."""
    return tag.partition(f' {name}="')[2].partition('"')[0]
