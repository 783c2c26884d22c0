"""Contains the rules about links and images, their targets and their references."""

import re
from collections.abc import Iterable, Iterator
from typing import ClassVar

from kebab.core.review import Finding, Fix, LinkUse, Surroundings, UndefinedLabel
from kebab.review.anchors import has_anchor, is_anchor, list_anchors
from kebab.review.document import ReviewDocument
from kebab.review.link_targets import (
    find_file,
    find_replacement,
    is_markdown,
    is_missing,
    is_path,
    may_define_labels,
    split_target,
)
from kebab.review.rules.rule import Rule, build_finding
from kebab.wire.review import SeverityName

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
