"""Contains the rule about words that are written twice."""

import re
from collections.abc import Iterator
from typing import ClassVar

from kebab.core.review import Finding, Fix, Surroundings
from kebab.review.document import ReviewDocument
from kebab.review.rules.rule import build_finding
from kebab.wire.review import SeverityName

_TWICE = re.compile(r"\b([^\W\d_]{2,})([ \t]*\n?[ \t]+|\n)(\1)\b", re.IGNORECASE)
_ALLOWED = frozenset(
    {"bye", "had", "ha", "so", "that", "very", "blah", "no", "yes", "vous", "nous"}
)
"""Words that are often repeated on purpose."""


class RepeatedWord:
    """A word is written twice in a row.

    This is almost always left over from editing. Words that are repeated on purpose, such as
    `had had`, and words at the border of two sentences are not reported. Delete one of the two.
    """

    id: ClassVar[str] = "repeated-word"
    kind: ClassVar[str] = "repetition"
    severity: ClassVar[SeverityName] = "warning"
    example: ClassVar[str] = "Open the the settings."

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the words that repeat the word before them."""
        del surroundings
        for found in _TWICE.finditer(document.prose):
            if found[1] == found[3] and found[1].lower() not in _ALLOWED:
                span = found.start(2), found.end(3)
                reason = f"the word is repeated: {found[1]}"
                yield build_finding(self, *span, reason, edit="delete", fix=Fix(""))
