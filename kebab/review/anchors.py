"""Finds the anchors of a document, which headings, ids and components declare.

Sites and note programs build anchors from headings in many ways: GitHub keeps the letters of every
script, others drop them, repeat hyphens or replace them. Anchors are therefore compared by their
letters and digits alone, and signs of a heading may be written as words.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from urllib.parse import unquote

from kebab.core.review import Markup

_OF_CODE = ("```{", "exec=")
"""The signs in the first line of a block of code."""

_INCLUDES = tuple(
    (sign, re.compile(pattern, re.MULTILINE))
    for sign, pattern in (
        ("--8<--", "--8<--"),
        ("{!", r"\{!"),
        (
            "{%",
            (
                r"\{(?<!\{\{)%-?[ \t]*(?!end|raw|highlight|if|else|elsif|unless|assign|capture"
                r"|comment|hint|tab|code|note|tip|warning|info|link|post_url|callout|image|img|figure|video|youtube)\w"
            ),
        ),
        (
            "{{",
            (
                r"\{\{(?:[<%]?[ \t]*#?[\w-]*(?:include|readfile|partial|snippet|(?<![\w-])content"
                r"|shared|reuse|embed|import|markdown|openapi|swagger|list|config|options|reference)"
                r"|[^{}<%]*\}\})"
            ),
        ),
        (
            ":::",
            (
                r"^[ \t]*:::[ \t]+(?!(?:tip|info|note|warning|danger|caution|important|details"
                r"|success|code|raw|v-pre|tab|card|grid|col|row|step|hint|example|abstract|question|quote)"
                r"|\w+[ \t]*\{)\w"
            ),
        ),
        ("exec=", r"^[ \t]*[`~]{3}[^\n]*\bexec="),
        ("<!-", r"<!--[ \t]*@?(?:include|insert|embed|render|import|snippet|generate\b)"),
        ("</", r"</[a-z]++-[a-z][\w-]*+>"),  # an element that a script defines
        ("```{", r"^```\{(?:include|eval-rst|auto\w+)"),
        ("include::", r"^[ \t]*!?include::"),
        ("[include ", r"^[ \t]*\[include [\"']"),
        ("import ", r"^import\s[^\n]+\.mdx?['\"]"),
        (".. ", r"^\.\. \w+::"),
        ("<!--@include:", r"^<!--@include:"),
        ("/>", r"<(?:[A-Z]|[a-z]++-[a-z])[^<>]*/>"),
        ("<!-- md:", r"<!-- md:\w+ [^<>]*-->"),
    )
)
"""What puts further text, and so further anchors, into a page: a sign of it, and its pattern."""

_NO_LETTER = re.compile(r"[^a-z0-9]+")
_COMPONENT = re.compile(r"<([A-Z][\w.]*)[\s>]")
_PLAIN_COMPONENTS = frozenset(
    {
        *("Tabs", "TabItem", "Tab", "Note", "Tip", "Warning", "Info", "Caution", "Danger"),
        *("Callout", "Admonition", "Aside", "Card", "Cards", "CardGroup", "CardGrid", "LinkCard"),
        *("Columns", "Column", "Col", "Row", "CodeBlock", "CodeGroup", "CodeBlocks", "Link", "A"),
        *("Image", "Img", "Icon", "Badge", "Frame", "Details", "Summary", "Alert", "Button"),
    }
)
"""Components that write no anchors; others may build them from their attributes or rows."""

_TERM = re.compile(r"^([^\s:|>#][^\n]*)\n+(?=:[ \t])", re.MULTILINE)
_DESTINATION = re.compile(r"\]\([^()\n]*\)|\{[^{}\n]*\}")
_JSX_ID = re.compile(r"\b(?:id|anchor|anchorId|slug|hash|label|title)\s*=\s*\{?[\"'`]([^\"'`\n]+)")
_JSX_SIGNS = ("id=", "anchor=", "slug=", "title=", "label=", "hash=", "id =", "Id=")
_TAG_CONTENT = re.compile(r"<(\w++)[^<>]*+>[^<>]*+</\1>|<[^<>]*+>")
_TAG = re.compile(r"<[^<>]*+>")
_TITLE_FIELDS = ("title", "id", "slug")
_NUMBER = re.compile(r"[A-Za-z]+-?\d+(?=:)")
"""The number of an entry before its title, such as `DEP0111:`."""

_LEADING_NUMBER = re.compile(r"[\W\d_]+")
_EMOJI_NAME = re.compile(r":[\w+-]+:")
_DOCSIFY_ID = re.compile(r":id=([\w-]+)")
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "ae", "Ö": "oe", "Ü": "ue"})
_ELSEWHERE = tuple(
    (sign, re.compile(pattern, re.MULTILINE))
    for sign, pattern in (
        (" name=", r" name=[\"']?([\w.:-]+)"),
        ("<h", r"<h[1-6]\b[^<>]*+>((?:[^<]|<(?!/?h)){1,400}+)</h"),
        (" ##", r"^[ \t]+#{2,6}[ \t]++([^\n]++)"),
        ("\t##", r"^[ \t]+#{2,6}[ \t]++([^\n]++)"),
        ("}", r"#(?<=[{ \t]#)([A-Za-z][\w.:-]*)[^{}\n]{0,80}\}"),
        ("\\", r"\\(?:anchor|page|(?:sub)*section|label)[ \t{]+([\w:.-]+)"),
        ("@", r"@(?:anchor|page|(?:sub)*section)[ \t]+([\w:.-]+)"),
    )
)
"""Names and headings in HTML and indented text, ids in braces, and labels of programs."""

_BRACKET = re.compile(r"\[([\w.-]+)\]\Z")
"""The name of a component at the end of a heading."""

_SIGN_NAMES = {
    "&": ("and",),
    "+": ("plus",),
    "#": ("sharp", "hash"),
    "@": ("at",),
    "%": ("percent",),
    "$": ("dollar",),
    "<": ("lt", "less"),
    ">": ("gt", "greater"),
    "|": ("or",),
    "=": ("equal", "equals"),
    "*": ("star",),
    "~": ("tilde",),
}
_SIGNS = re.compile(f"[{re.escape(''.join(_SIGN_NAMES))}]")

_SHORTCODE_NAME = re.compile(r"\{\{[<%][^{}]*\b(?:name|id|anchor)\s*=\s*\"([^\"{}]+)\"")
_SHORTCODE_ARGUMENT = re.compile(r"\"([^\"]+)\"")
_COMMON_TITLES = ("beforeyoubegin", "whatsnext", "seealso", "cleaningup", "cleanup", "objectives")
"""The anchors of headings that sites write as shortcodes, for translation."""

_TRANSLATED = "*"
"""Stands for the anchors of titles that a site writes in another script."""

_NUMBERED = "#"
"""Stands for the numbers that generators give to headings in other scripts."""

_MAX_TABS = 12

_OTHER_FRAGMENT = re.compile(
    r"\Z|0\Z|_+\Z|null\Z|link\Z|url\Z|top\Z|L\d+|:~:|!|_?fn|cite|label-|__\w|tab[-_=]|term-|page=|slide=|user-content-fn|readme\Z"
    r"|start-of-content|content\Z|_top|toc\Z|autotoc_md|cmdoption|envvar-"
    r"|(?:[A-Za-z_]\w*\.)++(?!md\Z|html\Z)\w+\Z|.*[{}<>$*/]|.*=",
    re.IGNORECASE,
)
"""The fragments that name no anchor of the text: places of a program, and names of code."""


_SOURCE_FIELDS = frozenset({"sass", "scss", "module", "modules", "automodule"})
_WORD = re.compile(r"[\w.-]+")


def list_anchors(text: str, markup: Markup) -> frozenset[str] | None:
    """Return the anchors of a document, folded; None when not all of them are in its text."""
    visible = _drop_blocks(text, markup)
    for sign, pattern in _INCLUDES:
        if sign in text and pattern.search(text if sign in _OF_CODE else visible):
            return None
    if text.startswith('R"'):
        return None  # a text that is included in code of C++
    front = markup.front_matter
    if front is not None and not text[front.end :].strip():
        return None  # a template writes the page
    if front is not None and any(name.lower() in _SOURCE_FIELDS for name, _ in front.fields):
        return None  # a program adds a reference of the code
    if "<" in text and not _PLAIN_COMPONENTS.issuperset(_COMPONENT.findall(visible)):
        return None
    found = set(_list_folded(text, markup))
    if front is not None:
        found.update(fold_anchor(one) for _, value in front.fields for one in _WORD.findall(value))
    if "{{" in text:
        found.update(_list_generated(text, markup))
    if any(sign in text for sign in _JSX_SIGNS):
        found.update(map(fold_anchor, _JSX_ID.findall(text)))
    if "\n:" in text:
        terms = (_DESTINATION.sub("", term) for term in _TERM.findall(text))
        found.update(map(fold_anchor, terms))
    return frozenset(found)


def _drop_blocks(text: str, markup: Markup) -> str:
    """Return a text without its blocks of code, whose signs are examples."""
    starts = [0, *(end for _, end in markup.code_blocks)]
    ends = [*(start for start, _ in markup.code_blocks), len(text)]
    return "".join(text[start:end] for start, end in zip(starts, ends, strict=True))


def _list_folded(text: str, markup: Markup) -> Iterator[str]:
    counts: Counter[str] = Counter()
    above = [""] * 8
    for heading in markup.headings:
        key = fold_anchor(heading.text)
        above[heading.level :] = [key] * (len(above) - heading.level)
        yield above[heading.level - 1] + key  # where generators tell equal headings apart
        yield from _list_variants(heading.text, text[heading.start : heading.end])
        if heading.anchor:
            yield fold_anchor(heading.anchor)
        if counts[key]:
            yield f"{key}{counts[key]}"
        counts[key] += 1
        yield f"{key}{counts[key]}"
        if not key.isascii():
            yield _NUMBERED
    for one in markup.anchors:
        yield fold_anchor(one.anchor.removeprefix("user-content-"))
    for sign, pattern in _ELSEWHERE:
        if sign in text:
            for title in pattern.findall(text):
                yield from _list_variants(_TAG.sub("", title), title)
    fields = markup.front_matter.fields if markup.front_matter else ()
    yield from (fold_anchor(value) for name, value in fields if name in _TITLE_FIELDS)


def _list_variants(title: str, source: str) -> Iterator[str]:
    """Yield the anchors that a heading may have: with names of signs, and without tags."""
    yield fold_anchor(title)
    number = _NUMBER.match(title)
    if number:
        yield fold_anchor(number[0])
    if not title[:1].isalpha():
        yield fold_anchor(_LEADING_NUMBER.sub("", title, count=1))
    if ":" in title:
        yield fold_anchor(_EMOJI_NAME.sub("", title))
        yield from map(fold_anchor, _DOCSIFY_ID.findall(title))
    if _SIGNS.search(title):
        yield fold_anchor(_SIGNS.sub(lambda sign: _SIGN_NAMES[sign[0]][0], title))
        yield fold_anchor(_SIGNS.sub(lambda sign: _SIGN_NAMES[sign[0]][-1], title))
    if not title.isascii():
        yield fold_anchor(_drop_marks(title))
        yield fold_anchor(title.translate(_UMLAUTS))
    bracket = _BRACKET.search(title)
    if bracket:
        yield fold_anchor(bracket[1])
    if "<" in source:
        yield fold_anchor(_TAG_CONTENT.sub("", source))
        yield fold_anchor(source)


def _drop_marks(text: str) -> str:
    """Return a text in which letters have no accents."""
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(sign for sign in decomposed if not unicodedata.combining(sign))


def _list_generated(text: str, markup: Markup) -> Iterator[str]:
    """Yield the anchors that shortcodes may generate: those of tabs and of translated headings."""
    for shortcode in _SHORTCODE_NAME.finditer(text):
        key = fold_anchor(shortcode[1])
        yield key
        yield from (f"{key}{number}" for number in range(_MAX_TABS))
    for heading in markup.headings:
        if "{{" in heading.text:
            yield _TRANSLATED
            yield from _COMMON_TITLES
            yield from (fold_anchor(one) for one in _SHORTCODE_ARGUMENT.findall(heading.text))


def fold_anchor(anchor: str) -> str:
    """Return the letters and digits of an anchor or of a heading, in one case."""
    if anchor.isascii():
        return _NO_LETTER.sub("", anchor.lower())
    folded = unicodedata.normalize("NFKC", anchor).casefold()
    return "".join(sign for sign in folded if sign.isalnum())


def is_anchor(fragment: str) -> bool:
    """Return whether a fragment is meant to name an anchor of the text."""
    return _OTHER_FRAGMENT.match(unquote(fragment)) is None


def has_anchor(anchors: frozenset[str], fragment: str) -> bool:
    """Return whether a fragment names one of the anchors.

    Note programs name a heading below another as `Heading#Lower heading`.
    """
    decoded = unquote(fragment).removeprefix("user-content-")
    last = decoded.rpartition("#")[2]
    key = fold_anchor(last)
    if not key or (_TRANSLATED in anchors and not key.isascii()):
        return True
    if _NUMBERED in anchors and key.isdecimal():
        return True
    return (
        key in anchors
        or fold_anchor(decoded) in anchors
        or (not key.isascii() and fold_anchor(_drop_marks(last)) in anchors)
    )
