"""Contains the rule about words that are written twice."""

import re
import unicodedata
from collections.abc import Iterator
from itertools import compress, islice, product
from operator import eq
from typing import ClassVar

from kebab.core.media import MARKDOWN
from kebab.core.review import Finding, Fix, Surroundings
from kebab.review.document import ReviewDocument
from kebab.review.rules.rule import build_finding, is_copied, is_record, is_title_of_change
from kebab.wire.review import SeverityName

_GAPS = (" ", "\n", " \n", "\t\n")
_BEFORE_FIRST = ' \n("*_'
_TWICE = re.compile(r"([^\W\d_]{2,}+)( |[ \t]?\n[ \t>]*)(?=((?i:\1))(?![\w'’/=(*<>+-]|[.:]\w))")
_ALLOWED = frozenset(
    {
        *("blah", "bla", "bye", "ha", "had", "is", "in", "on", "la", "na", "no", "so", "that"),
        *(
            "any",
            "maybe",
            "something",
            "anywhere",
            "very",
            "really",
            "many",
            "much",
            "long",
            "far",
            "more",
        ),
        *("yes", "vous", "nous", "die", "der", "das", "sie", "si", "muy", "que", "nos", "ver"),
    }
)
"""Words that are often repeated on purpose, or that two clauses share."""

_REDUPLICATING = frozenset("az bn haw hi id jv mi ms su ta te th tl tr vi".split())  # noqa: SIM905
"""Languages that repeat words as part of their grammar."""

_FIRST_OTHER_SCRIPT = "\u0900"
"""From here on, scripts have words that are repeated on purpose, or no blanks between words."""

_LEAST_WRAPPED = 24
"""The fewest characters before a line break that is inside a sentence."""

_IDENTIFIER_END = re.compile(r"(?:\w\\?[_.:/@-]|\s--?\w[\w-]*[ ])\Z")
"""What stands before the last part of a name, or before the value of an option."""

_BEFORE_CLAUSE = re.compile(
    r"(?:\b(?:if|when|whenever|that|as|since|because|and|but|then|once|where|whether|so|or|while"
    r"|until|unless|though|how|than)[ ]|[.:;,!?(][ ]|\n)\Z",
    re.IGNORECASE,
)
"""What stands before an `it` that begins a clause; `when you set it it will` lacks a comma only."""

_RELATIVE = re.compile(r"\b(?:that|which|who|what|whatever)[ ]\Z", re.IGNORECASE)
"""What stands before a verb that ends a clause, as in `a row that fails fails the job`."""

_LISTING = re.compile(r"[ \t]*[-dl](?:[r-][w-][xsStT-]){3}")
"""The line of a file as `ls` shows it."""

_ITEM_START = re.compile(r"\n[ \t]*[-*+][ \t]+\Z")
_TERM = re.compile(
    r"\b(?:merge merge|pull pull) (?:request|commit|conflict)|(?:wise|logical) (?:and and|or or)\b"
)
_MENDED = re.compile(r"\b(?:fix(?:e[sd])?|removed?|doubled?|duplicated?)[ ]\Z", re.IGNORECASE)
"""What stands before a pair that was mended, as in `fix the the in the manual`."""

_LABEL = re.compile(r"[ ](?=[a-z]*\d)\w+")
"""A number, as in `the value of port port 80`."""
_BOUND = frozenset(
    {
        *("the", "a", "an", "and", "or", "of", "to", "with", "for", "from", "by", "at", "as", "if"),
        *("this", "these", "which", "will", "be", "are", "was", "were", "your", "their", "its"),
    }
)
"""Words that need another word behind them, so that a line that ends with one goes on."""

_FUNCTION_WORDS = _BOUND | {"not", "it", "we", "you", "they", "when", "where", "but", "can", "also"}


class RepeatedWord:
    """A word is written twice in a row.

    This is almost always left over from editing. Words that are repeated on purpose, such as
    `had had`, names, a word that stands there three times, and languages that form words by
    repetition are not reported, nor is a word at the border of two sentences, list items or cells,
    or in the title of a change. Delete one of the two.
    """

    id: ClassVar[str] = "repeated-word"
    kind: ClassVar[str] = "repetition"
    severity: ClassVar[SeverityName] = "warning"
    example: ClassVar[str] = "Open the the settings."

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the words that repeat the word before them."""
        del surroundings
        prose = document.prose
        for start in sorted(_find_pairs(document)):
            found = _TWICE.match(prose, start)
            if found and not _is_on_purpose(document, found):
                lang = (document.lang or "").partition("-")[0]
                if lang in _REDUPLICATING or is_copied(document):
                    return
                if is_title_of_change(document, start):
                    continue
                reason = f"the word is repeated: {found[1]}"
                yield build_finding(
                    self,
                    found.start(2),
                    found.end(3),
                    reason,
                    edit="delete",
                    fix=Fix("", safe="\n" not in found[2]),
                )


def _find_pairs(document: ReviewDocument) -> Iterator[int]:
    """Yield the offsets of words of the prose that may stand there twice."""
    lower = document.lower_prose
    # Only signs of ASCII part the words, so others may stand behind the second one.
    is_same = eq if lower.isascii() else bytes.startswith
    for (first, end), words in document.prose_parts:
        twice = set(compress(words, map(is_same, islice(words, 1, None), words)))
        for word, gap in product((word.decode() for word in twice if len(word) > 1), _GAPS):
            shown = f"{word} {word}" if gap == " " else word + gap
            start = lower.find(shown, first, end)
            while start >= 0:
                if not start or lower[start - 1] in _BEFORE_FIRST:
                    yield start
                start = lower.find(shown, start + 1, end)


def _is_on_purpose(document: ReviewDocument, found: re.Match[str]) -> bool:
    """Return whether a word may stand twice."""
    first, gap, second = found.groups()
    if first.lower() in _ALLOWED or first >= _FIRST_OTHER_SCRIPT or second[0].isupper():
        return True
    is_plain = document.source.media != MARKDOWN
    if second not in _FUNCTION_WORDS and (is_plain or is_record(document)):
        return True  # code, and titles of changes such as `revert revert`
    is_sentence = first.istitle() and (second in _BOUND or not first.isascii())
    if first != second and not (is_sentence and first.lower() == second):
        return True  # `AND and` and `Parameter parameter` are names
    text, start, end = document.text, found.start(1), found.end(3)
    pair = f"{first} {second}".lower()
    is_other = (
        bool(unicodedata.combining(text[end : end + 1] or " "))  # the word goes on
        or document.lower_text.count(pair) > document.lower_prose.count(pair)  # code of the page
        or gap != text[found.start(2) : found.end(2)]  # code stands between the two
        or text.startswith((";\n", "{\n"), end)
        or ("\n" in gap and text.startswith(":", end))  # a definition
        or (second == "it" and start and not _BEFORE_CLAUSE.search(text, max(0, start - 12), start))
        or (second not in _FUNCTION_WORDS and _RELATIVE.search(text, max(0, start - 12), start))
        or (second not in _FUNCTION_WORDS and _LABEL.match(text, end))
        or (text.startswith(" in", end) and _MENDED.search(text, max(0, start - 16), start))
        or (second == "to" and document.lang == "pl")
        or _LISTING.match(text, text.rfind("\n", 0, start) + 1)
        or _TERM.search(" ".join(text[max(0, start - 8) : end + 10].split())) is not None
        or bool(_ITEM_START.search(text, max(0, start - 12), start) and text[end : end + 1] == "\n")
        or _IDENTIFIER_END.search(text, max(0, start - 24), start) is not None
    )
    if is_other or ("\n" in gap and _is_border(text, first, start)):
        return True
    before, after = text[max(0, start - len(first) - 1) : start], text[end : end + len(first) + 1]
    if before.lower() == f"{first.lower()} " or after.lower() == f" {first.lower()}":
        return True
    return before[-1:] in tuple("\"'`“‘") and after[:1] in tuple("\"'`”’")


def _is_border(text: str, word: str, start: int) -> bool:
    """Return whether a line that ends with a word may end a sentence, a heading or a row."""
    line = text.rfind("\n", 0, start) + 1
    if start - line < _LEAST_WRAPPED and (word not in _BOUND or start == line):
        return True
    return text[line:start].lstrip().startswith("#") or "|" in text[line:start]
