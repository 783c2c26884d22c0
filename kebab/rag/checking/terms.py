"""Extracts the key terms of a claim, and its quantities with their units.

Key terms are content words as index terms. Stop words, words about the passages themselves, and
numbers (which are compared by value) are left out. Scripts without blanks give bigrams; bigrams of
Hiragana alone and of Korean endings are grammar and are left out too.
"""

import re
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache

from msgspec import Struct

from kebab.text.language import DENSE, is_dense
from kebab.text.stop_words import strip_stop_words
from kebab.text.tokenizer import build_query_terms

_UNITS = {
    "ms": "ms millisecond milliseconds 밀리초",
    "s": "s sec secs second seconds sekunde sekunden seconde secondes segundos 초 秒",
    "min": "min mins minute minutes minuten minutos 분 分 分钟 分鐘",
    "h": "h hr hrs hour hours stunde stunden heure heures horas 시간 時間 时间 小时 小時",
    "day": "day days tag tage tagen jour jours días 日間 天",
    "week": "week weeks woche wochen semaine semaines semanas 주 週間 周",
    "month": "month months monat monate monaten mois meses 개월 か月 ヶ月 个月 個月",
    "mm": "mm millimetre millimetres millimeter millimeters 밀리미터",
    "cm": "cm centimetre centimetres centimeter centimeters 센티미터",
    "m": "m metre metres meter meters 미터 メートル 米",
    "km": "km kilometre kilometres kilometer kilometers 킬로미터 キロメートル 公里 千米",
    "ft": "ft foot feet",
    "mi": "mi mile miles",
    "mg": "mg milligram milligrams",
    "g": "g gram grams gramme grammes 그램 グラム",
    "kg": "kg kilo kilos kilogram kilograms 킬로그램 キログラム 公斤",
    "t": "ton tons tonne tonnes 톤 トン 吨",
    "l": "l litre litres liter liters 리터 リットル",
    "%": "% percent percentage prozent procent 퍼센트 パーセント",
    "\u00b0": "\u00b0 degree degrees grad 도 度",
    "\u00b0C": "\u00b0c \u2103 celsius",
    "\u00b0F": "\u00b0f \u2109 fahrenheit",
    "kB": "kb kilobyte kilobytes",
    "MB": "mb mib megabyte megabytes",
    "GB": "gb gib gigabyte gigabytes",
    "TB": "tb tib terabyte terabytes",
    "W": "w watt watts",
    "kW": "kw kilowatt kilowatts",
    "MW": "mw megawatt megawatts",
    "Hz": "hz hertz",
    "km/h": "km/h kph kmh",
    "$": "$ dollar dollars usd 달러 ドル 美元",
    "\u20ac": "\u20ac euro euros eur 유로 ユーロ 欧元",
    "\u00a3": "\u00a3 gbp",
    "\u00a5": "\u00a5 yen jpy 円",
    "\u20a9": "\u20a9 won krw 원",
}
_UNIT_OF = {word: unit for unit, words in _UNITS.items() for word in words.split()}
_UNIT_OF |= {unit.lower(): unit for unit in ("kWh", "kHz", "MHz", "GHz", "mph", "rpm")}
_MORE_EXACT = {"\u00b0": {"\u00b0C", "\u00b0F"}}
"""Units with the more exact units that they may mean."""

_UNIT = re.compile(
    r"[ -]?(\u00b0 ?[CF]?|[%$\u20ac\u00a3\u00a5\u20a9]|per ?cent|[^\W\d_]{1,13}(?:/h)?)"
)
_EASTERN = re.compile("[\u3040-ヿ\u3400-\u9fff가-힣]")
_CURRENCY = "$\u20ac\u00a3\u00a5\u20a9"


def find_currency_before(text: str, position: int) -> str | None:
    """Return the currency sign before a number."""
    sign = text[max(0, position - 1) : position]
    return sign if sign and sign in _CURRENCY else None


def find_unit_after(text: str, position: int) -> tuple[str | None, int]:
    """Return the unit at a position after a number, and where it ends."""
    found = _UNIT.match(text, position)
    if found is None:
        return None, position
    word = found[1].lower()
    if _EASTERN.match(word):
        length = next((end for end in range(len(word), 0, -1) if word[:end] in _UNIT_OF), 0)
        word = word[:length]
    unit = _UNIT_OF.get(word.replace(" ", ""))
    return unit, found.start(1) + len(word) if unit else position


def are_compatible_units(one: str | None, other: str | None) -> bool:
    """Return whether two units may be the same; None means any unit."""
    return (
        one is None
        or other is None
        or one == other
        or other in _MORE_EXACT.get(one, ())
        or one in _MORE_EXACT.get(other, ())
    )


_TO_NINETEEN = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen"
)
_BY_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_IN_ORDER = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
_ONES, _TENS, _ORDINALS = _TO_NINETEEN.split(), _BY_TENS.split(), _IN_ORDER.split()
_WORDS = {word: number for number, word in enumerate(_ONES)}
_WORDS |= {word: number * 10 for number, word in enumerate(_TENS, 2)}
_SCALES = {"dozen": 12, "hundred": 100, "thousand": 1_000, "k": 1_000}
_SCALES |= dict.fromkeys(("million", "millionen", "mio", "mn"), 10**6)
_SCALES |= {"billion": 10**9, "bn": 10**9, "trillion": 10**12, "tn": 10**12}
_HAN = {sign: value for value, sign in enumerate("〇一二三四五六七八九")}
_SMALL = {"十": 10, "百": 100, "千": 1_000, "백": 100, "천": 1_000}
_LARGE = (
    dict.fromkeys("万萬만", 10**4) | dict.fromkeys("億亿억", 10**8) | dict.fromkeys("兆조", 10**12)
)
_HAN_UNITS = "".join([*_SMALL, *_LARGE])
_HAN_SIGNS = "".join(_HAN) + _HAN_UNITS
_SCALE = (
    r"(?:[ -]?(?P<scale>hundred|dozen|thousand|millionen|million|mio|billion|trillion|bn|mn|tn)"
    r"|(?P<kilo>k))(?![A-Za-z])"
)
_NUMBER = re.compile(
    r"(?<![A-Za-z_\d])(?:[vV](?=\d))?"
    r"(?P<digits>\d{1,3}(?:[,' ]\d{3})++(?!\d)(?:\.\d+)?|\d+(?:[.,]\d+)*+)"
    rf"(?P<east>(?:[{_HAN_UNITS}]+\d*)*+)(?:{_SCALE})?",
    re.IGNORECASE,
)
_WORD = (
    rf"(?:{'|'.join(_TENS)})(?:[ -](?:{'|'.join(_ONES[1:10])}))?|{'|'.join(_ONES)}"
    "|an?(?= (?:hundred|thousand|million|billion|dozen))"
)
_NUMBER_WORDS = re.compile(rf"\b(?P<word>{_WORD})\b(?:{_SCALE})?", re.IGNORECASE)
_ORDINAL = re.compile(rf"\b(?:{'|'.join(_ORDINALS)})\b", re.IGNORECASE)
_HAN_NUMBER = re.compile(f"[{_HAN_SIGNS}]+")
_COUNTERS = "年月日時时分秒人名個个回次歳岁円元匹頭本枚冊台軒階度倍位番号號種つヶか世代点件"
_TOKENS = re.compile(rf"\d+|[{_HAN_SIGNS}]")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?:[' ]\d{3})+(?:\.\d+)?")
_CONTINENTAL = re.compile(r"\d{1,3}(?:\.\d{3})+(?:,\d+)?")
_DECIMAL = re.compile(r"\d+[.,]\d+")
_PLAIN_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_MAX_DIGITS = 24
"""Longer numbers are compared as text."""


def is_number_word(word: str) -> bool:
    """Return whether a lower-case word is a number."""
    return word in _WORDS or word in _SCALES


class Quantity(Struct, frozen=True):
    """A number at [start, end) with its possible values and its unit.

    `parts` are several numbers that it may be instead, if blanks or commas separate them. A match
    that is not `sure` may be no number: `one`, an ordinal, a Han numeral inside a word.
    """

    start: int
    end: int
    values: tuple[str, ...]
    unit: str | None = None
    parts: tuple[str, ...] = ()
    sure: bool = True


def find_quantities(text: str) -> Iterator[Quantity]:
    """Yield the quantities of a text in NFKC: first digits, then words, then Han numerals."""
    for found in _NUMBER.finditer(text):
        parts = re.split("[, ]", found["digits"])
        parts = [normalize_number(part) for part in parts] if len(parts) > 1 else []
        yield _build_quantity(text, found, _parse_digits(found), parts=tuple(parts))
    for found in _NUMBER_WORDS.finditer(text):
        number = sum(_WORDS.get(part, 1) for part in re.split("[ -]", found["word"].lower()))
        value = str(number * _SCALES.get((found["scale"] or "").lower(), 1))
        sure = found[0].lower() not in {"one", "zero"}
        yield _build_quantity(text, found, (value,), sure=sure)
    for found in _ORDINAL.finditer(text):
        value = str(_ORDINALS.index(found[0].lower()) + 1)
        yield Quantity(*found.span(), (value,), sure=False)
    for found in _HAN_NUMBER.finditer(text):
        if not text[max(0, found.start() - 1) : found.start()].isdigit():
            after = text[found.end() : found.end() + 1]
            sure = after != "" and after in _COUNTERS and found[0] != "一"
            yield _build_quantity(text, found, (_parse_han(found[0]),), sure=sure)


def _build_quantity(
    text: str,
    found: re.Match[str],
    values: tuple[str, ...],
    *,
    parts: tuple[str, ...] = (),
    sure: bool = True,
) -> Quantity:
    """Return a number with the unit before or after it."""
    start, end = found.span()
    unit, end = find_unit_after(text, end)
    if currency := find_currency_before(text, start):
        return Quantity(start - 1, end, values, currency, parts, sure)
    return Quantity(start, end, values, unit, parts, sure)


class QuantityIndex:
    """The quantities of a passage in NFKC."""

    def __init__(self, text: str) -> None:
        self._units: dict[str, set[str | None]] = {}
        for one in find_quantities(text):
            for value in one.values:
                self._units.setdefault(value, set()).add(one.unit)
            for part in one.parts:
                self.add(part)

    def add(self, value: str) -> None:
        """Add a number of any unit."""
        self._units.setdefault(value, set()).add(None)

    def contains(self, claimed: Quantity) -> bool:
        """Return whether a quantity occurs with a compatible unit, or as its parts."""
        found = any(
            are_compatible_units(claimed.unit, unit)
            for value in claimed.values
            for unit in self._units.get(value, ())
        )
        return found or bool(claimed.parts and all(part in self._units for part in claimed.parts))

    def contains_number(self, value: str) -> bool:
        """Return whether a number occurs with any unit."""
        return value in self._units


def _parse_digits(found: re.Match[str]) -> tuple[str, ...]:
    """Return the possible values of a number in digits."""
    digits = found["digits"]
    if found["east"]:
        return (_parse_han(digits.replace(",", "") + found["east"]),)
    values = _parse_separators(digits)
    scale = _SCALES.get((found["scale"] or found["kilo"] or "").lower(), 1)
    if scale == 1 or len(digits) > _MAX_DIGITS:
        return values
    numbers = (value for value in values if _PLAIN_NUMBER.fullmatch(value))
    return tuple(normalize_number(f"{Decimal(one) * scale:f}") for one in numbers)


def _parse_separators(digits: str) -> tuple[str, ...]:
    """Return the values that the separators of thousands and decimals allow."""
    if _THOUSANDS.fullmatch(digits):
        return (normalize_number(re.sub("[,' ]", "", digits)),)
    if _CONTINENTAL.fullmatch(digits):
        value = normalize_number(digits.replace(".", "").replace(",", "."))
        return (value, normalize_number(digits)) if _DECIMAL.fullmatch(digits) else (value,)
    if _DECIMAL.fullmatch(digits):
        digits = digits.replace(",", ".")
    return (normalize_number(digits),)


def normalize_number(number: str) -> str:
    """Return a number in digits without redundant zeros."""
    if number.count(".") == 1:
        number = number.rstrip("0").rstrip(".")
    return _strip_leading_zeros(number)


def _parse_han(run: str) -> str:
    """Return the value of Han or Hangul numerals, with or without digits among them."""
    tokens = _TOKENS.findall(run)
    if all(token in _HAN for token in tokens):
        return _strip_leading_zeros("".join(str(_HAN[token]) for token in tokens))
    total = section = current = 0
    for token in tokens:
        if token in _LARGE:
            total += (section + current or 1) * _LARGE[token]
            section = current = 0
        elif token in _SMALL:
            section += (current or 1) * _SMALL[token]
            current = 0
        else:
            current = _HAN[token] if token in _HAN else int(token[:_MAX_DIGITS])
    return str(total + section + current)


def _strip_leading_zeros(number: str) -> str:
    return re.sub(r"^0+(?=\d)", "", number)


_STOP_WORDS = (
    "but also not no nor never none neither only just even still yet very more most much many some"
    " any each every such other others another both either all same own too own per it you them"
    " him us we themselves itself himself herself while after before during between through about"
    " against over under within without again further once here because since until although"
    " though whereas however therefore thus hence moreover furthermore additionally instead"
    " specifically namely overall finally first second do don doesn didn isn aren wasn weren"
    " being having will can cannot may one ones yes according based mentioned mention stated"
    " states state said says described describes called known used use using note notes passage"
    " passages source sources text document documents provided given context answer question"
    " near unlike despite among upon along throughout across towards toward beyond per unless"
    " whether given today later earlier similarly likewise both meanwhile nevertheless consequently"
    " indeed perhaps include includes including well like e.g i.e etc via out up down off around"
    " nicht kein keine keinen einem einer auch nur noch aber oder als sich es er sie wir ihr hat"
    " haben hatte bei nach aus um am zum zur durch über wenn weil dass daß"
    " ne pas il elle ils elles on nous vous se ce cette ces sur par pour avec plus au"
    " no se su sus con por para como más lo al fue"
)
_STOP = frozenset(_STOP_WORDS.split())
PUNCTUATION = ".,;:!?\"'()[]{}*_`“”‘’«»…"
_GRAMMAR = re.compile(
    "[ぁ-\u309f]+|습니|니다|입니|됩니|합니|[었았였했됐되]다"
    "|[되하]었|었습|았습|였습|했습|있다|있습|이다|한다|된다"
    "|에서|으로|까지|부터"
)
_DENSE = re.compile(f"[{DENSE}]")
_RUN = re.compile(
    "[\u3400-\u9fff々\uf900-\ufaff]{2,}|[ァ-\u30faー]{2,}|[가-힣]+"
    "|[^\u3000-ヿ\u3400-\u9fff가-힣\uff00-\uffef\\W]{2,}"
)
_PARTICLE = re.compile(
    "(?<=[가-힣]{2})(?:은|는|이|가|을|를|에|의|도|와|과|로|만|에서|으로|까지|부터|에게|이다|입니다"
    "|했다|하였다|했습니다|합니다|한다|된다|됩니다|되었다|되었습니다|였다|였습니다|이었다|하는|되는)$"
)
_DIGITS = re.compile(r"[\d.,:]+(?:st|nd|rd|th|s)?")
_ANCHOR = "\u00a7x"
"""A content word before the tested word, because the last remaining word is never removed."""


def extract_key_words(text: str) -> dict[str, tuple[str, ...]]:
    """Return the content words of a text in order, each with its key terms."""
    words: list[str] = []
    for word in text.split():
        if _DENSE.search(word):
            words += (_PARTICLE.sub("", run) for run in _RUN.findall(word))
        elif is_content_word(word):
            words.append(word.strip(PUNCTUATION))
    found: dict[str, tuple[str, ...]] = {}
    for word in dict.fromkeys(words):
        terms = [term.text for term in build_query_terms(word)]
        kept = [one for one in terms if not _GRAMMAR.fullmatch(one) and not _DIGITS.fullmatch(one)]
        if kept:
            found[word] = tuple(kept)
    return found


def extract_key_terms(text: str) -> tuple[str, ...]:
    """Return the distinct key terms of a text in order."""
    return tuple(
        dict.fromkeys(term for terms in extract_key_words(text).values() for term in terms)
    )


@lru_cache(maxsize=4096)
def is_content_word(word: str) -> bool:
    """Return whether a word is neither a stop word nor a number."""
    bare = word.strip(PUNCTUATION).lower()
    if bare in _STOP or is_number_word(bare):
        return False
    return len(strip_stop_words(f"{_ANCHOR} {bare}").split()) > 1


def compute_bigram_share(terms: tuple[str, ...]) -> float:
    """Return the share of bigrams among the terms."""
    return sum(map(is_dense, terms)) / (len(terms) or 1)
