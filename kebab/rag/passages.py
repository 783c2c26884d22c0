"""Divides passages into sentences and table rows, and finds what a claim must have from them.

These values are numbers with units, dates, names, quotes and code. Words are classified like those
of a question: names by their capitals, codes by their signs. A date is compared as a date where
both sides write one, and else by its numbers and its month.
"""

import re
from calendar import month_name
from collections.abc import Iterator, Mapping
from decimal import Decimal
from enum import StrEnum

from msgspec import Struct

from kebab.rag.prompt import Evidence, Quote
from kebab.rag.question_terms import (
    ACRONYM,
    MIN_STEM,
    TermKind,
    classify_word,
    has_same_root,
    is_content_word,
    list_initials,
    starts_sentence,
    uses_capitals_for_names,
)
from kebab.text.dates import iter_dates
from kebab.text.language import detect_written_form, is_dense, iter_unit_matches, split_units
from kebab.text.normalize import (
    blank_spans,
    compile_lazily,
    fold_text,
    normalize_punctuation,
    split_names,
)
from kebab.text.sentences import LayoutKind, find_sentences
from kebab.text.tokenizer import tokenize, tokenize_unit

_UNITS = {
    "ms": "ms millisecond milliseconds 밀리초",
    "s": "s sec secs second seconds sekunden secondes segundos 초 秒",
    "min": "min mins minute minutes minuten minutos 분 分 分钟",
    "h": "h hr hrs hour hours stunde stunden heure heures hora horas 시간 時間 小时",
    "d": "day days tag tage jour jours día días 일 日",
    "week": "week weeks woche wochen semaine semaines semana semanas 주 週間 周",
    "month": "month months monat monate mois mes meses 개월 か月 个月",
    "year": "year years jahr jahre ans année années año años 년 年",
    "mm": "mm millimetres millimeters",
    "cm": "cm centimetres centimeters",
    "m": "m metre metres meter meters mètres metros 미터 米",
    "km": "km kilometres kilometers kilomètres kilómetros 公里",
    "ft": "ft foot feet",
    "mi": "mi mile miles millas",
    "mg": "mg milligrams",
    "g": "g gram grams gramos 그램 グラム",
    "kg": "kg kilos kilogram kilograms kilogramos 公斤",
    "%": "% percent procent prozent 퍼센트",
    "°C": "°c ℃ celsius",
    "°F": "°f ℉ fahrenheit",
    "kB": "kb kilobytes",
    "MB": "mb mib megabytes",
    "GB": "gb gib gigabytes",
    "TB": "tb tib terabytes",
    "$": "$ dollar dollars usd dólares 달러",
    "€": "€ euro euros eur",
    "£": "£ gbp",
    "¥": "¥ yen jpy 円",
    "₩": "₩ won krw 원",
}
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
_SCALES: Mapping[str, int] = {
    **dict.fromkeys(("hundred", "백", "百"), 100),
    **dict.fromkeys(("thousand", "mil", "천", "千"), 1_000),
    **dict.fromkeys(("万", "만"), 10_000),
    **dict.fromkeys(("million", "millones", "millionen"), 1_000_000),
    **dict.fromkeys(("億", "亿", "억"), 100_000_000),
    **dict.fromkeys(("billion", "bn"), 1_000_000_000),
    "trillion": 1_000_000_000_000,
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


def _classify(text: str, unit: re.Match[str], *, capitals: bool, eastern: bool) -> ValueKind | None:
    """Return whether a word is a name, or may be one because it begins a sentence."""
    word = unit[0]
    kind = classify_word(text, unit, capitals=capitals, eastern=eastern)
    is_code = kind is TermKind.CODE and word[0].isalpha()
    is_acronym = len(word) > 1 and word.isupper()
    if kind is TermKind.NAME or is_code or is_acronym or word.lower() in _MONTHS:
        return ValueKind.NAME
    begins = capitals and word[0].isupper() and starts_sentence(text, unit)
    return ValueKind.FIRST if begins else None


_CODE_WORD = compile_lazily(r"[^\s\"'`()\[\]{},;|<>=]+")


def split_code(code: str) -> Iterator[str]:
    """Yield the words of code in lower case, without brackets, quotes and signs at their ends."""
    for word in _CODE_WORD.findall(code):
        if bare := word.rstrip(".:!?").lower():
            yield bare


_CAPITALISED = compile_lazily(r"[^\W\d_]+(?:['.&-][^\W\d_]+)*")
_CELL = compile_lazily(r"(?<!\\)\|")


class Stretch:
    """A text with its words, names, numbers and dates."""

    def __init__(self, text: str) -> None:
        plain = normalize_punctuation(text)
        self.dates = {iso for _, _, iso in iter_dates(plain)}
        written = [f"{month_name[int(one[5:7])]} {one[8:10]} {one[:4]}" for one in self.dates]
        self.text = "\n".join((plain, *written))
        self.tokens = frozenset(tokenize(self.text))
        self._numbers: dict[str, set[str | None]] = {}
        for one in find_numbers(self.text):
            for value in one.values:
                self._numbers.setdefault(value, set()).add(one.unit)

    def holds(self, value: Value) -> bool:
        """Return whether the text has a number, a date or a name, maybe in another form."""
        if value.number is not None:
            found = [self._numbers[one] for one in value.number.values if one in self._numbers]
            units = set[str | None]().union(*found)
            unit = value.number.unit
            return bool(found) and (unit is None or None in units or unit in units)
        if not value.tokens:
            return False
        if value.date and value.date in self.dates:
            return True
        here = [token in self.tokens for token in value.tokens]
        if value.date or len(here) == 1:
            return all(here) or (not value.date and self._has_variant(value.text))
        return all(here[:-1]) or here[-1] or self._has_variant(value.text)

    def _has_variant(self, word: str) -> bool:
        """Return whether a name occurs as the initials of words, or as a place and its people."""
        if ACRONYM.fullmatch(word):
            return word.replace(".", "") in list_initials(self.text)
        lower = word.lower()
        others = (one for one in _CAPITALISED.findall(self.text) if one[0].isupper())
        return any(
            one[:MIN_STEM].lower() == lower[:MIN_STEM] and has_same_root(lower, one.lower())
            for one in others
        )


class Part(Stretch):
    """A sentence or a table row at [start, end) of a passage.

    `context` are the tokens of its heading and of the sentence before it, `cells` those of each
    column of a row, `columns` those of the cells of the header row.
    """

    def __init__(self, text: str, start: int, end: int) -> None:
        super().__init__(text[start:end])
        self.start, self.end = start, end
        self.negated = find_negated(self.text)
        values, _ = find_values(text[start:end])
        self.names = {token for one in values if one.kind is ValueKind.NAME for token in one.tokens}
        self.first = {
            token for one in values if one.kind is ValueKind.FIRST for token in one.tokens
        }
        self.context: frozenset[str] = frozenset()
        self.columns: tuple[frozenset[str], ...] = ()
        self.cells: tuple[Stretch, ...] = ()


class Passage:
    """A passage with its parts; title, headings, context and path count as its words."""

    def __init__(self, evidence: Evidence) -> None:
        chunk = evidence.chunk
        self.evidence = evidence
        self.marker = evidence.marker
        self.head = Stretch(
            "\n".join((chunk.title, *chunk.heading_path, chunk.context, chunk.path))
        )
        self.parts = _build_parts(evidence)
        self.tokens = self.head.tokens.union(*(part.tokens | part.context for part in self.parts))
        self.folded = fold_text(f"{chunk.context}\n{evidence.text}")
        self.code = frozenset(split_code(f"{chunk.context}\n{evidence.text}\n{chunk.path}"))
        self.written_form = detect_written_form(evidence.text)

    def quote(self, first: Part, last: Part) -> Quote:
        """Return the quote from one part to another one."""
        part = self.evidence.text[first.start : last.end]
        start = self.evidence.start + first.start + len(part) - len(part.lstrip())
        return Quote(chunk=self.evidence.chunk, start=start, end=start + len(part.strip()))


def _build_parts(evidence: Evidence) -> list[Part]:
    """Return the parts of a passage in order, each with its context."""
    text = evidence.text
    parts: list[Part] = []
    heading: frozenset[str] = frozenset()
    columns = _split_cells(next(filter(_is_row, evidence.chunk.context.split("\n")), ""))
    for start, end, kind in find_sentences(text):
        part = Part(text, start, end)
        before = parts[-1].tokens if parts and kind is LayoutKind.PROSE else frozenset()
        if kind is LayoutKind.HEADING and _is_row(text[start:end]):
            columns = _split_cells(text[start:end])
            continue
        part.context = heading | before
        parts.append(part)
        if kind is LayoutKind.HEADING:
            heading = part.tokens
        elif kind is LayoutKind.ROW:
            part.columns = tuple(cell.tokens for cell in columns)
            part.context = part.context.union(*part.columns)
            part.cells = _split_cells(text[start:end])
    return parts or [Part(text, 0, len(text))]


def _is_row(line: str) -> bool:
    return line.lstrip().startswith("|")


def _split_cells(row: str) -> tuple[Stretch, ...]:
    return tuple(map(Stretch, _CELL.split(row.strip().strip("|")))) if row else ()


_NEGATORS = split_names(
    "not no never cannot none neither nor without"
    " nicht kein keine keinen keinem keiner nie niemals ohne"
    " ne pas jamais aucun aucune sans nunca ni ningún ninguna sin jamás non mai senza"
    " não nem sem niet geen nooit zonder inte ingen aldrig utan ikke uden"
    " nigdy bez değil hiç không chẳng не нет ни без никогда لا لم لن ليس"
)
_LIMITS = split_names(
    "only just merely more less fewer later longer until necessarily nur mehr weniger seulement"
    " plus moins solo sólo solamente más menos apenas mais alleen meer bara mer только более"
)
"""Words after a negator that deny nothing: `not only`, `no more than`."""

_DENSE_NEGATED = compile_lazily(
    "(?P<korean>[가-힣]{2,8})(?:지[는도]? ?(?:않|못|마|말)|(?:[이가은는도] )?(?:없|아니|아닙))"
    "|(?:^|\\s)(?:안|못) (?P<after>[가-힣]{2,})"
    "|(?P<japanese>[\u3400-\u9fffァ-ヿ]{2,8})[ぁ-\u309f]{0,6}?(?:ない|ません|なかっ|ずに)"
    "|[不没沒無无未](?P<chinese>[\u3400-\u9fff]{2})"
)
_REACH = 5
"""A negated word is one of so many words after its negator."""


def find_negated(text: str) -> frozenset[str]:
    """Return the index tokens of the words that a text denies."""
    runs = (one[one.lastgroup or 0] for one in _DENSE_NEGATED.finditer(text))
    found = {token for run in runs for token in tokenize_unit(run)[:-1]}
    units = list(iter_unit_matches(text))
    for at, unit in enumerate(units):
        word = unit[0].lower()
        if word not in _NEGATORS and not word.endswith(("n't", "n’t")):
            continue
        after = [one[0] for one in units[at + 1 : at + 1 + _REACH] if not is_dense(one[0])]
        if after and after[0].lower() not in _LIMITS:
            target = next((one for one in after if is_content_word(one)), "")
            found.update(tokenize_unit(target) if target else ())
    return frozenset(found)
