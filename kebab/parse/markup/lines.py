"""Reads the lines and the metadata of markup that is cited by lines."""

from collections.abc import Mapping

from kebab.core.documents import Metadata
from kebab.parse.metadata import list_unique, read_language, split_authors, split_keywords
from kebab.text.dates import find_date

_TAB = 8


class Lines:
    """The lines of a text without tabs, with their indents; a blank line has the indent -1."""

    def __init__(self, text: str) -> None:
        lines = text.split("\n")
        self.raw = [line.expandtabs(_TAB) if "\t" in line else line for line in lines]
        self.text = [line.strip() for line in self.raw]
        self.indents = [
            len(line) - len(line.lstrip()) if bare else -1
            for line, bare in zip(self.raw, self.text, strict=True)
        ]
        self.count = len(lines)

    def find_dedent(self, first: int, last: int, minimum: int) -> int:
        """Return the first line from `first` on that is indented less than `minimum`."""
        number = first
        while number < last and not 0 <= self.indents[number] < minimum:
            number += 1
        return number

    def find_blank(self, first: int, last: int) -> int:
        """Return the first blank line from `first` on."""
        number = first
        while number < last and self.text[number]:
            number += 1
        return number

    def skip_blank(self, first: int, last: int) -> int:
        """Return the first line with text from `first` on."""
        number = first
        while number < last and not self.text[number]:
            number += 1
        return number


def read_metadata(fields: Mapping[str, str]) -> Metadata:
    """Return the metadata that fields declare; their names are in lower case."""
    tags = fields.get("tags") or fields.get("keywords") or fields.get("filetags") or ""
    return Metadata(
        title=fields.get("title") or None,
        # Org writes `:work:home:`.
        tags=list_unique(split_keywords(tags.replace("#", "").replace(":", ","))),
        lang=read_language(fields.get("lang") or fields.get("language")),
        authors=list_unique(split_authors(fields.get("authors") or fields.get("author") or "")),
        date=find_date(fields.get("date", "")),
    )
