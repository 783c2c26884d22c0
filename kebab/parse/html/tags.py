"""Declares the elements that are blocks, and those that are no content."""

import re

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
_JUNK = re.compile(
    '(?:^| )(?:class="(?:[^"]* )?(?:headerlink|footnote-back|header-anchor|heading-anchor|hash-link'
    "|linenos?|linenumber"
    "|line-numbers-rows|mw-editsection|mw-jump-link|breadcrumbs?|skip-?link|skip-nav|skip-to-content"
    "|skip-to-main|toc|table-of-contents|share-buttons?|share-bar|social-share|sharedaddy"
    '|addtoany_share_save_container)(?: [^"]*)?"|id="(?:toc|breadcrumbs?|skip-link)")'
)
NOT_CONTENT = tuple(_NOT_CONTENT_NAMES.split())
"""The elements that are never read."""

BLOCKS = tuple(_BLOCK_NAMES.split())
"""The elements that begin and end paragraphs, and mean no more."""

_VOID = frozenset(_VOID_NAMES.split())
_KEPT = frozenset(_KEPT_NAMES.split())


def is_left_out(name: str, attributes: str) -> bool:
    """Return whether an element is marked, or is by its class no content of a page."""
    if name in _VOID:
        return False
    return DROP in attributes or (name not in _KEPT and _JUNK.search(attributes) is not None)
