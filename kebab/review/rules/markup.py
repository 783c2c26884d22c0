"""Contains the rules about marks that a page shows as text, or that make it lose text."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

from kebab.core.media import MARKDOWN
from kebab.core.review import Finding, Fix, LinkUse, Span, Surroundings
from kebab.review.document import ReviewDocument, find_code
from kebab.review.rules.rule import (
    build_finding,
    is_cut_cell,
    is_generated,
    is_list_of_changes,
)
from kebab.review.rules.targets import (
    is_markdown,
    is_site,
    may_define_labels,
    shares_labels,
    split_target,
)
from kebab.wire.review import SeverityName


def _is_code(document: ReviewDocument, start: int) -> bool:
    """Return whether an offset is in code, in a comment, or in the front matter."""
    return bool(find_code(document, start, start + 1))


_DELIMITERS = re.compile(
    r"\n[ \t>]*+"
    r"(?P<cells>\|?[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+\|?)[ \t]*+(?=\n|\Z)"
)
"""A row of hyphens, from the end of the line above."""

_ESCAPED = re.compile(r"\\[\\|]")
_CODE_SPAN = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
_TEMPLATE = re.compile(r"\{[{%<]")
_NO_ROW = re.compile(
    r"[ \t>]*(?:$|#{1,6}[ \t]|```|~~~|<|[-*+][ \t]+[^|]*$|\d+[.)][ \t]+[^|]*$|:::)"
)


class TableCells:
    r"""A row of a table has another number of cells than its header.

    GitHub and most programs leave out the cells that are too many, so that their text is lost, and
    show empty ones for those that are missing. A `|` inside a cell is written as `\|`, also in
    code. Rows with one cell that may be headings of groups are not reported, nor are rows
    with templates. A row with too few cells is reported when it is the only one, and not the last.
    When the row of hyphens has another number of cells than the header, there is no table at all.
    """

    id: ClassVar[str] = "table-cells"
    kind: ClassVar[str] = "table"
    severity: ClassVar[SeverityName] = "warning"
    example: ClassVar[str] = "| name | age |\n| --- | --- |\n| Kim | 7 | 3 |\n"

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the rows that differ from the header."""
        found = list(self._find(document, surroundings))
        yield from () if found and is_generated(document) else found

    def _find(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        text = document.text
        if document.source.media != MARKDOWN or "|" not in text:
            return
        end = 0
        for line in _DELIMITERS.finditer(text):
            is_table = "|" in line["cells"] and line.start() + 1 >= end
            if not is_table or _is_code(document, line.start("cells")):
                continue
            header = text[text.rfind("\n", 0, line.start()) + 1 : line.start()]
            if "|" not in header or _NO_ROW.match(header) or _TEMPLATE.search(header):
                continue
            item = _ITEM.match(header)
            wanted, columns = (
                _count_cells(header[item.end() if item else 0 :]),
                _count_cells(line["cells"]),
            )
            end = line.end()
            if wanted != columns:
                if wanted > 1 and columns > 1:
                    reason = f"there is no table: {columns} columns below {wanted} cells"
                    yield build_finding(self, line.start("cells"), line.end("cells"), reason)
                continue
            rows = list(_iter_rows(text, line.end() + 1))
            end = rows[-1][1] if rows else end
            yield from self._check_rows(document, surroundings, rows, columns)

    def _check_rows(
        self,
        document: ReviewDocument,
        surroundings: Surroundings,
        rows: Sequence[Span],
        columns: int,
    ) -> Iterator[Finding]:
        """Yield the rows of a table with too many cells, and the only one with too few."""
        counts = [_count_cells(document.text[start:end]) for start, end in rows]
        short = [count for count in counts if 1 < count < columns]
        is_odd = len(short) == 1 and counts.count(columns) >= _LEAST_ROWS
        is_cut = counts.count(1) == 1 and not short and counts.count(columns) >= _LEAST_ROWS
        has_empty = any(_NO_LAST_CELL.search(document.text[start:end]) for start, end in rows)
        for (start, end), count in zip(rows, counts, strict=True):
            row = document.text[start:end]
            if count == 1 and not (is_cut and _is_cut_row(row) and start > rows[0][0]):
                continue
            if count == columns or not row.strip("|> \t") or _TEMPLATE.search(row):
                continue
            if (
                count + 1 == columns
                and row.rstrip().endswith("|")
                and not row.lstrip().startswith("|")
            ):
                continue  # its last cell is empty
            if count < columns and (not (is_odd or is_cut) or end == rows[-1][1] or has_empty):
                continue
            is_short = len(row) <= _LONGEST_ROW
            if (
                is_short
                and _count_cells(_CODE_SPAN.sub("", row)) == columns
                and may_define_labels(document.source, surroundings)
            ):
                continue  # MkDocs knows code in cells
            lost = ": the last are not shown" if count > columns else ""
            reason = f"the row has {count} cells, and the header {columns}{lost}"
            yield build_finding(self, end - len(row.lstrip(" \t>")), end, reason)


_LEAST_ROWS = 2
_NO_LAST_CELL = re.compile(r"\|[ \t]*+\|[ \t]*+\Z")
_ONE_CELL = re.compile(r"[ \t>]*+\|[ \t]*+([\w`][^|*]*+)\|[ \t]*+")
_LONGEST_ROW = 2_000


def _is_cut_row(row: str) -> bool:
    """Return whether a row has one cell of several words, which is no heading of a group."""
    found = _ONE_CELL.fullmatch(row)
    return found is not None and len(found[1].split()) > 1


_ITEM = re.compile(r"[ \t>]*+(?:[-*+]|\d++[.)])[ \t]++(?=\|)")


def _count_cells(row: str) -> int:
    """Return how many cells a row has."""
    cells = _ESCAPED.sub("", row.strip(" \t>")).removeprefix("|").removesuffix("|")
    return cells.count("|") + 1


def _iter_rows(text: str, start: int) -> Iterator[tuple[int, int]]:
    """Yield the start and the end of each row from an offset."""
    while start < len(text):
        end = text.find("\n", start)
        end = end if end >= 0 else len(text)
        row = text[start:end]
        if "|" not in row or _NO_ROW.match(row):
            return
        yield start, end
        start = end + 1


_CONFLICT = re.compile(r"^(?:<{7}|={7}|>{7}|\|{7})(?:$| .*$)", re.MULTILINE)


class MergeConflict:
    """The marks of a merge conflict are left in the text.

    Both versions are then in the page. Keep one of them and remove the marks. Code blocks, which
    may show such marks, are not checked.
    """

    id: ClassVar[str] = "merge-conflict"
    kind: ClassVar[str] = "markup"
    severity: ClassVar[SeverityName] = "error"
    example: ClassVar[str] = "<<<<<<< HEAD\nIt costs 5.\n=======\nIt costs 7.\n>>>>>>> main\n"

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the first mark of each conflict."""
        del surroundings
        if "<<<<<<<" not in document.text and ">>>>>>>" not in document.text:
            return
        marks = [
            one
            for one in _CONFLICT.finditer(document.text)
            if not document.is_in_block(one.start())
        ]
        if len({one[0][0] for one in marks} - {"|"}) <= 1:
            return  # the line of equal signs alone makes a heading
        if "<<<<<<< SEARCH" in document.text:
            return  # the edits of an assistant
        is_open = False
        for one in marks:
            sign = one[0][0]
            if sign == "<" or (not is_open and sign == ">"):
                yield build_finding(self, *one.span(), "a merge conflict is not resolved")
            is_open = sign == "<" or (is_open and sign != ">")


_REVERSED = re.compile(
    r"(?<![\w\])])\((?P<text>[^()\[\]\n]{1,200})\)"
    r"\[(?P<target>(?:https?://|mailto:|www\.|\.{0,2}/|#(?=[a-z]))[^\]\[\s]+"
    r"|[\w./-]+\.(?:md|mdx|html?|rst|png|jpe?g|svg|pdf)(?:#[\w-]+)?)\](?![(\[:{])"
)


class ReversedLink:
    """The brackets of a link are written the wrong way round.

    The page then shows them, and no link. The text stands in square brackets, the address in round
    ones.
    """

    id: ClassVar[str] = "reversed-link"
    kind: ClassVar[str] = "link"
    severity: ClassVar[SeverityName] = "error"
    example: ClassVar[str] = "Read (the manual)[https://example.org/manual] first.\n"

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the reversed links."""
        del surroundings
        text = document.text
        if document.source.media != MARKDOWN or ")[" not in text:
            return
        for found in _REVERSED.finditer(text):
            if not _is_code(document, found.start()) and not _is_code(
                document, found.start("target") - 1
            ):
                fix = f"[{found['text']}]({found['target']})"
                reason = f"the brackets of the link are reversed: {found['text']}"
                yield build_finding(self, *found.span(), reason, edit="replace", fix=Fix(fix))


_TO_TOP = re.compile(r"\btop\b|↑|⬆|🔝|\bback\b|\bup\b", re.IGNORECASE)


_FEW_CODES = 2


class EmptyLink:
    """A link has no address or no text.

    Readers cannot follow `[text]()`, and cannot see `[](address)`. `[text](#)` opens the top of
    the page, which is meant only when the text says so. Links to
    labels and pages whose text a site fills in, and images, are not reported.
    """

    id: ClassVar[str] = "empty-link"
    kind: ClassVar[str] = "link"
    severity: ClassVar[SeverityName] = "warning"
    example: ClassVar[str] = "Read the [manual]() first.\n"

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the links without address or text."""
        text = document.text
        if document.source.media != MARKDOWN or document.source.file.name == "SUMMARY.md":
            return  # there mdBook has chapters without a page
        links = [
            link
            for link in document.markup.links
            if link.kind == "inline" and not link.is_image and text[link.start] == "["
        ]
        codes = [one for one in links if not one.target and text.startswith("[`", one.start)]
        is_filled = len(codes) > _FEW_CODES  # a program finds the page of each name of code
        for link in links:
            if is_filled and link in codes:
                continue
            label = text[link.start + 1 : link.target_span[0]].rpartition("]")[0]
            is_anchor = text.startswith("{", link.end)  # `[](){#id}` declares an anchor
            if link.target in {"", "#"} and label.strip() and not is_anchor:
                if link.target == "" or not _TO_TOP.search(label):
                    yield build_finding(self, link.start, link.end, "the link has no address")
            elif not (label.strip() or is_anchor or _fills_in_text(document, surroundings, link)):
                yield build_finding(self, link.start, link.end, "the link has no text")


_FILLED_BY = ("manifest.uuid", ".fossil-settings", "hotdoc.json", "docs/hotdoc.json")
"""Files of Fossil and hotdoc, which show the address or the title of a page."""


def _fills_in_text(document: ReviewDocument, surroundings: Surroundings, link: LinkUse) -> bool:
    """Return whether a program may write the text of a link, to a label or a page."""
    target = link.target
    root = document.source.root
    if shares_labels(document.source, surroundings) or any(
        surroundings.exists(root / name) for name in _FILLED_BY
    ):
        return True
    if target.startswith(("http:", "https:", "mailto:")):
        return False
    is_page = is_markdown(Path(split_target(target)[0]))
    return not is_page or is_site(document.source, surroundings)


_GLUED = re.compile(r"##(?<![^\n]##)#{0,4}(?=[^\W\d_])")


_FEW_GLUED, _LOWEST = 2, 6


class GluedHeading:
    """No blank follows the signs of a heading.

    It is then no heading but text. Write a blank after the last `#`. A single `#`
    before a word may begin a tag, and is not reported.
    """

    id: ClassVar[str] = "glued-heading"
    kind: ClassVar[str] = "structure"
    severity: ClassVar[SeverityName] = "warning"
    example: ClassVar[str] = "# Plan\n\n##Costs\n\n100\n"

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the signs of such headings."""
        del surroundings
        text = document.text
        if document.source.media != MARKDOWN or "##" not in text:
            return
        glued = [one for one in _GLUED.finditer(text) if not _is_code(document, one.start())]
        counts = Counter(one[0] for one in glued)
        for found in glued:
            # Some programs need no blank, and nobody uses the lowest level by chance.
            if counts[found[0]] <= _FEW_GLUED and len(found[0]) < _LOWEST:
                fix = Fix(f"{found[0]} ")
                reason = "a blank is missing after the signs of the heading"
                yield build_finding(self, *found.span(), reason, edit="replace", fix=fix)


_ARGUMENTS = re.compile(r"(?:\w*kwargs?|kwds|kw|opts|options|params|\w+_\w+)\b")
"""What stands behind two asterisks in Python."""

_STRONG = re.compile(r"\*\*(?<![*\\]\*\*)(?!\*)")


class UnclosedEmphasis:
    r"""Two asterisks begin bold text that does not end in its paragraph.

    The page shows the asterisks. Close the bold text, or write `\**` when asterisks are meant. A
    paragraph in which the marks cannot be told apart, such as one with a formula, is not reported.
    """

    id: ClassVar[str] = "unclosed-emphasis"
    kind: ClassVar[str] = "markup"
    severity: ClassVar[SeverityName] = "warning"
    example: ClassVar[str] = "The **costs are 100 for a week.\n"

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the marks that nothing closes."""
        del surroundings
        if document.source.media != MARKDOWN or "**" not in document.text:
            return
        for start, end in document.paragraphs:
            if document.prose.find("**", start, end) >= 0:
                opened = _find_unclosed(document, start, end)
                if (
                    opened is not None
                    and not _ARGUMENTS.match(document.text, opened + 2)
                    and not is_cut_cell(document, opened)
                    and "</code" not in document.text[opened:].partition("\n")[0]
                ):
                    reason = "the bold text does not end in its paragraph"
                    yield build_finding(self, opened, opened + 2, reason)


def _find_unclosed(document: ReviewDocument, start: int, end: int) -> int | None:
    """Return the only mark of a paragraph that opens bold text without an end."""
    text = document.text
    marks = [one.start() for one in _STRONG.finditer(document.prose, start, end)]
    if len(marks) % 2 == 0:
        return None
    opened: list[int] = []
    for mark in marks:
        before, after = text[mark - 1 : mark], text[mark + 2 : mark + 3]
        may_open = bool(after) and not after.isspace()
        may_close = bool(before) and not before.isspace()
        if may_open and may_close and before.isalnum() and after.isalnum():
            return None  # a power, or emphasis inside of a word
        if not may_open and not may_close:
            return None
        if may_close and opened:
            opened.pop()
        elif may_open and (not before or not before.isalnum()):
            opened.append(mark)
        else:
            return None
    if len(opened) != 1 or not text[opened[0] + 2].isalnum():
        return None
    rest = text[opened[0] + 2 : text.find("\n\n", opened[0])]
    return None if "**" in rest else opened[0]


_SPACED = re.compile(
    r"\*\*(?<![*\\]\*\*)(?: (?P<both>[^\W\d_][^*\n]{0,80}?) ?| ?(?P<end>[^\W\d_][^*\n]{0,80}?) )"
    r"\*\*(?=[\s.,;:!?)]|\Z)"
)


class SpacedEmphasis:
    """A blank stands between two asterisks and the text that they make bold.

    The page shows the asterisks. Remove the blanks.
    """

    id: ClassVar[str] = "spaced-emphasis"
    kind: ClassVar[str] = "markup"
    severity: ClassVar[SeverityName] = "warning"
    example: ClassVar[str] = "The ** costs ** are 100.\n"

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the marks with their text."""
        del surroundings
        text = document.text
        if document.source.media != MARKDOWN or ("** " not in text and " **" not in text):
            return
        for found in _SPACED.finditer(text):
            line = text[text.rfind("\n", 0, found.start()) + 1 : found.start()]
            if _is_code(document, found.start()) or _is_code(document, found.end() - 1):
                continue
            if len(_STRONG.findall(line)) % 2 == 0 and (not line or line[-1].isspace()):
                fix = Fix(f"**{(found['both'] or found['end']).strip()}**")
                reason = "blanks inside of the asterisks keep the text from being bold"
                yield build_finding(self, *found.span(), reason, edit="replace", fix=fix)


_DEFINITION = re.compile(
    r"^ {0,3}\[(?P<label>[^\]^\\\n][^\]\n]*)\]:[ \t]*(?P<address>\S++)[^\n]*", re.MULTILINE
)
_COMMENT = re.compile(r"//|comment|#|\{|@|\?|_|v?\d+(?:\.\d+)+|unreleased")
"""The labels of comments, and those of issues, people and versions."""


class UnusedDefinition:
    """A label of a link is defined, and no link uses it.

    Readers do not see it. Use it or remove it. Labels of comments, such as `//`, and of issues,
    people and versions are not reported, and neither are lists of changes.
    """

    id: ClassVar[str] = "unused-definition"
    kind: ClassVar[str] = "link"
    severity: ClassVar[SeverityName] = "suggestion"
    example: ClassVar[str] = "Read the manual.\n\n[manual]: manual.md\n"

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the definitions of labels that stand nowhere else in brackets."""
        text = document.text
        if document.source.media != MARKDOWN or "]:" not in text or is_list_of_changes(document):
            return
        plain = " ".join(document.lower_text.split())
        for found in _DEFINITION.finditer(text):
            label = found["label"].lower()
            if (
                _COMMENT.match(label)
                or found["address"] == "<>"
                or found["address"].startswith("#")  # the name of a section, for others
                or document.is_in_block(found.start())
            ):
                continue
            if plain.count(f"[{' '.join(label.split())}]") == 1 and not may_define_labels(
                document.source, surroundings
            ):
                reason = f"no link uses the label: {found['label']}"
                yield build_finding(self, *found.span(), reason)


_FIELD = re.compile(r"^(?P<name>[A-Za-z_][\w.-]*)[ \t]*(?P<sign>[:=])(?=[ \t\n])", re.MULTILINE)


class DuplicateFrontMatterField:
    """The front matter has a field twice.

    Programs use one of the two, mostly the last, or refuse the page. Remove one.
    """

    id: ClassVar[str] = "duplicate-front-matter-field"
    kind: ClassVar[str] = "front_matter"
    severity: ClassVar[SeverityName] = "error"
    example: ClassVar[str] = "---\ntitle: Plan\ndate: 2026-01-02\ntitle: Costs\n---\n\nText\n"

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the fields that an earlier one equals."""
        del surroundings
        front = document.markup.front_matter
        if front is None:
            return
        sign = "=" if document.text.startswith("+++", front.start) else ":"
        first: dict[str, int] = {}
        table = document.text.find("\n[", front.start, front.end) if sign == "=" else -1
        for field in _FIELD.finditer(
            document.text, front.start, table if table >= 0 else front.end
        ):
            if (
                field["sign"] == sign
                and first.setdefault(field["name"], field.start()) != field.start()
            ):
                line = document.find_line(first[field["name"]])[0]
                reason = f"line {line} has the same field: {field['name']}"
                yield build_finding(self, *field.span("name"), reason)
