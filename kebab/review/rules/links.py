"""Contains the rules about links and images: their targets, anchors and notes."""

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

from kebab.core.review import Finding, Fix, LinkUse, Surroundings
from kebab.review.anchors import fold_anchor, has_anchor, is_anchor
from kebab.review.document import ReviewDocument
from kebab.review.rules.rule import Rule, build_finding, is_generated
from kebab.review.rules.targets import (
    find_file,
    find_files,
    find_replacement,
    is_markdown,
    is_missing,
    is_path,
    split_target,
)
from kebab.wire.review import SeverityName

_MEDIA_SUFFIX = re.compile(
    r"\.(?:png|jpe?g|gif|svg|webp|avif|bmp|ico|tiff?|pdf|mp[34]|mov|webm|ogg|wav)\Z", re.IGNORECASE
)
_NO_NOTE = re.compile(r"\s|[-$!\"'(=\d.]|.*(?:[&=\"]|\|\||[\s,\d]\Z)|(?:[a-z_][\w-]*\.)+[\w-]+\Z")
"""What stands in double brackets and is code, such as a test of a shell or a table of TOML."""


class BrokenLink:
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
            yield build_finding(rule, *link.target_span, reason, edit="replace", fix=Fix(found))
        else:
            yield build_finding(rule, *link.target_span, reason)


def _list_each_once(links: Iterable[LinkUse]) -> list[LinkUse]:
    """Return the last link with each target: a definition is the target of several links."""
    return list({link.target_span: link for link in links}.values())


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
            is_note = link.kind == "wiki" and name and not (link.is_image and _is_media(link))
            if not is_note or _NO_NOTE.match(link.target) or not is_path(link):
                continue
            if document.text.startswith(("[", "("), link.end):
                continue  # brackets around the text of another link
            if find_file(document.source, surroundings, link) is None:
                yield build_finding(self, *link.target_span, f"there is no such note: {name}")


def _is_media(link: LinkUse) -> bool:
    return _MEDIA_SUFFIX.search(split_target(link.target)[0]) is not None


class BrokenAnchor:
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
                yield build_finding(self, start, end, reason, edit="replace", fix=Fix(place))
            else:
                sign = document.text.find("#", start, end)
                reason = f"the target has no such heading or anchor: {fragment}"
                yield build_finding(self, max(sign, start), end, reason)


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
        anchors = surroundings.list_anchors(file) if is_markdown(file) else None
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
