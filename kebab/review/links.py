"""Contains the rules about links and images: their targets, anchors and notes.

Many documents are sources of a site, where the address of a page differs from the path of its file,
and pages exist that no file has. Addresses of pages, which have no suffix or that of HTML, are
therefore not judged.
"""

import os.path
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import ClassVar
from urllib.parse import quote, unquote

from kebab.core.files import get_suffix
from kebab.core.media import MARKDOWN, detect_media_type
from kebab.core.review import LinkUse
from kebab.review.document import (
    Finding,
    Fix,
    ReviewDocument,
    ReviewText,
    fold_anchor,
    has_anchor,
    is_anchor,
)
from kebab.review.rules import Rule, Surroundings
from kebab.wire.review import SeverityName

_SCHEME = re.compile(r"[A-Za-z]?[A-Za-z0-9+.-]*:|//|\\\\|www\.|@|~")
_TEMPLATE = re.compile(r"[{}<>$*|\"\n\\]|\.\.\.|%\(|\]\(|\A[\w.+-]+@[\w-]+\.[\w.]+\Z")
_PLACEHOLDER = re.compile(
    r"(?:url|uri|link|href|src|target|address|path|file|filename|image|img|page|here|todo|foo|bar|baz"
    r"|xxx?|example|destination|some[-_/].*|your[-_/].*|my[-_/].*|/?path/(?:to|of)/.*)(?:\.\w+)?",
    re.IGNORECASE,
)
_PAGE_SUFFIXES = (".md", ".mdx", ".markdown", ".rst", ".txt", ".ipynb", ".org", ".adoc")
_GENERATED = frozenset({"", ".html", ".htm", ".php", ".aspx", ".jsp", ".xml", ".xhtml"})
"""The suffixes of addresses that sites generate; without one it is the address of a page."""

_COVERS = frozenset({"index", "_index", "readme"})


def split_target(target: str) -> tuple[str, str]:
    """Return the path and the fragment of a target, without its query."""
    path, _, fragment = target.partition("#")
    return path.partition("?")[0], fragment


def is_path(link: LinkUse) -> bool:
    """Return whether a link is meant to name a file, and is no address, template or placeholder."""
    path, _ = split_target(link.target)
    return not (
        link.kind == "auto"
        or _SCHEME.match(path)
        or _TEMPLATE.search(path)
        or _PLACEHOLDER.fullmatch(path)
        or path.startswith("`")  # the name of code
        or not any(map(str.isalnum, path))
    )


def find_file(document: ReviewText, surroundings: Surroundings, link: LinkUse) -> Path | None:
    """Return the file or folder that a link names; None when there is none."""
    return next(find_files(document, surroundings, link), None)


def find_files(document: ReviewText, surroundings: Surroundings, link: LinkUse) -> Iterator[Path]:
    """Yield the files and folders that a link may name, the most probable first.

    A wiki link may also name a note by its title or alias.
    """
    path, _ = split_target(link.target)
    forms = list(dict.fromkeys((unquote(path), path)))
    for form in forms:
        name = form.strip().lstrip("/")
        for base in _list_bases(document, form):
            for candidate in _list_candidates(os.path.normpath(f"{base}/{name}")):
                if surroundings.exists(candidate):
                    yield Path(candidate)
    if link.kind == "wiki" and (note := surroundings.find_note(document, forms[0])) is not None:
        yield note


def _list_bases(document: ReviewText, path: str) -> Iterator[str]:
    """Yield the folders from which a path may be meant."""
    root = str(document.root).rstrip("/")
    if not path.startswith("/"):
        folder = str(document.file.parent)
        yield folder
        yield f"{folder}/{document.file.stem}"  # the address of the page is a folder
        yield f"{folder}/.."
    yield root


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
    its first folder exists in the source.
    """
    path = unquote(split_target(link.target)[0]).strip()
    suffix = get_suffix(path.rpartition("/")[2])
    is_file = link.is_image or (suffix not in _GENERATED and detect_media_type(path) is not None)
    # What cannot be judged is not looked for, because that takes long.
    if not is_file or not is_path(link) or find_file(document, surroundings, link) is not None:
        return False
    if path.startswith("/"):
        first, _, rest = path.lstrip("/").partition("/")
        return bool(rest) and surroundings.exists(document.root / first)
    file = Path(os.path.normpath(document.file.parent / path))
    return file.is_relative_to(document.root) or surroundings.exists(file.parent)


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
        found = quote(found)
    start = "./" if path.startswith("./") and not found.startswith(".") else ""
    return f"{start}{found}{target[len(path) :]}"


_BY_PROGRAM = re.compile(
    r"@generated\b|\bDO NOT EDIT\b"
    r"|\b[Aa]uto(?:matically)?[ -]?generated (?:by|from|with|file|document|page|content)\b"
)
_HEAD = 1_500
"""How much of the beginning of a text may tell that a program wrote it."""


def is_generated(document: ReviewDocument) -> bool:
    """Return whether a text says that a program wrote it."""
    return _BY_PROGRAM.search(document.text, 0, _HEAD) is not None


_MEDIA_SUFFIX = re.compile(
    r"\.(?:png|jpe?g|gif|svg|webp|avif|bmp|ico|tiff?|pdf|mp[34]|mov|webm|ogg|wav)\Z", re.IGNORECASE
)
_NO_NOTE = re.compile(r"\s|[-$!\"'(=\d.]|.*(?:[&=\"]|\|\||[\s,\d]\Z)|(?:[a-z_][\w-]*\.)+[\w-]+\Z")
"""What stands in double brackets and is code, such as a test of a shell or a table of TOML."""


class BrokenLink(Rule):
    """A link names a file that does not exist.

    Readers of the text cannot follow it. Links are relative to the folder of the document. Only
    targets with the suffix of a file are judged: addresses of the web and of pages that a site may
    generate, such as `guide/` and `guide.html`, are not, and neither are links out of the source
    into a folder that does not exist, placeholders, and texts that say that a program wrote them.
    When one file of this name exists elsewhere in the source, its path is proposed.
    """

    id: ClassVar[str] = "broken-link"
    kind: ClassVar[str] = "link"
    severity: ClassVar[SeverityName] = "error"
    example: ClassVar[str] = "Read the [plan](plans/q3.md) first."

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the links to missing files."""
        links = [one for one in document.markup.links if not one.is_image and one.kind != "wiki"]
        yield from _check_files(self, document, surroundings, links, "file")


class MissingImage(Rule):
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


def _check_files(
    rule: Rule,
    document: ReviewDocument,
    surroundings: Surroundings,
    links: Iterable[LinkUse],
    what: str,
) -> Iterator[Finding]:
    """Yield a finding for each target that names a file which is certainly missing."""
    missing = [
        one for one in _list_each_once(links) if is_missing(document.source, surroundings, one)
    ]
    for link in missing if missing and not is_generated(document) else ():
        reason = f"the {what} does not exist: {split_target(link.target)[0]}"
        found = find_replacement(document.source, surroundings, link.target)
        if found:
            yield rule.build(*link.target_span, reason, edit="replace", fix=Fix(found))
        else:
            yield rule.build(*link.target_span, reason)


def _list_each_once(links: Iterable[LinkUse]) -> list[LinkUse]:
    """Return the last link with each target: a definition is the target of several links."""
    return list({link.target_span: link for link in links}.values())


class MissingNote(Rule):
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
            is_note = link.kind == "wiki" and name and not (link.is_image and _is_media(link))
            if not is_note or _NO_NOTE.match(link.target) or not is_path(link):
                continue
            if document.text.startswith(("[", "("), link.end):
                continue  # brackets around the text of another link
            if find_file(document.source, surroundings, link) is None:
                yield self.build(*link.target_span, f"there is no such note: {name}")


def _is_media(link: LinkUse) -> bool:
    return _MEDIA_SUFFIX.search(split_target(link.target)[0]) is not None


class BrokenAnchor(Rule):
    """A link names a heading or an anchor that its document does not have.

    The link then opens the top of the page. Anchors are the headings, as sites and note programs
    turn them into addresses, and ids such as `<a id="x">`, `{#x}` and `^x`. Their letters and
    digits are compared. Documents that include other files, or have components that may write
    headings, are not checked. Neither are names of code, such as `#pkg.Class`. When exactly one
    other document of the folder has the heading, it was probably moved, and its place is proposed.
    """

    id: ClassVar[str] = "broken-anchor"
    kind: ClassVar[str] = "link"
    severity: ClassVar[SeverityName] = "warning"
    example: ClassVar[str] = "# Plan\n\nSee [the costs](#costs)."

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the links to missing anchors."""
        for link in _list_each_once(document.markup.links):
            fragment = split_target(link.target)[1]
            if link.kind == "auto" or not fragment or not is_anchor(fragment):
                continue
            if _has_target(document, surroundings, link):
                continue
            start, end = link.target_span
            place = find_moved_heading(document, surroundings, link)
            if place is not None:
                reason = f"the heading is in another document: {place}"
                yield self.build(start, end, reason, edit="replace", fix=Fix(place))
            else:
                sign = document.text.find("#", start, end)
                reason = f"the target has no such heading or anchor: {fragment}"
                yield self.build(max(sign, start), end, reason)


def _has_target(document: ReviewDocument, surroundings: Surroundings, link: LinkUse) -> bool:
    """Return whether a file that a link names may have its anchor, or no file is known."""
    path, fragment = split_target(link.target)
    if not path:
        own = document.anchors
        return own is None or has_anchor(own, fragment)
    if not is_path(link) or path.endswith((".html", ".htm")):
        return True
    is_found = False
    for file in find_files(document.source, surroundings, link):
        is_found = True
        is_markdown = detect_media_type(file.name) == MARKDOWN
        anchors = surroundings.list_anchors(file) if is_markdown else None
        if anchors is None or has_anchor(anchors, fragment):
            return True
    return not is_found


_LEAST_WORD = 4
_LEAST_LETTERS = 8
"""Shorter headings, such as `Usage`, stand in many documents by chance."""


def find_moved_heading(
    document: ReviewDocument, surroundings: Surroundings, link: LinkUse
) -> str | None:
    """Return the new target of a broken link whose heading only another document has, or None."""
    path, fragment = split_target(link.target)
    words, key = fragment.lower().strip("-").split("-"), fold_anchor(fragment)
    is_telling = len(words) > 1 and len(key) >= _LEAST_LETTERS
    if not is_telling or link.kind not in {"inline", "reference"}:
        return None
    if path and not path.endswith((".md", ".mdx")):
        return None
    moved = surroundings.find_heading(document.source, key)
    anchors = surroundings.list_anchors(moved) if moved else None
    label = document.text[link.start : link.end].lower().split("](")[0]
    is_about = any(len(word) >= _LEAST_WORD and word in label for word in words)
    if moved is None or anchors is None or not has_anchor(anchors, fragment) or not is_about:
        return None  # it is not there, or the link is about something else
    if moved == document.source.file:
        return f"#{fragment}"
    if moved.stem.lower() == "readme" or moved.name == document.source.file.name:
        return None  # a copy in another language or version
    place = os.path.relpath(moved, document.source.file.parent).replace(os.sep, "/")
    start = "./" if path.startswith("./") and not place.startswith(".") else ""
    return f"{start}{place}#{fragment}"


_LEAST_LOST = 5
_LOST_SHARE = 0.8


def list_doubtful(document: ReviewDocument, findings: Sequence[Finding]) -> frozenset[str]:
    """Return the rules about links whose findings in a document are probably no mistakes.

    When several, and nearly all links of a page lead nowhere, a build probably makes their targets.
    """
    known: Counter[str] = Counter()
    for link in document.markup.links:
        if is_path(link) or link.target.startswith("#"):
            path, fragment = split_target(link.target)
            known[BrokenAnchor.id] += bool(fragment)
            known[MissingImage.id if link.is_image else BrokenLink.id] += bool(path)
    lost = Counter(one.rule_id for one in findings if one.rule_id in known)
    return frozenset(
        rule
        for rule, count in lost.items()
        if rule and count >= max(_LEAST_LOST, _LOST_SHARE * known[rule])
    )
