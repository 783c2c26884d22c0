"""Contains the rules about links and images, their targets, anchors and references."""

import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import ClassVar
from urllib.parse import unquote

from kebab.core.review import Finding, Fix, LinkUse, ReviewText, Surroundings, UndefinedLabel
from kebab.review.anchors import fold_anchor, has_anchor, is_anchor
from kebab.review.document import ReviewDocument
from kebab.review.rules.rule import (
    Rule,
    build_finding,
    find_old_releases,
    is_generated,
    is_template,
)
from kebab.review.rules.targets import (
    find_file,
    find_files,
    find_other_case,
    find_reference,
    find_replacement,
    has_file_suffix,
    is_fragment,
    is_markdown,
    is_missing,
    is_named,
    is_path,
    may_define_labels,
    shares_labels,
    split_target,
)
from kebab.wire.review import SeverityName

_MEDIA_SUFFIX = re.compile(
    r"\.(?:png|jpe?g|gif|svg|webp|avif|bmp|ico|tiff?|pdf|mp[34]|mov|webm|ogg|wav)\Z", re.IGNORECASE
)
_NO_NOTE = re.compile(
    r"\s|[-$!\"'(=\d.]|_?toc_?\Z|(?:nodiscard|maybe_unused|noreturn|fallthrough|(?:un)?likely"
    r"|deprecated|no_unique_address|carries_dependency)\Z|.*(?:[&=\"]|\|\||\s\Z|[,\d]\Z)"
    r"|(?:[a-z_][\w-]*\.)+[\w-]+\Z"  # a table of TOML
    r"|[A-Z]\w*(?:Function|Object|Type|Value|Property|Keys|Of|Target|Handler|Data|List|Slots?|Id)\Z"
    r"|(?:Prototype|Get|Set|Call|Construct|Class|Extensible|Delete|Realm|Environment|Writable"
    r"|Enumerable|Configurable|Code|Scope|Match|Default|PreventExtensions|IsExtensible)\Z"
)
"""What stands in double brackets and is no link: code, and the slots of ECMAScript."""

_TOML_BODY = re.compile(r"[ \t]*\n(?:[ \t]*\n)*[ \t]*[\w.\"-]+[ \t]*=")
_DEFINITION = re.compile(r"^ {0,3}\[([^\]^\n][^\]\n]*)\]:[ \t]*\S", re.MULTILINE)
_FEW_DEFINITIONS = 5
_FOOTNOTE = re.compile(r" {0,3}\[\^[^\]\n]+\]:")
_NO_LABEL = re.compile(r"[\W\d_]|\w\Z|(?:\w-\w)+[\w.]{0,4}\Z|.*(?:::|[=<>*\\`]|\.\w|\(\))")


class BrokenLink:
    """A link names a file or folder that does not exist.

    Readers of the text cannot follow it. Links are relative to the folder of the document; their
    suffix may be missing as in note programs. Addresses of the web are not checked, and neither are
    links to pages that a site may generate, such as `.html` files, or links out of the source into
    a folder that does not exist. Absolute addresses are checked in sites of Hugo, Docusaurus,
    VitePress and Astro whose addresses follow the paths of files, and `ref` and `relref` in sites
    of Hugo. What Git ignores, what templates name, and what lists of changes say about old releases
    is not reported. When one file of this name exists elsewhere in the source, its path is
    proposed.
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


class LinkCase:
    """A link differs from the name of its file in letter case only.

    It works where file systems ignore case, and is broken on most servers and on GitHub. Write the
    name as the file has it.
    """

    id: ClassVar[str] = "link-case"
    kind: ClassVar[str] = "link"
    severity: ClassVar[SeverityName] = "warning"
    example: ClassVar[str] = "Read the [guide](guides/start.md) first."

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the links and images with another case."""
        links = [
            one
            for one in document.markup.links
            if one.kind in ("inline", "reference") and has_file_suffix(one)
        ]
        for link in _list_missing(document, surroundings, links):
            path = find_other_case(document.source, surroundings, link)
            if path is not None:
                fixed = path + link.target[len(split_target(link.target)[0]) :]
                reason = f"the name of the file differs in case: {path}"
                yield build_finding(
                    self, *link.target_span, reason, edit="replace", fix=Fix(fixed, safe=True)
                )


class MissingNote:
    """A wiki link names a note that does not exist.

    A note is found by its path, its name, its title, or one of its aliases. Create the note or
    correct the name. Double brackets that are code are not reported. In the sources of a site or a
    program they count only where another wiki link of the document leads to a note.
    """

    id: ClassVar[str] = "missing-note"
    kind: ClassVar[str] = "link"
    severity: ClassVar[SeverityName] = "suggestion"
    example: ClassVar[str] = "See [[Weekly review]] for more."

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the wiki links to no note."""
        links = [one for one in document.markup.links if one.kind == "wiki"]
        found = [link for link in links if self._is_missing(document, surroundings, link)]
        named = [link for link in links if split_target(link.target)[0].strip()]
        if found and len(found) == len(named) and is_of_program(document.source, surroundings):
            return
        for link in found:
            name = split_target(link.target)[0].strip()
            yield build_finding(self, *link.target_span, f"there is no such note: {name}")

    def _is_missing(
        self, document: ReviewDocument, surroundings: Surroundings, link: LinkUse
    ) -> bool:
        name = split_target(link.target)[0].strip()
        is_image = link.is_image and _is_media(link)
        if is_image or not name or _NO_NOTE.match(link.target) or _is_table(document, link):
            return False
        if document.text.startswith(("[", "("), link.end):
            return False  # brackets around the text of another link
        return is_path(link) and find_file(document.source, surroundings, link) is None


_ROUTE = re.compile(r"#!?/?[\w-]+/[\w-]")
"""A fragment that is the address of a page."""


class BrokenAnchor:
    """A link names a heading or an anchor that its document does not have.

    The link then opens the top of the page. Anchors are the headings, as sites and note programs
    turn them into addresses, and ids such as `<a id="x">`, `{#x}` and `^x`. Their letters and
    digits are compared. Documents that include other files or have components and tags that may
    write headings, the parts of a site that others include, and documents of Sphinx and MyST, whose
    labels hold for all, are not checked. Neither are names of code, such as `#pkg.Class`, and what
    lists of changes say about old releases. When exactly one other document of the folder has the
    heading, it was probably moved, and its place is proposed.
    """

    id: ClassVar[str] = "broken-anchor"
    kind: ClassVar[str] = "link"
    severity: ClassVar[SeverityName] = "warning"
    example: ClassVar[str] = "# Plan\n\nSee [the costs](#costs)."

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the links to missing anchors."""
        links = [one for one in document.markup.links if "#" in one.target and one.kind != "auto"]
        links = _list_each_once(document, links)
        if not links or shares_labels(document.source, surroundings):
            return
        titles: set[str] | None = None
        if any(one.target.startswith("#") for one in links) and not self._is_part(
            document, surroundings
        ):
            titles = {fold_anchor(heading.text) for heading in document.markup.headings}
        if any(_ROUTE.match(one.target) for one in links):
            titles = None  # the site finds its pages by fragments
        links = [
            one
            for one in links
            if is_anchor(split_target(one.target)[1]) and not _is_sign(document, one)
        ]
        missing = [one for one in links if not _has_anchor(document, surroundings, one, titles)]
        filled = _list_filled(links, missing)
        for link in missing:
            path, fragment = split_target(link.target)
            start, end = link.target_span
            place = find_moved_heading(document, surroundings, link)
            if place is not None:
                reason = f"the heading is in another document: {place}"
                yield build_finding(self, start, end, reason, edit="replace", fix=Fix(place))
            elif path not in filled:
                sign = document.text.find("#", start, end)
                reason = f"the target has no such heading or anchor: {fragment}"
                yield build_finding(self, max(sign, start), end, reason)

    def _is_part(self, document: ReviewDocument, surroundings: Surroundings) -> bool:
        """Return whether a page of a site has no title, and so may be part of others."""
        markup = document.markup
        has_title = bool(markup.headings) and markup.headings[0].level == 1
        if markup.front_matter is not None or has_title:
            return is_fragment(document.source)
        site = surroundings.find_site(document.source.file)
        return site is not None and not is_named(site, document.source.file)


_LEAST_MISSING = 5
_FILLED_SHARE = 0.8


def _list_filled(links: Sequence[LinkUse], missing: Sequence[LinkUse]) -> set[str]:
    """Return the paths of pages that a program probably fills: they lack nearly all anchors."""
    known = Counter(path for path, _ in {split_target(one.target) for one in links})
    lost = Counter(path for path, _ in {split_target(one.target) for one in missing})
    return _list_nearly_all_lost(known, lost)


def _list_nearly_all_lost(known: Counter[str], lost: Counter[str]) -> set[str]:
    """Return the keys of which several, and nearly all that are known, are lost."""
    return {
        key
        for key, count in lost.items()
        if count >= max(_LEAST_MISSING, _FILLED_SHARE * known[key])
    }


def _has_anchor(
    document: ReviewDocument,
    surroundings: Surroundings,
    link: LinkUse,
    titles: Collection[str] | None,
) -> bool:
    """Return whether the target of a link may have its anchor.

    `titles` are the own headings; None when the document is a part of others.
    """
    path, fragment = split_target(link.target)
    if path:
        return _has_target(document, surroundings, link)
    if titles is None or fold_anchor(unquote(fragment)) in titles:
        return True
    own = document.anchors  # which take far longer
    return own is None or has_anchor(own, fragment)


def _is_sign(document: ReviewDocument, link: LinkUse) -> bool:
    """Return whether the text of a link is a sign only, as programs write it behind names."""
    label = document.text[link.start : link.end].partition("](")[0]
    return label.startswith("[") and not any(map(str.isalnum, label))


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
        labels = [one.casefold() for one in _DEFINITION.findall(text)] if undefined else []
        undefined = [one for one in undefined if one.label.casefold() not in labels]
        definitions = len(labels)
        if not definitions:
            return
        if definitions < _FEW_DEFINITIONS:
            undefined = [one for one in undefined if not _is_in_footnote(text, one)]
        if may_define_labels(document.source, surroundings):
            return
        anchors = document.anchors if undefined else None
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


_PROGRAM_FILES = (
    *("package.json", "pyproject.toml", "setup.py", "Cargo.toml", "go.mod", "LICENSE", "COPYING"),
    *("Makefile", "CMakeLists.txt", "meson.build", "configure.ac", "pom.xml", "Gemfile"),
)


def is_of_program(document: ReviewText, surroundings: Surroundings) -> bool:
    """Return whether a document belongs to a site or a program, by the files of its repository."""
    if surroundings.find_site(document.file) is not None:
        return True
    tops = [document.root, *document.root.parents]
    last = next((at for at, top in enumerate(tops) if surroundings.exists(top / ".git")), 0)
    return any(
        surroundings.exists(top / name) for top in tops[: last + 1] for name in _PROGRAM_FILES
    )


def _is_table(document: ReviewDocument, link: LinkUse) -> bool:
    """Return whether double brackets are the head of a table of TOML."""
    text = document.text
    begins = not text[text.rfind("\n", 0, link.start) + 1 : link.start].strip()
    return begins and _TOML_BODY.match(text, link.end) is not None


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
    for link in _list_missing(document, surroundings, links):
        if find_other_case(source, surroundings, link) is not None:
            continue
        found = find_replacement(source, surroundings, link.target)
        reason = f"the {what} does not exist: {split_target(link.target)[0]}"
        if found:
            yield build_finding(rule, *link.target_span, reason, edit="replace", fix=Fix(found))
        else:
            yield build_finding(rule, *link.target_span, reason)


def _list_missing(
    document: ReviewDocument, surroundings: Surroundings, links: Iterable[LinkUse]
) -> list[LinkUse]:
    """Return the last link with each target that is missing, unless a program wrote the text."""
    missing = [
        link
        for link in _list_each_once(document, links)
        if is_missing(document.source, surroundings, link)
    ]
    is_part = document.text.startswith('R"')  # of code of C++
    return [] if missing and (is_part or is_generated(document)) else missing


def _list_each_once(document: ReviewDocument, links: Iterable[LinkUse]) -> list[LinkUse]:
    """Return the last link with each target, without those about old releases.

    A definition is the target of several links. Links of templates are examples.
    """
    once = {link.target_span: link for link in links}
    end = 0 if not once or is_template(document) else find_old_releases(document)
    return [link for link in once.values() if link.start < end]


def _has_target(document: ReviewDocument, surroundings: Surroundings, link: LinkUse) -> bool:
    """Return whether a file that a link names may have its anchor, or no file is known.

    A site with several versions may show another file than the nearest one.
    """
    if not is_path(link):
        return True
    if link.kind == "shortcode":
        found = find_reference(document.source, surroundings, link)
        files = iter([found] if found else [])
    else:
        files = find_files(document.source, surroundings, link)
    path, fragment = split_target(link.target)
    site = surroundings.find_site(document.source.file)
    if path.endswith((".html", ".htm")) and (site is None or site.kind == "other"):
        return True  # a program that is not known makes the ids
    key = fold_anchor(unquote(fragment))
    is_found = False
    for file in files:
        is_found = True
        if not is_markdown(file) or surroundings.has_heading(file, key):
            return True
        anchors = surroundings.list_anchors(file)
        if anchors is None or has_anchor(anchors, fragment):
            return True
    return not is_found


LINK_RULES: Mapping[str, Rule] = {
    one.id: one for one in (BrokenLink(), MissingImage(), BrokenAnchor())
}
"""The rules whose findings depend on how the pages of a source are built, by id."""

_LEAST_FILES = 3
_DOUBTFUL_SHARES = {BrokenLink.id: 0.05, MissingImage.id: 0.05, BrokenAnchor.id: 0.1}
"""In most sources that were read by hand, up to 3 % of the links to files and 7 % of those to
anchors were broken; where a build made the targets, 5 and 14 to 100 % seemed to be, in several
files."""


def list_doubtful(
    document: ReviewDocument, findings: Iterable[Finding], surroundings: Surroundings
) -> frozenset[str]:
    """Return the rules about links whose findings in a document are probably no mistakes.

    That is only known of sites and programs, because notes have no build: so many links of the
    source, or nearly all of the document, lead nowhere that a build probably makes the targets.
    """
    lost = Counter(str(one.rule_id) for one in findings if one.rule_id in LINK_RULES)
    if not lost or not is_of_program(document.source, surroundings):
        return frozenset()
    return surroundings.list_doubtful(document.source) | _list_nearly_all_lost(
        _count_links(document), lost
    )


def _count_links(document: ReviewDocument) -> Counter[str]:
    """Return how many links each rule may find."""
    known: Counter[str] = Counter()
    for link in document.markup.links:
        if is_path(link) or link.target.startswith("#"):
            path, fragment = split_target(link.target)
            known[BrokenAnchor.id] += bool(fragment)
            known[MissingImage.id if link.is_image else BrokenLink.id] += bool(path)
    return known


def find_doubtful(
    documents: Iterable[ReviewDocument], surroundings: Surroundings
) -> frozenset[str]:
    """Return the rules about links that find too much in some documents of a source."""
    known: Counter[str] = Counter()
    lost: Counter[str] = Counter()
    files: Counter[str] = Counter()
    for document in documents:
        known += _count_links(document)
        for name, rule in LINK_RULES.items():
            count = sum(1 for _ in rule.check(document, surroundings))
            lost[name] += count
            files[name] += count > 0
    return frozenset(
        name
        for name, count in lost.items()
        if files[name] >= _LEAST_FILES
        and count >= max(_LEAST_MISSING, _DOUBTFUL_SHARES[name] * known[name])
    )
