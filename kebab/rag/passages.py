"""Divides passages into sentences and table rows, and looks up values in them.

A date is compared as a date where both sides write one, and else by its numbers and its month.
"""

from calendar import month_name
from functools import lru_cache

from kebab.rag.prompt import Evidence, Quote
from kebab.rag.values import (
    Value,
    ValueKind,
    find_numbers,
    find_values,
    is_code,
    is_content_word,
    split_code,
)
from kebab.text.dates import iter_dates
from kebab.text.language import detect_written_form, is_dense, iter_unit_matches
from kebab.text.normalize import (
    compile_lazily,
    count_alike,
    fold_text,
    load_words,
    normalize_punctuation,
    split_names,
)
from kebab.text.sentences import LayoutKind, find_sentences
from kebab.text.tokenizer import tokenize, tokenize_unit

_ADJECTIVE_ENDINGS = frozenset(
    ("n", "an", "ian", "ean", "ese", "ish", "s", "ns", "ans", "ians", "ic")
)
_ENDINGS = frozenset(["", "y", "a", "e", *_ADJECTIVE_ENDINGS])
_MIN_STEM, _LONG_STEM = 4, 6
"""Two forms of a word share so many letters; with the larger number, endings matter less."""


def has_same_root(one: str, other: str) -> bool:
    """Return whether two words differ only in their endings, as `italy` and `italian` do."""
    shared = count_alike(one, other)
    endings = {one[shared:], other[shared:]}
    is_adjective = not endings.isdisjoint(_ADJECTIVE_ENDINGS)
    return endings <= _ENDINGS and (is_adjective or shared >= _LONG_STEM)


_CAPITALS = compile_lazily(r"\b[A-Z][\w'-]*(?:(?: (?:of|the|and|for|de))* [A-Z][\w'-]*)+")
_INITIALS = compile_lazily(r"\b[A-Z]")
_ACRONYM = compile_lazily(r"[A-Z](?:\.?[A-Z])+")


_CAPITALISED = compile_lazily(r"[^\W\d_]+(?:['.&-][^\W\d_]+)*")
_CELL = compile_lazily(r"(?<!\\)\|")


_ORDINALS = (
    *("first", "second", "third", "fourth", "fifth", "sixth"),
    *("seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth"),
)


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
        for at, ordinal in enumerate(_ORDINALS, start=1):
            if ordinal in self.tokens:
                self._numbers.setdefault(str(at), set()).add(None)

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

    def holds_asked(self, value: Value) -> bool:
        """Return whether the text has a value of a question: a name also in part, or misspelt."""
        if self.holds(value):
            return True
        name = fold_text(value.name)
        if value.kind is not ValueKind.NAME or is_code(value.name) or len(name) not in _MISSPELT:
            return False
        if not self.tokens.isdisjoint(value.tokens):
            return True
        near = _list_near_spellings(name)
        words = map(fold_text, _CAPITALISED.findall(self.text))
        return any(
            abs(len(one) - len(name)) <= 1 and not near.isdisjoint(_list_near_spellings(one))
            for one in words
        )

    def _has_variant(self, word: str) -> bool:
        """Return whether a name occurs as the initials of words, or as a place and its people."""
        if _ACRONYM.fullmatch(word):
            runs = _CAPITALS.findall(self.text)
            initials = " ".join("".join(_INITIALS.findall(run)) for run in runs)
            return word.replace(".", "") in initials
        lower = word.lower()
        others = (one for one in _CAPITALISED.findall(self.text) if one[0].isupper())
        return any(
            one[:_MIN_STEM].lower() == lower[:_MIN_STEM] and has_same_root(lower, one.lower())
            for one in others
        )


_MISSPELT = range(4, 41)
"""The letters of a name that is compared with similar words."""


@lru_cache(maxsize=4096)
def _list_near_spellings(word: str) -> frozenset[str]:
    """Return a word and its spellings without one letter; two words with one in common are near."""
    return frozenset((word, *(word[:place] + word[place + 1 :] for place in range(len(word)))))


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


_NEGATORS, _LIMITS = map(split_names, load_words("negation").values())
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
