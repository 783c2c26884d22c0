"""Contains the rules about front matter."""

import re
from collections.abc import Iterator
from typing import ClassVar

from kebab.core.media import MARKDOWN
from kebab.core.review import Finding, ReviewText, Surroundings
from kebab.review.document import ReviewDocument
from kebab.review.rules.rule import build_finding
from kebab.wire.review import SeverityName

_FIRST_LINE = re.compile(r"\S[^\n]*")
_COVER_NAMES = frozenset({"readme", "index", "_index", "changelog", "license", "contributing"})
_FRAGMENT_FOLDERS = frozenset({"includes", "_includes", "partials", "_partials", "snippets"})


class MalformedFrontMatter:
    """The front matter cannot be read.

    Programs then ignore its fields or show it as text. The usual causes are a value with a colon
    and no quotation marks, and a missing `---` at the end.
    """

    id: ClassVar[str] = "malformed-front-matter"
    kind: ClassVar[str] = "front_matter"
    severity: ClassVar[SeverityName] = "error"
    example: ClassVar[str] = "---\ntitle: Plan: the costs\n---\n\nText\n"

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the front matter when it is damaged."""
        del surroundings
        front = document.markup.front_matter
        if front and front.fault:
            line_end = document.text.find("\n", front.start, front.end)
            end = line_end if line_end > front.start else front.end
            yield build_finding(self, front.start, end, front.fault)


class MissingFrontMatterField:
    """The front matter lacks a field that nearly all other notes of the folder have.

    Lists and searches by that field leave the note out. Nearly all means 9 of 10, in a folder with
    at least 5 other notes. Notes such as `README.md` and `index.md` are not checked. Neither are
    texts without front matter that other pages include, such as `_part.md` and those in `includes`.
    """

    id: ClassVar[str] = "missing-front-matter-field"
    kind: ClassVar[str] = "front_matter"
    severity: ClassVar[SeverityName] = "suggestion"
    example: ClassVar[str] = "---\nauthor: Kim\n---\n\nText\n"

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield one finding that names the missing fields."""
        source, front = document.source, document.markup.front_matter
        is_cover = source.file.stem.lower() in _COVER_NAMES
        if (
            is_cover
            or (front is None and _is_fragment(source))
            or source.media != MARKDOWN
            or (front and front.fault)
        ):
            return
        own = {name.lower() for name, _ in front.fields} if front else set()
        missing = sorted(surroundings.list_usual_fields(source) - own)
        if missing:
            line = _FIRST_LINE.search(document.text)
            reason = f"the other notes of the folder have these fields: {', '.join(missing)}"
            yield build_finding(self, *(line.span() if line else (0, 0)), reason)


def _is_fragment(source: ReviewText) -> bool:
    """Return whether the path of a document tells that other pages include its text."""
    path = source.file.relative_to(source.root)
    return path.name.startswith("_") or not _FRAGMENT_FOLDERS.isdisjoint(path.parts[:-1])
