"""Finds the values of a sentence: numbers with units, dates, names, quotes and code.

A claim must have them from its passages, and a question asks about them. Names are recognised by
their capitals, as runs of Katakana or Han, and as Latin words in a text of a script without blanks.
Capitals mean nothing in German and in a title, so the words there are plain.
"""

import re
from calendar import day_name, month_name
from collections.abc import Collection, Iterator
from decimal import Decimal
from enum import StrEnum
from functools import lru_cache
from itertools import islice

from msgspec import Struct

from kebab.text.dates import iter_dates
from kebab.text.language import (
    detect_question_language,
    is_dense,
    iter_unit_matches,
    split_units,
    strip_stop_words,
)
from kebab.text.normalize import blank_spans, compile_lazily, load_words, normalize_punctuation
from kebab.text.secrets import mask_secrets
from kebab.text.tokenizer import tokenize_unit

_UNITS = load_words("units")
_UNIT_OF = {word: unit for unit, words in _UNITS.items() for word in words.split()}
_LONGEST_UNIT = 3
"""The most characters of a unit in a script without blanks."""

_NUMBER_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety"
)
_NUMBER_OF = {
    word: min(at, 20) + 10 * max(0, at - 20) for at, word in enumerate(_NUMBER_WORDS.split())
}
_ONES, _TENS = "|".join([*_NUMBER_OF][1:10]), "|".join([*_NUMBER_OF][20:])
_SCALES = {
    word: int(number) for number, words in load_words("scales").items() for word in words.split()
}
_NUMBER = compile_lazily(
    r"(?<![A-Za-z_\d])(?:[vV](?=\d))?"
    r"(?P<digits>\d{1,3}(?:[,' ]\d{3})++(?!\d)(?:\.\d+)?|\d+(?:[.,]\d+)*+)"
    rf"|\b(?P<word>(?:{_TENS})[ -](?:{_ONES})|{'|'.join(_NUMBER_OF)})\b",
    re.IGNORECASE,
)
_SCALE = compile_lazily(
    r"[ -]?(?P<scale>hundred|thousand|mil(?:lones|lionen|lion)?|billion|bn|trillion)(?![^\W\d_])"
    "|(?P<sign>[백百천千万만億亿억])",
    re.IGNORECASE,
)
_UNIT = compile_lazily(r"[ -]?(?P<word>[%°℃℉$€£¥₩] ?[CF]?|per ?cent|por ciento|[^\W\d_]{1,14})")
_GROUPED = compile_lazily(r"\d{1,3}(?:[,' ]\d{3})+(?:\.\d+)?")
_GROUPED_BY_POINTS = compile_lazily(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?")
_MOST_DIGITS = 24
"""Longer numbers are compared as text."""


class Number(Struct, frozen=True):
    """A number at [start, end) with the values that it may mean, and its unit if that is known."""

    start: int
    end: int
    values: tuple[str, ...]
    unit: str | None


def find_numbers(text: str) -> Iterator[Number]:
    """Yield the numbers of a text in NFKC: digits in both conventions, and English words."""
    for found in _NUMBER.finditer(text):
        values = (
            _read_digits(found["digits"])
            if found["digits"]
            else (str(sum(_NUMBER_OF[one] for one in re.split("[ -]", found["word"].lower()))),)
        )
        end = found.end()
        if scale := _SCALE.match(text, end):
            factor = _SCALES[(scale["scale"] or scale["sign"]).lower()]
            end = scale.end()
            values = tuple(
                _trim(f"{Decimal(one) * factor:f}")
                for one in values
                if one.count(".") < 2  # noqa: PLR2004
            )
        unit = _read_unit(text, end)
        before = text[found.start() - 1 : found.start()]
        if before and before in "$€£¥₩":
            unit = before
        yield Number(found.start(), end, values, unit)


def _read_digits(digits: str) -> tuple[str, ...]:
    if len(digits) > _MOST_DIGITS:
        return (digits,)
    values = [re.sub("[,' ]", "", digits)] if _GROUPED.fullmatch(digits) else []
    if _GROUPED_BY_POINTS.fullmatch(digits):
        values.append(digits.replace(".", "").replace(",", "."))
    if not values or not _GROUPED.fullmatch(digits):
        values.append(digits.replace(",", "."))
    return tuple(map(_trim, values))


def _trim(number: str) -> str:
    """Return a number without redundant zeros."""
    if number.count(".") == 1:
        number = number.rstrip("0").rstrip(".")
    return number.lstrip("0") or "0"


def _read_unit(text: str, position: int) -> str | None:
    found = _UNIT.match(text, position)
    if found is None:
        return None
    word = found["word"].lower().replace(" ", "").replace("porciento", "%")
    if is_dense(word):
        ends = range(min(len(word), _LONGEST_UNIT), 0, -1)
        word = next((word[:end] for end in ends if word[:end] in _UNIT_OF), "")
    return _UNIT_OF.get(word)


class ValueKind(StrEnum):
    """The kind of a value."""

    NUMBER = "number"
    DATE = "date"
    NAME = "name"
    FIRST = "first"
    """A capitalised word at the start of a sentence, which may be a name."""
    QUOTE = "quote"
    CODE = "code"


class Value(Struct, frozen=True):
    """A value at [start, end) of a claim, as the claim words it, with its index tokens."""

    kind: ValueKind
    start: int
    end: int
    text: str
    tokens: tuple[str, ...] = ()
    number: Number | None = None
    date: str = ""

    @property
    def name(self) -> str:
        """The text without what is counted behind a blank: `15` of `15 bolts`, but `512GB`."""
        length = self.end - self.start
        tail = self.text[length:].partition(" ")[0]
        return (self.text[:length] + (tail if tail.isascii() else "")).removesuffix("'s")


class Term(Struct, frozen=True):
    """A content word at a position of a claim, with its index tokens."""

    start: int
    text: str
    tokens: tuple[str, ...]


_CODE_SPAN = compile_lazily(r"`{1,20}+([^`\n]{1,200}+)`+")
_QUOTES = compile_lazily(
    r"(?<![\w\"])\"(?=\S)(?P<plain>[^\"\n]{2,600})\"(?!\w)"
    "|[“„«「『](?P<paired>[^“”„«»「」『』\n]{2,600})[”“»」』]"
)
_ELLIPSIS = compile_lazily(r"[\[(]?\s?(?:\.{3,}+|…)\s?[\])]?")
_DENSE_NAME = compile_lazily("[ァ-\u30faー]{3,}|[\u3400-\u9fff々]{4,}")
_is_grammar = re.compile(
    "[ぁ-\u309f]+|습니|니다|입니|됩니|합니|[었았였했됐되]다|[되하]었|었습|았습|였습|했습|있다|있습|이다"
    "|한다|된다|에서|으로|까지|부터"
).fullmatch
_MONTHS = frozenset(name.lower() for name in month_name if name)
_DAYS = frozenset(name.lower() for name in day_name)
"""Words with a capital that are no names: notes may write a day as a date."""
_DIGIT = compile_lazily(r"\d")
_COUNTED = compile_lazily(r" ?(?:%|[^\W\d_]+)?")
_EASTERN_SHARE = 3
"""A sign of a script without blanks counts as so many letters."""


def find_values(claim: str, *, nouns: bool = False) -> tuple[list[Value], list[Term]]:
    """Return the values and the content words of a sentence in order.

    With `nouns` its language capitalises every noun.
    """
    codes_of = (split_code(one[1]) for one in _CODE_SPAN.finditer(claim))
    values = [Value(ValueKind.CODE, 0, 0, word) for words in codes_of for word in words]
    values += _find_quotes(claim)
    prose = normalize_punctuation(_CODE_SPAN.sub(" ` ` ", claim))
    dates = {(start, end): iso for start, end, iso in iter_dates(prose)}
    for (start, end), iso in dates.items():
        text = prose[start:end]
        tokens = tuple(token for unit in split_units(text) for token in tokenize_unit(unit))
        values.append(Value(ValueKind.DATE, start, end, text, tokens, date=iso))
    rest = blank_spans(prose, sorted(dates))
    units = list(iter_unit_matches(rest))
    codes = [one.span() for one in units if one[0][0].isalpha() and _DIGIT.search(one[0])]
    for one in find_numbers(blank_spans(rest, codes)):
        counted = _COUNTED.match(prose, one.end)
        text = prose[one.start : counted.end() if counted else one.end].strip()
        values.append(Value(ValueKind.NUMBER, one.start, one.end, text, number=one))
    dense = sum(len(unit[0]) for unit in units if is_dense(unit[0]))
    eastern = dense * _EASTERN_SHARE >= max(1, sum(len(unit[0]) for unit in units) - dense)
    capitals = not nouns and uses_capitals_for_names(rest)
    terms: list[Term] = []
    for unit in units:
        if is_dense(unit[0]):
            values += _find_dense_names(unit)
            pairs = tokenize_unit(unit[0])[:-1] or (unit[0],)
            terms += (Term(unit.start(), one, (one,)) for one in pairs if not _is_grammar(one))
        elif (
            unit[0].lower() not in _NUMBER_OF
            and any(map(str.isalpha, unit[0]))
            and is_content_word(unit[0])
        ):
            terms.append(Term(unit.start(), unit[0], tokenize_unit(unit[0])))
            if kind := _classify(rest, unit, capitals=capitals, eastern=eastern):
                values.append(Value(kind, *unit.span(), unit[0], terms[-1].tokens))
    return values, terms


_MOST_FACTS = 64
"""The most values of a question; a pasted page is no question about each of its words."""

_FACTS = frozenset({ValueKind.NUMBER, ValueKind.DATE, ValueKind.NAME})


def find_facts(
    question: str, languages: Collection[str | None] = (None,)
) -> tuple[list[Value], list[Term]]:
    """Return the names, codes, numbers and dates that a question is about, and its words.

    `languages` are those of the notes; where none is that of the question, names may be written
    differently there. Keys and passwords are masked in notes, so they are left out, and number
    words are no facts: `one of the two teams`.
    """
    language = detect_question_language(question).code
    values, words = find_values(question, nouns=language == "de")
    is_foreign = language is not None and languages and {None, language}.isdisjoint(languages)
    facts = [
        one
        for one in values
        if one.kind in _FACTS
        and (one.kind is not ValueKind.NUMBER or _DIGIT.search(one.text))
        and not "\u3400" <= one.text[0] <= "\u9fff"
        and not (is_foreign and one.kind is ValueKind.NAME and not is_code(one.text))
        and mask_secrets(one.text) == one.text
    ]
    return facts[:_MOST_FACTS], words


def _find_quotes(claim: str) -> Iterator[Value]:
    for found in _QUOTES.finditer(_CODE_SPAN.sub(" ", claim)):
        for part in _ELLIPSIS.split(found["plain"] or found["paired"]):
            if bare := part.strip(" \t.,;:!?。、，！？'\"()[]{}"):
                yield Value(ValueKind.QUOTE, 0, 0, f'"{bare}"')


def _find_dense_names(unit: re.Match[str]) -> Iterator[Value]:
    """Yield the runs of Katakana and long runs of Han in a run of a script without blanks."""
    for one in _DENSE_NAME.finditer(unit[0]):
        start, end = (unit.start() + place for place in one.span())
        yield Value(ValueKind.NAME, start, end, one[0], tokenize_unit(one[0])[:-1])


_NUMBER_WORD = compile_lazily(r"\d[\d,.]*(?:st|nd|rd|th|s)?")
_CODE = compile_lazily(r"(?=.*(?:\d|_|[a-z][A-Z]|\w\.\w|[+#]$)).+")


def _classify(text: str, unit: re.Match[str], *, capitals: bool, eastern: bool) -> ValueKind | None:
    """Return whether a word is a name or a code, or may be a name because it begins a sentence."""
    word, begins = unit[0], starts_sentence(text, unit)
    if is_code(word) or (text.endswith("--", 0, unit.start()) and word[0].isalpha()):
        return ValueKind.NAME
    if word.lower() in _MONTHS or (len(word) > 1 and word.isupper()):
        return ValueKind.NAME
    # A word may have its capital from its place; the first word of a name never does.
    after = text[unit.end() : unit.end() + 2]
    named = (after[:1] == " " and after[1:].isupper()) or not begins
    is_plain = _NUMBER_WORD.fullmatch(word) or word.lower() in _DAYS or len(word) == 1
    if not is_plain and (eastern or (capitals and word[0].isupper() and named)):
        return ValueKind.NAME
    return ValueKind.FIRST if capitals and word[0].isupper() and begins else None


def is_code(word: str) -> bool:
    """Return whether a word is an identifier, a version, a file or a word with digits."""
    return word[0].isalpha() and _CODE.fullmatch(word) is not None


_ANCHOR = "\u00a7x"
"""A content word before the tested word, because the last remaining word is never removed."""


@lru_cache(maxsize=4096)
def is_content_word(word: str) -> bool:
    """Return whether a word is no stop word."""
    return len(strip_stop_words(f"{_ANCHOR} {word.lower()}").split()) > 1


_TITLE_WORDS = 100
"""The words that show whether a text is a title."""


def uses_capitals_for_names(text: str) -> bool:
    """Return whether capitals mark names, which they do not in a title or in a shouted text."""
    capitals = (
        unit for unit in islice(iter_unit_matches(text), _TITLE_WORDS) if unit[0][0].isupper()
    )
    return not any(
        unit[0] != "I" and not is_content_word(unit[0]) and not starts_sentence(text, unit)
        for unit in capitals
    )


_ENDS_SENTENCE = compile_lazily(r"(?:\A|[.!?:;\"“—])[\s\"“*_(]*+$")
_LOOK_BEHIND = 6


def starts_sentence(text: str, unit: re.Match[str]) -> bool:
    """Return whether a word begins a sentence or a quotation."""
    before = text[max(0, unit.start() - _LOOK_BEHIND) : unit.start()]
    return unit.start() == 0 or _ENDS_SENTENCE.search(before) is not None


_CODE_WORD = compile_lazily(r"[^\s\"'`()\[\]{},;|<>=]+")


def split_code(code: str) -> Iterator[str]:
    """Yield the words of code in lower case, without brackets, quotes and signs at their ends."""
    for word in _CODE_WORD.findall(code):
        if bare := word.rstrip(".:!?").lower():
            yield bare
