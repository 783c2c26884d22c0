"""Contains the rules about spelling, which need no network and no language model.

Precision comes first: a spelling that is uncertain, such as that of a name or of a word in another
language, is no finding. The words of a folder are its own: what several documents use is right.
"""

import re
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from kebab.core.media import MARKDOWN, is_code
from kebab.core.review import Finding, Fix, Span, Surroundings
from kebab.review.document import ReviewDocument, list_words
from kebab.review.rules.near_words import LONGEST, SHORTEST, find_meant, load_dictionary
from kebab.review.rules.rule import (
    build_finding,
    is_copied,
    is_cut_cell,
    is_literal,
    is_title_of_change,
)
from kebab.text.language import detect_text_language
from kebab.wire.review import SeverityName

FEW_DOCUMENTS = 5
"""A word that as many documents use is right in their folder."""


class _Misspellings:
    """The list of common misspellings; its corrections are read when one is found."""

    @cached_property
    def _lines(self) -> Sequence[bytes]:
        data = Path(__file__).with_name("misspellings.z").read_bytes()
        return zlib.decompress(data).split(b"\n")

    @cached_property
    def _sorted(self) -> Sequence[bytes]:
        return self._lines[0].split()

    @cached_property
    def words(self) -> frozenset[bytes]:
        """Every misspelling."""
        return frozenset(self._sorted)

    @cached_property
    def _corrections(self) -> Sequence[bytes]:
        return [one.replace(b"_", b" ") for one in self._lines[1].split()]

    def list_corrections(self, word: bytes) -> list[str]:
        """Return what a misspelling may mean."""
        return self._corrections[bisect_left(self._sorted, word)].decode().split(",")


MISSPELLINGS = _Misspellings()

_RUN_BEFORE = re.compile(r"[^\s()\[\]<>\"“”«»„|,;]*\Z")
_RUN_AFTER = re.compile(r"[^\s()\[\]<>\"“”«»„|,;]*")
_PLAIN_RUN = re.compile(r"[^\W\d_]+(?:[-'’–—][^\W\d_]+)*(?:/[^\W\d_]+)?(?:[-'’–—][^\W\d_]+)*")
"""Words joined by hyphens, and no part of an address, of a path or of an identifier."""

_AROUND = "*_'‘’.:!?…~-–—"
_LONGEST_RUN, _LONGEST_LINE = 80, 500
_OPENS = re.compile(r"(?:\A|[.!?;|>#*_)\]\"“(/]|[-+•])[ \t\"'“(*_#>-]*\Z|\d[.)][ \t]*\Z")
_PAIRS = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "„": "“", "`": "`"}
_TALKS_OF_SPELLING = re.compile(r"typo|spell|->|→|=>|➜|correct", re.IGNORECASE)
_COMMENT = re.compile(r"(?:^|[\s;{}(,])(?:#+|//+!?|--|/\*+|;;+|%%?|<!--)[ \t]|^[ \t]*\*[ \t]")
_LONGEST_ACRONYM = 6
_LOWER_WORD = re.compile(r"\b[a-z]{2,}\b")
_NAME_AFTER = re.compile(r" [A-Z][a-z]*\b|\.[ ][A-Z]")
_NAMES_AFTER = re.compile(r",\s+[A-Z][\w.-]+ [A-Z]")
_DIRECTIVE = re.compile(r"[ \t]*\.\. [\w:-]+::")
_MOST_SHOWN = 3
_ENGLISH = frozenset(
    {
        *("the", "of", "and", "is", "that", "with", "this", "you", "are", "which", "for", "from"),
        *("not", "can", "your", "will", "when", "if", "be", "it", "we", "have", "how", "to"),
    }
)
"""Words that tell English where a text is too short for its language to be certain."""


_MOST_SLIPS = 10
"""A document that has a word more often means it."""


class Misspelling:
    """A word is misspelled in a common way.

    The list of `typos` has about 95,000 misspellings of English. Text in other languages, code,
    names, addresses, words in quotation marks, cut words, titles of issues and commits in lists,
    licences, generated texts, the words of the setting `review.words`, and words that five
    documents of the folder use are not reported. Comments in code blocks are checked. Of source
    files, which have to be named, comments and names are checked. Names, and words with several
    corrections, get no fix.
    """

    id: ClassVar[str] = "misspelling"
    kind: ClassVar[str] = "spelling"
    severity: ClassVar[SeverityName] = "warning"
    example: ClassVar[str] = "You will recieve the letters."

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the misspellings."""
        if is_code(document.source.media):
            yield from _check_code(self, document, surroundings)
            return
        blocks = [document.text[slice(*span)] for span in document.markup.code_blocks]
        found = MISSPELLINGS.words & document.vocabulary.union(list_words("\n".join(blocks)))
        if not found or is_copied(document) or _is_word_list(document):
            return
        if _is_about_translation(document):
            return
        for word in sorted(found):
            right = MISSPELLINGS.list_corrections(word)
            if right == [word.decode().removesuffix("s")]:
                continue  # the plural of a word
            everywhere = list(_find_word(document, word.decode()))
            is_meant = word.decode() in document.source.file.stem.lower()
            is_meant |= len(everywhere) > _MOST_SLIPS
            if is_meant or any(_is_quoted(document.text, *place) for place in everywhere):
                continue  # it is a name, or the page speaks about it
            places = [
                place
                for place in everywhere
                if _is_checked(document, *place)
                and not _is_mentioned(document, *place, right)
                and not ("'" in right[0] and document.text.startswith("-", place[1]))
            ]
            if places and not _is_known(document, surroundings, word.decode()):
                for start, end in places:
                    yield _build(self, document, (start, end), right)


_PIECE = re.compile(r"[A-Z]?[a-z]{3,}(?![a-z])")
"""A word of an identifier such as `readFile`, or of a comment."""

_SHORTEST_PIECE = 5
_RUN = re.compile(r"[\w+/=-]*")
_LONGEST_NAME = 50


def _check_code(
    rule: "Misspelling", document: ReviewDocument, surroundings: Surroundings
) -> Iterator[Finding]:
    """Yield the misspellings in source code; those in names have no fix, and are told once."""
    text = document.text
    named: set[str] = set()
    for found in _PIECE.finditer(text):
        word = found[0].lower()
        if word.encode() not in MISSPELLINGS.words or _is_known(document, surroundings, word):
            continue
        right = MISSPELLINGS.list_corrections(word.encode())
        if _is_comment(document, found.start()):
            if _is_checked(document, *found.span()) and not _is_mentioned(
                document, *found.span(), right
            ):
                yield _build(rule, document, found.span(), right)
            continue
        run = _RUN.match(text, found.end())
        is_name = len(word) >= _SHORTEST_PIECE and word not in named
        if is_name and run and len(run[0]) <= _LONGEST_NAME and " " not in right[0]:
            named.add(word)
            yield build_finding(rule, *found.span(), _describe(found[0], right))


def _describe(word: str, right: Sequence[str]) -> str:
    shown = " or ".join(_adapt_case(one, word) for one in right[:_MOST_SHOWN])
    return f"misspelled: {word}, meant may be {shown}"


def _build(
    rule: "Misspelling", document: ReviewDocument, span: Span, right: Sequence[str]
) -> Finding:
    """Return the finding of a word; one correction is a fix, with the capitals of the word."""
    word = document.text[slice(*span)]
    if len(right) > 1:
        return build_finding(rule, *span, _describe(word, right))
    fix = Fix(_adapt_case(right[0], word), safe=" " not in right[0])
    return build_finding(rule, *span, _describe(word, right), edit="replace", fix=fix)


def _adapt_case(right: str, word: str) -> str:
    """Return a correction in the case of the word."""
    if word.isupper() and len(word) > 1:
        return right.upper()
    return right[:1].upper() + right[1:] if word[:1].isupper() else right


_PATH_LANGUAGE = re.compile(
    r"(?:^|[/_.])(?:da|de|es|fi|fr|hu|it|nl|pl|pt|ro|sv|tr|vi)(?:[-_][A-Za-z]{2,4})?(?:/|\.\w+\Z)"
)


def _is_about_translation(document: ReviewDocument) -> bool:
    """Return whether the path of an English text names a language, whose words it has."""
    return (document.lang or "en").startswith("en") and bool(
        _PATH_LANGUAGE.search(document.source.doc_path)
    )


def _is_known(document: ReviewDocument, surroundings: Surroundings, word: str) -> bool:
    """Return whether a word is right in its folder."""
    return (
        word in surroundings.words
        or surroundings.count_documents(document.source, word) >= FEW_DOCUMENTS
    )


def _find_word(document: ReviewDocument, word: str) -> Iterator[Span]:
    """Yield the places of a lower-case word that is not part of a longer one."""
    lower = document.lower_text
    start = lower.find(word)
    while start >= 0:
        end = start + len(word)
        if not lower[start - 1 : start].isalnum() and not lower[end : end + 1].isalnum():
            yield start, end
        start = lower.find(word, end)


def _is_checked(document: ReviewDocument, start: int, end: int, lang: str = "en") -> bool:
    """Return whether a word is prose in a language, or in a comment of a code block."""
    text = document.text
    before, after = text[max(0, start - 1) : start], text[end : end + 1]
    if before in tuple("<{$@#:)]") or after in tuple(">}(") or (before, after) == ("[", "]"):
        return False
    is_part = text.startswith("-\n", end) or (before == "\n" and text.endswith("-", 0, start - 1))
    line = text.rfind("\n", 0, start) + 1
    is_part |= after in (":", "/") and _BULLET.match(text, line, start) is not None
    is_part |= before == "-" and _PREFIX.search(text, max(0, start - 5), start) is not None
    is_part |= before == "(" and not text[max(0, start - 2) : start - 1].isspace()  # `file(s)`
    if is_part or (document.source.media != MARKDOWN and _is_in_list(document, start, end)):
        return False
    head = _RUN_BEFORE.search(text[max(0, start - _LONGEST_RUN) : start])
    tail = _RUN_AFTER.match(text, end, end + _LONGEST_RUN)
    run = (head[0] if head else "") + text[start:end] + (tail[0] if tail else "")
    is_option = run.lstrip("*_'‘’").startswith("-")
    if (
        is_option
        or run.strip(_AROUND).count("-") > 1
        or not _PLAIN_RUN.fullmatch(run.strip(_AROUND))
    ):
        return False
    if _may_be_name(document, start, end) or _is_of_others(document, start, end):
        return False
    if not document.prose.startswith(text[start:end], start):
        return _is_comment(document, start) and (document.lang or "en").startswith("en")
    return _is_written_in(document, start, lang)


_BULLET = re.compile(r"[ \t]*[-*+][ \t]+\Z")
"""What stands before the first word of an item; with a colon behind it that is a name."""


_PREFIX = re.compile(r"\b(?:pre|co)-\Z", re.IGNORECASE)


def _is_in_list(document: ReviewDocument, start: int, end: int) -> bool:
    """Return whether a word of plain text is alone, or a tag or command such as `checkt[ime]`."""
    text = document.text
    line = text[text.rfind("\n", 0, start) + 1 : start] + text[end:].partition("\n")[0]
    return (
        text[start - 1 : start] == "|"
        or text[end : end + 1] in tuple("|[\t")
        or not (_ANY_WORD.search(line.partition(" | ")[0]))
    )


_ANY_WORD = re.compile(r"[^\W\d_]{2}")


def _is_quoted(text: str, start: int, end: int) -> bool:
    """Return whether quotation marks, or those of code, stand around a word."""
    before = text[start - 1] if start else ""
    return before in _PAIRS and text.startswith(_PAIRS[before], end)


_ELIDED = ("d'", "d’", "l'", "l’")


def _is_of_others(document: ReviewDocument, start: int, end: int) -> bool:
    """Return whether a word is quoted, cut, spoken, or part of the title of a change."""
    text, line = document.text, document.text.rfind("\n", 0, start) + 1
    is_french = text[end : end + 1] == " " and text[end + 1 : end + 3] in _ELIDED
    if is_french or text[end - 2 : end + 1] in ("in'", "in’") or _NAMES_AFTER.match(text, end):
        return True  # before `d'être`, as it is sung, or one of several people
    if document.source.media != MARKDOWN and _DIRECTIVE.match(text, line):
        return True
    return (
        _is_in_quotation(text, start, end)
        or text.startswith(("...", "…"), end)
        or is_title_of_change(document, start)
        or is_cut_cell(document, start)
        or is_literal(document, start)
        or text.count("<code", line, start) > text.count("</code", line, start)
    )


_QUOTATION_MARKS = re.compile('["“”]')


def _is_in_quotation(text: str, start: int, end: int) -> bool:
    """Return whether a word is inside of quotation marks in its line, so that it is quoted."""
    first, last = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    before = _QUOTATION_MARKS.findall(text, first, start)
    after = _QUOTATION_MARKS.search(text, end, last if last >= 0 else len(text))
    return len(before) % 2 == 1 and before[-1] != "”" and after is not None and after[0] != "“"


_MOST_LONE = 20


def _is_word_list(document: ReviewDocument) -> bool:
    """Return whether a text without Markdown is a list of words, or a table of characters."""
    if document.source.media == MARKDOWN:
        return False
    lines = document.lines
    lone = sum(" " not in line.strip() and bool(line) for line in lines)
    return lone > max(_MOST_LONE, len(lines) // 2)


def _may_be_name(document: ReviewDocument, start: int, end: int) -> bool:
    """Return whether the capitals of a word say that it is a name."""
    word = document.text[start:end]
    if word.islower():
        return False
    if not word.istitle() and not word.isupper():
        return True
    line = document.text[document.text.rfind("\n", 0, start) + 1 : start]
    if word.isupper():
        whole = line + document.text[end:].partition("\n")[0]
        is_prose = line.startswith("#") or len(_LOWER_WORD.findall(whole)) > 1
        return len(word) <= _LONGEST_ACRONYM or not is_prose
    if _NAME_AFTER.match(document.text, end) and not line.lstrip(" >").startswith("#"):
        return True  # of a person
    tail = line if len(line) <= _LONGEST_RUN else f"x{line[-_LONGEST_RUN:]}"
    return not (line.lstrip(" >").startswith("#") or _OPENS.search(tail))


def _is_mentioned(document: ReviewDocument, start: int, end: int, right: Sequence[str]) -> bool:
    """Return whether a line speaks of the misspelling, as a list of changes does."""
    first = document.text.rfind("\n", 0, start) + 1
    last = document.text.find("\n", end)
    line = document.text[first : last if last >= 0 else None]
    return bool(_TALKS_OF_SPELLING.search(line)) and any(one in line for one in right)


def _is_comment(document: ReviewDocument, start: int) -> bool:
    """Return whether an offset is in a comment of a code block."""
    if not document.is_in_block(start):
        return False
    line = document.text[document.text.rfind("\n", 0, start) + 1 : start]
    whole = line + document.text[start:].partition("\n")[0]
    lang = detect_text_language(whole) or (whole.isascii() and "en")
    sign = _COMMENT.search(line) if lang == "en" and len(line) <= _LONGEST_LINE else None
    return sign is not None and all(line.count(one, 0, sign.start()) % 2 == 0 for one in "\"'`")


_LOREM = re.compile(r"\b(?:ipsum|dolor|[Nn]ullam|amet|adipisc\w+|nascetur)\b")
"""Words of the Latin text that fills pages."""


def _is_written_in(document: ReviewDocument, start: int, lang: str) -> bool:
    """Return whether the paragraph at an offset is in a language."""
    low, high = _find_paragraph(document, start)
    piece = document.prose[low:high]
    if _LOREM.search(piece):
        return False
    own = (document.lang or "").partition("-")[0].lower()
    if own not in ("", lang) and not piece.isascii():
        return False  # names in another language make a paragraph look like English
    found = detect_text_language(piece)
    is_mixed = lang == "en" and any(one > "\x7f" and one.isalpha() for one in piece)
    if found is None and (document.lang is None or is_mixed):
        return not _ENGLISH.isdisjoint(piece.lower().split())
    return (found or own).partition("-")[0].lower() == lang


def _find_paragraph(document: ReviewDocument, offset: int) -> Span:
    """Return the paragraph at an offset."""
    paragraphs = document.paragraphs
    index = bisect_right(paragraphs, (offset, len(document.text))) - 1
    return paragraphs[index] if index >= 0 else (offset, offset)


_MOST_USES = 2


_NAMES = re.compile(
    r"(?:^|/)(?:authors|maintainers|contributors|owners|thanks|credits|adopters|backers)\b",
    re.IGNORECASE,
)
"""Paths of lists of names."""


class UnknownWord:
    """A word is in no dictionary, and one letter makes it a frequent word.

    This needs word lists: `pip install 'kebab[spelling]'`; without them nothing is found. They are
    for English, German, French, Spanish, Italian, Dutch and Portuguese. Only words in lower case
    are looked at that stand in a sentence, that the document uses once or twice, and no other
    document of the folder at all. Forms and compounds of known words, words of programming, lists
    of names, and words of the setting `review.words` are right. The proposed word may be wrong, so
    it is no fix.
    """

    id: ClassVar[str] = "unknown-word"
    kind: ClassVar[str] = "spelling"
    severity: ClassVar[SeverityName] = "suggestion"
    example: ClassVar[str] = "Everything outiside of the range is left out."

    def check(self, document: ReviewDocument, surroundings: Surroundings) -> Iterator[Finding]:
        """Yield the words that are a letter away from a frequent one."""
        lang = (document.lang or "").partition("-")[0].lower()
        dictionary = load_dictionary(lang)
        is_left_out = _NAMES.search(document.source.doc_path) or _is_about_translation(document)
        if dictionary is None or is_left_out:
            return
        words = document.vocabulary.difference(dictionary.words, MISSPELLINGS.words)
        unknown = [one for one in words if SHORTEST <= len(one) <= LONGEST and one.islower()]
        for text in sorted(map(bytes.decode, unknown)):
            places = _list_uses(document, text, dictionary.frequencies)
            right = find_meant(text, lang) if places else ""
            if (
                right
                and all(_is_checked(document, *place, lang) for place in places)
                and text not in surroundings.words
                and surroundings.count_documents(document.source, text) <= 1
            ):
                reason = f"in no dictionary: {text}, meant may be {right}"
                yield from (build_finding(self, *place, reason) for place in places)


def _list_uses(document: ReviewDocument, word: str, known: Mapping[str, int]) -> list[Span]:
    """Return the places of a word; none when it is used often, or elsewhere than in sentences."""
    places: list[Span] = []
    for place in _find_word(document, word):
        is_used = document.prose.startswith(word, place[0])
        if len(places) == _MOST_USES or not (is_used and _is_in_sentence(document, *place, known)):
            return []
        places.append(place)
    return places


_WORD_BEFORE = re.compile(r"(?<![^\s(\"“‘'])([^\W\d_]+),?\s+[*_(\"“‘']*\Z")
_WORD_AFTER = re.compile(r"[*_)\"”’']*,?\s+[(\"“‘']*([^\W\d_]+)(?![^\s.,;:!?)\"”’'])")
_ENDS = re.compile(r"[*_)\"”’'.,;:!?…]*(?=\s|\Z)")
_STARTS = re.compile(r"(?:\A|\s)[*_(\"“‘']*\Z")
_BY = re.compile(r"\b(?:by|to|thanks)\s+\Z")
_USUAL = 20_000
"""How often a word stands in the corpus of its dictionary that shows a sentence."""


def _is_in_sentence(
    document: ReviewDocument, start: int, end: int, known: Mapping[str, int]
) -> bool:
    """Return whether a word stands between blanks, and beside a usual word in lower case."""
    prose = document.prose
    head, tail = prose[max(0, start - _LONGEST_RUN) : start], prose[end : end + _LONGEST_RUN]
    if not (_STARTS.search(head) and _ENDS.match(tail)):
        return False
    if head[-1:] in ("_", "*"):
        return False  # `_name`, or a term in emphasis
    if _BY.search(head) and tail[:1] in (",", ")", "."):
        return False  # somebody
    beside = (_WORD_BEFORE.search(head), _WORD_AFTER.match(tail))
    return any(one is not None and known.get(one[1], 0) >= _USUAL for one in beside)
