"""Contains the rules about links and images, their targets, anchors and references.

Many documents are sources of a site, where the address of a page differs from the path of its file,
and pages exist that no file has. What such a link means cannot be known here, so it is no fault.
Sites and note programs build anchors from headings in many ways: GitHub keeps the letters of every
script, others drop them, repeat hyphens or replace them. Anchors are therefore compared by their
letters and digits alone.
"""

import os.path
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import ClassVar
from urllib.parse import unquote

from kebab.core.files import get_suffix
from kebab.core.media import MARKDOWN, detect_media_type
from kebab.core.review import (
    Finding,
    Fix,
    LinkUse,
    Markup,
    ReviewText,
    Surroundings,
    UndefinedLabel,
)
from kebab.review.document import ReviewDocument
from kebab.review.rules.rule import Rule, build_finding
from kebab.wire.review import SeverityName

_INCLUDES = re.compile(
    r"--8<--|\{!|\{%-?[ \t]*\w*(?:include|render|partial)\w*"
    r"|\{\{[<%]?[ \t]*#?[\w-]*(?:include|readfile|partial)|\{\{[^{}<%]*\}\}"
    r"|(?m:^:::[ \t]+(?:\w+\.\w|mkdocs-)|^```\{(?:include|eval-rst|auto\w+)|^[ \t]*!?include::)"
    r"|(?m:^import\s[^\n]+\.mdx?['\"]|^\.\. \w+::)|<[A-Z][^<>]*/>"
)
"""What puts further text, and so further anchors, into a page."""

_INCLUDE_SIGNS = ("--8<--", "{!", "{%", "{{", ":::", "```{", "include::", "import ", ".. ", "/>")

_SHORTCODE_NAME = re.compile(r"\{\{[<%][^{}]*\b(?:name|id|anchor)\s*=\s*\"([^\"{}]+)\"")
_SHORTCODE_ARGUMENT = re.compile(r"\"([^\"]+)\"")
_COMMON_TITLES = ("beforeyoubegin", "whatsnext", "seealso", "cleaningup", "cleanup", "objectives")
"""The anchors of headings that sites write as shortcodes, for translation."""

_TRANSLATED = "*"
"""Stands for the anchors of titles that a site writes in another script."""

_MAX_TABS = 12

_OTHER_FRAGMENT = re.compile(
    r"\Z|top\Z|L\d+|:~:|[!/]|fn|cite|__tabbed|tab[-_=]|term-|page=|slide=|user-content-fn|.*[{}<>$*]|.*=",
    re.IGNORECASE,
)
"""The fragments that name no anchor of the text."""


def list_anchors(text: str, markup: Markup) -> frozenset[str] | None:
    """Return the anchors of a document, folded; None when not all of them are in its text."""
    if any(sign in text for sign in _INCLUDE_SIGNS) and _INCLUDES.search(text):
        return None
    found = frozenset(_list_folded(markup))
    return found.union(_list_generated(text, markup)) if "{{" in text else found


def _list_folded(markup: Markup) -> Iterator[str]:
    counts: Counter[str] = Counter()
    for heading in markup.headings:
        key = fold_anchor(heading.text)
        yield key
        if heading.anchor:
            yield fold_anchor(heading.anchor)
        if counts[key]:
            yield f"{key}{counts[key]}"
        counts[key] += 1
        yield f"{key}{counts[key]}"
    for one in markup.anchors:
        yield fold_anchor(one.anchor)


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
    return key in anchors or fold_anchor(decoded) in anchors


_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|\\\\|www\.|@|~")
_TEMPLATE = re.compile(r"[{}<>$*|\"\n]|\.\.\.|%\(")
_PLACEHOLDER = re.compile(
    r"(?:url|uri|link|href|src|target|address|path|file|filename|image|img|page|here|todo|foo|bar|baz"
    r"|xxx?|example|destination|dest|some[-_].*|your[-_].*|my[-_].*|path/to/.*|/?url)(?:\.\w+)?",
    re.IGNORECASE,
)
_PAGE_SUFFIXES = (".md", ".mdx", ".markdown", ".rst", ".txt", ".ipynb", ".org", ".adoc")
_GENERATED = frozenset({"", ".html", ".htm", ".php", ".aspx", ".jsp", ".xml", ".pdf", ".xhtml"})
"""The suffixes of addresses that sites generate; without one it is the address of a page."""

_SITE_FILES = (
    *("mkdocs.yml", "mkdocs.yaml", "docusaurus.config.js", "docusaurus.config.ts", "_config.yml"),
    *("hugo.toml", "hugo.yaml", "config.toml", "conf.py", "book.toml", "antora.yml", ".vitepress"),
    *("astro.config.mjs", "mint.json", "docs.json", "_quarto.yml", "_toc.yml", "sidebars.js"),
)
_SITE_FIELDS = frozenset(
    {
        *("slug", "permalink", "url", "layout", "weight", "sidebar_position", "sidebar_label"),
        *("nav_order", "menu", "content_type", "linktitle", "redirect_from", "parent", "toc"),
    }
)
_STATIC_FOLDERS = ("static", "public", "assets", "content", "docs", "src", "source")
_COVERS = ("index", "_index", "readme")
_MAX_PARENTS = 24
_MAX_SUFFIX = len(".woff2")


def split_target(target: str) -> tuple[str, str]:
    """Return the path and the fragment of a target, without its query."""
    path, _, fragment = target.partition("#")
    return path.partition("?")[0], fragment


def is_path(link: LinkUse) -> bool:
    """Return whether a link is meant to name a file, and is no address, template or placeholder."""
    path, _ = split_target(link.target)
    return not (
        link.kind == "auto"
        or not path
        or _SCHEME.match(path)
        or _TEMPLATE.search(path)
        or _PLACEHOLDER.fullmatch(path)
        or "\\" in path
        or not any(map(str.isalnum, path))
    )


def find_file(document: ReviewText, surroundings: Surroundings, link: LinkUse) -> Path | None:
    """Return the file or folder that a link names; None when there is none.

    A wiki link may also name a note by its title or alias.
    """
    path, _ = split_target(link.target)
    forms = list(dict.fromkeys((unquote(path), path)))
    for form in forms:
        for base in _list_bases(document, form):
            plain = os.path.normpath(f"{base}/{form.strip().lstrip('/')}")
            if not surroundings.exists(os.path.dirname(plain)):  # noqa: PTH120 - far faster
                continue
            for candidate in _list_candidates(plain):
                if surroundings.exists(candidate):
                    return Path(candidate)
    return surroundings.find_note(document, forms[0]) if link.kind == "wiki" else None


def _list_bases(document: ReviewText, path: str) -> Iterator[str]:
    """Yield the folders from which a path may be meant."""
    root = str(document.root).rstrip("/")
    if path.startswith("/"):
        for top in (root, *(str(one).rstrip("/") for one in list(document.root.parents)[:2])):
            yield top
            yield from (f"{top}/{name}" for name in _STATIC_FOLDERS)
        return
    folder = str(document.file.parent)
    yield folder
    if document.file.stem.lower() not in _COVERS:
        yield f"{folder}/{document.file.stem}"  # the address of the page is a folder
    yield f"{folder}/.."
    yield root
    if folder != root:
        yield from (f"{root}/{name}" for name in ("static", "public"))


def _list_candidates(path: str) -> Iterator[str]:
    """Yield the files that a path may name; the suffix of a page may be missing or another."""
    yield path
    suffix = get_suffix(path.rpartition(os.sep)[2])
    if suffix in _PAGE_SUFFIXES or suffix in _GENERATED or not detect_media_type(path):
        is_page = suffix in (".html", ".htm", ".md")
        stem = path[: -len(suffix)] if is_page else path
        yield from (stem + one for one in _PAGE_SUFFIXES)


def is_missing(document: ReviewText, surroundings: Surroundings, link: LinkUse) -> bool:
    """Return whether a link names a file that is certainly missing.

    A path outside the source is certain only when its folder exists, and an absolute path only when
    its first folder exists in the source. Addresses of pages are not certain in a site.
    """
    path = unquote(split_target(link.target)[0]).strip()
    suffix = "" if path.endswith("/") else get_suffix(path)
    is_page = suffix in _GENERATED or (
        detect_media_type(path) is None and len(suffix) > _MAX_SUFFIX
    )
    if path.startswith("/"):
        is_judged = link.is_image or detect_media_type(path) == MARKDOWN
    else:
        is_judged = not is_page or (not suffix and "/" in path.strip("/"))
    if not is_path(link) or not is_judged or find_file(document, surroundings, link) is not None:
        return False
    if path.startswith("/"):
        first, _, rest = path.lstrip("/").partition("/")
        return bool(rest) and surroundings.exists(document.root / first)
    if is_page and (
        is_site(document, surroundings)
        or (surroundings.find_note(document, path.rstrip("/")) is not None)
    ):
        return False
    file = Path(os.path.normpath(document.file.parent / path))
    return file.is_relative_to(document.root) or surroundings.exists(file.parent)


def is_site(document: ReviewText, surroundings: Surroundings) -> bool:
    """Return whether a document is a source of a site, as far as its surroundings tell."""
    front = document.markup.front_matter
    if front and any(name.lower() in _SITE_FIELDS for name, _ in front.fields):
        return True
    return _has_above(document, surroundings, _SITE_FILES)


def may_define_labels(document: ReviewText, surroundings: Surroundings) -> bool:
    """Return whether labels of references may be defined outside the document, as MkDocs can."""
    return _has_above(document, surroundings, ("mkdocs.yml", "mkdocs.yaml"))


def _has_above(document: ReviewText, surroundings: Surroundings, names: Sequence[str]) -> bool:
    """Return whether a folder of the repository, at or above the document, has one of the files."""
    for folder in map(str, list(document.file.parents)[:_MAX_PARENTS]):
        if any(surroundings.exists(f"{folder.rstrip('/')}/{name}") for name in names):
            return True
        if surroundings.exists(f"{folder.rstrip('/')}/.git"):
            break
    return False


def is_markdown(path: Path) -> bool:
    """Return whether a path is that of a Markdown file."""
    return detect_media_type(path.name) == MARKDOWN


def find_replacement(document: ReviewText, surroundings: Surroundings, target: str) -> str | None:
    """Return the target with the path of the only file of the same name; None without one.

    Names that many folders have, such as `README.md` and `LICENSE`, say too little.
    """
    path, _ = split_target(target)
    name = unquote(path).rpartition("/")[2]
    stem = Path(name).stem
    if not get_suffix(name) or stem.isupper() or stem.lower() in _COVERS or path.startswith("/"):
        return None
    namesakes = surroundings.list_namesakes(document, name)
    if len(namesakes) != 1:
        return None
    found = os.path.relpath(namesakes[0], document.file.parent).replace(os.sep, "/")
    if "%" in path or " " in found or "(" in found:
        from urllib.parse import quote

        found = quote(found)
    start = "./" if path.startswith("./") and not found.startswith(".") else ""
    return f"{start}{found}{target[len(path) :]}"


_MEDIA_SUFFIX = re.compile(
    r"\.(?:png|jpe?g|gif|svg|webp|avif|bmp|ico|tiff?|pdf|mp[34]|mov|webm|ogg|wav)\Z", re.IGNORECASE
)
_NO_NOTE = re.compile(
    r"\s|[-$!\"'(=\d.]|.*(?:[&=\"]|\|\||\s\Z|[,\d]\Z)"
    r"|(?:[a-z_][\w-]*\.)+[\w-]+\Z"  # a table of TOML
    r"|[A-Z]\w*(?:Function|Object|Type|Value|Property|Keys|Of|Target|Handler|Data|List|Slots?|Id)\Z"
    r"|(?:Prototype|Get|Set|Call|Construct|Class|Extensible|Delete|Realm|Environment|Writable"
    r"|Enumerable|Configurable|Code|Scope|Match|Default|PreventExtensions|IsExtensible)\Z"
)
"""What stands in double brackets and is no link: code, and the slots of ECMAScript."""

_DEFINITION = re.compile(r"^ {0,3}\[[^\]^\n][^\]\n]*\]:[ \t]*\S", re.MULTILINE)
_FEW_DEFINITIONS = 5
_FOOTNOTE = re.compile(r" {0,3}\[\^[^\]\n]+\]:")
_NO_LABEL = re.compile(r"[\W\d_]|\w\Z|.*(?:::|[=<>*\\`]|\.\w|\(\))")


class BrokenLink:
    """A link names a file or folder that does not exist.

    Readers of the text cannot follow it. Links are relative to the folder of the document; their
    suffix may be missing as in note programs. Addresses of the web are not checked, and neither are
    links to pages that a site generates, such as `.html` files and absolute paths, or links out of
    the source into a folder that does not exist. When one file of this name exists elsewhere in the
    source, its path is proposed.
    """

    id: ClassVar[str] = "broken-link"
    kind: ClassVar[str] = "link"
    severity: ClassVar[SeverityName] = "error"
    example: ClassVar[str] = "Read the [plan](plans/q3.md) first."

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the links to missing files."""
        links = [one for one in document.markup.links if not one.is_image and one.kind != "wiki"]
        yield from _check_files(self, document, surroundings, links, "file")


class MissingImage:
    """An image does not exist.

    Readers see an empty frame in its place. Addresses of the web are not checked, and neither are
    absolute paths whose first folder the source does not have. When one file of this name exists
    elsewhere in the source, its path is proposed.
    """

    id: ClassVar[str] = "missing-image"
    kind: ClassVar[str] = "image"
    severity: ClassVar[SeverityName] = "error"
    example: ClassVar[str] = "![The garden](images/garden.png)"

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the images that do not exist."""
        links = [
            one
            for one in document.markup.links
            if one.is_image and (one.kind != "wiki" or _is_media(one))
        ]
        yield from _check_files(self, document, surroundings, links, "image")


class MissingNote:
    """A wiki link names a note that does not exist.

    A note is found by its path, its name, its title, or one of its aliases. Create the note or
    correct the name. Double brackets that are code are not reported.
    """

    id: ClassVar[str] = "missing-note"
    kind: ClassVar[str] = "link"
    severity: ClassVar[SeverityName] = "suggestion"
    example: ClassVar[str] = "See [[Weekly review]] for more."

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the wiki links to no note."""
        for link in document.markup.links:
            name = split_target(link.target)[0].strip()
            is_image = link.is_image and _is_media(link)
            if link.kind != "wiki" or is_image or not name or _NO_NOTE.match(link.target):
                continue
            if is_path(link) and find_file(document.source, surroundings, link) is None:
                yield build_finding(self, *link.target_span, f"there is no such note: {name}")


class BrokenAnchor:
    """A link names a heading or an anchor that its document does not have.

    The link then opens the top of the page. Anchors are the headings, as sites and note programs
    turn them into addresses, and ids such as `<a id="x">`, `{#x}` and `^x`. Their letters and
    digits are compared. Documents that include other files are not checked.
    """

    id: ClassVar[str] = "broken-anchor"
    kind: ClassVar[str] = "link"
    severity: ClassVar[SeverityName] = "warning"
    example: ClassVar[str] = "# Plan\n\nSee [the costs](#costs)."

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the links to missing anchors."""
        links = [one for one in document.markup.links if "#" in one.target and one.kind != "auto"]
        own = list_anchors(document.text, document.markup) if links else None
        for link in links:
            path, fragment = split_target(link.target)
            if not is_anchor(fragment):
                continue
            anchors = _list_target_anchors(document, surroundings, link) if path else own
            if anchors is not None and not has_anchor(anchors, fragment):
                start, end = link.target_span
                sign = document.text.find("#", start, end)
                reason = f"the target has no such heading or anchor: {fragment}"
                yield build_finding(self, max(sign, start), end, reason)


class UndefinedReference:
    """The label of a reference link is not defined.

    The brackets are then shown as text. Define the label, `[label]: address`, or correct it. Only
    `[text][label]` and `[label][]` are reported, because a single pair of brackets is often text.
    Documents without any definition are not checked, and neither are sites of MkDocs, because their
    labels may be defined in other files. Nor are footnotes in a document with few definitions.
    """

    id: ClassVar[str] = "undefined-reference"
    kind: ClassVar[str] = "link"
    severity: ClassVar[SeverityName] = "warning"
    example: ClassVar[str] = "Read [the manual][manul] first.\n\n[manual]: manual.md\n"

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the references without a definition."""
        markup, text = document.markup, document.text
        undefined = [one for one in markup.undefined if _is_reference(text, one)]
        definitions = len(_DEFINITION.findall(text)) if undefined else 0
        if not definitions:
            return
        if definitions < _FEW_DEFINITIONS:
            undefined = [one for one in undefined if not _is_in_footnote(text, one)]
        if may_define_labels(document.source, surroundings):
            return
        anchors = list_anchors(text, markup)
        for one in undefined:
            if anchors is not None and not has_anchor(anchors, one.label):
                reason = f"the label is not defined: {one.label}"
                yield build_finding(self, one.start, one.end, reason)


def _is_reference(text: str, one: UndefinedLabel) -> bool:
    """Return whether two pairs of brackets are no code, such as `a[b][c]`."""
    before, behind = text[max(one.start - 1, 0) : one.start], text[one.end : one.end + 1]
    is_code = before.isalnum() or before in ("]", ")", "`") or behind in ("[", "(", "{")
    return one.is_full and not is_code and not _NO_LABEL.match(one.label)


def _is_in_footnote(text: str, one: UndefinedLabel) -> bool:
    """Return whether brackets stand in the first line of a footnote."""
    line = text.rfind("\n", 0, one.start) + 1
    return _FOOTNOTE.match(text, line, one.start) is not None


def _is_media(link: LinkUse) -> bool:
    return _MEDIA_SUFFIX.search(split_target(link.target)[0]) is not None


def _check_files(
    rule: Rule,
    document: ReviewDocument,
    surroundings: Surroundings,
    links: Iterable[LinkUse],
    what: str,
) -> Iterator[Finding]:
    """Yield a finding for each target that names a file which is certainly missing.

    The target of a reference is written once, in its definition.
    """
    source = document.source
    for (start, end), link in {link.target_span: link for link in links}.items():
        if is_missing(source, surroundings, link):
            found = find_replacement(source, surroundings, link.target)
            reason = f"the {what} does not exist: {split_target(link.target)[0]}"
            if found:
                yield build_finding(rule, start, end, reason, edit="replace", fix=Fix(found))
            else:
                yield build_finding(rule, start, end, reason)


def _list_target_anchors(
    document: ReviewDocument, surroundings: Surroundings, link: LinkUse
) -> frozenset[str] | None:
    """Return the anchors of the file that a link names; None when they are not known."""
    if not is_path(link):
        return None
    file = find_file(document.source, surroundings, link)
    return surroundings.list_anchors(file) if file and is_markdown(file) else None
