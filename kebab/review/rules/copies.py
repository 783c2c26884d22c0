"""Contains the rule about paragraphs that another note has too."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from kebab.core.review import Finding, Surroundings
from kebab.review.document import ReviewDocument
from kebab.review.rules.rule import build_finding
from kebab.wire.review import SeverityName

_LEAST_WORDS = 40
_LEAST_CHARS = 160
"""A shorter paragraph has too few words, so counting them is saved."""

_MOST = 20
"""The most findings in a document: a document that is a copy as a whole is one fault."""

_NO_PARAGRAPH = re.compile(r"\s*(?:\||>|#|<)")
_DENSE_LETTER = re.compile("[\u3040-ヿ\u3400-\u9fff가-\ud7af]")
_DENSE_SHARE = 0.3
_CHARS_PER_WORD = 3


class NearDuplicate:
    """A paragraph is nearly the same as a passage of another note.

    When one of the two is changed, the other one is out of date. Only the notes of the index are
    compared. Short paragraphs, tables, quotations, and text that stands in many notes, such as a
    licence, are not reported. Keep one of them, and refer to it in the other note.
    """

    id: ClassVar[str] = "near-duplicate"
    kind: ClassVar[str] = "duplicate"
    severity: ClassVar[SeverityName] = "suggestion"
    example: ClassVar[str] = (
        "The backup runs every night at two o'clock and copies the notes, the pictures and the"
        " settings to the second disk. It keeps the last seven copies and deletes the older ones."
        " When the disk is not connected, the backup waits for it, and reminds you once a day."
    )

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the paragraphs that another note has too."""
        found = 0
        for start, end in document.paragraphs if surroundings.has_index else ():
            if end - start < _LEAST_CHARS or _NO_PARAGRAPH.match(document.text, start):
                continue
            text = document.text[start:end]
            if _count_words(document.prose[start:end]) < _LEAST_WORDS:
                continue
            similar = surroundings.find_similar(document.source, text.strip())
            if similar is None:
                continue
            first = start + len(text) - len(text.lstrip())
            place = f"{similar.chunk.path}:{similar.chunk.start_line}"
            reason = f"the paragraph is nearly the same as in another note: {place}"
            finding = build_finding(self, first, start + len(text.rstrip()), reason)
            yield replace(finding, cites=similar.chunk, conf=round(similar.similarity, 2))
            found += 1
            if found == _MOST:
                return


def _count_words(block: str) -> int:
    """Return the number of words; where words are not separated, three characters count as one."""
    words = len(block.split())
    if block.isascii():
        return words
    dense = len(_DENSE_LETTER.findall(block))
    return max(words, dense // _CHARS_PER_WORD) if dense > len(block) * _DENSE_SHARE else words
