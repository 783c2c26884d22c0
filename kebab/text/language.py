"""Classifies characters by script, knows the words of grammar, and detects the language of a text.

The classes are regular-expression ranges, so that one scan in C splits a text. They hold what
the classes of Python do not know: which marks belong to the letter before them, and which scripts
are written without blanks between words. The language feeds a filter, so None is better than a
wrong one.

Each word of grammar stands once for a language in `words.json`. Question words and stop words are
dropped from queries. Others stay, where `over` may be the word that decides, but as a word that two
documents share, or that occurs nowhere, they say nothing.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from itertools import islice

from msgspec import Struct

from kebab.core.documents import Block, BlockKind
from kebab.errors.system import translate_import_errors
from kebab.text.normalize import compile_lazily, load_words

MARKS, DENSE, DENSE_MARKS, SYMBOLS = load_words("ranges").values()
"""The ranges of combining marks of scripts with blanks between words, of scripts that are cut into
bigrams (Han, Kana, Hangul, Thai and their kin), of their marks, and of signs that are searched for
by themselves, such as emoji, arrows, currency and mathematics."""

_LINKED = (
    r"(?:(?<![\w.])\.)?{word}(?:(?:_+|[-.'\u00b7\u02bc\u2010\u2019]|(?<=\d),(?=\d)){word})*"
    r"(?:\+\+|\#(?!\w))?"
)
"""Words that are written as one: `snake_case`, `a.b`, `well-known`, `don't`, `.env`, `c++`."""

_PLAIN = compile_lazily(_LINKED.replace("{word}", "[A-Za-z0-9]+"))


_DENSE_BLOCKS = compile_lazily("[\u0e00-\u1fff\u2e80-\U0010ffff]")
"""Finds characters of the blocks that hold all dense scripts."""


def _build_unit_pattern(letter: str, more: str) -> re.Pattern[str]:
    """Return the scanner for linked words of letters with their marks, and for other units."""
    word = rf"{letter}+(?:[{MARKS}]+{letter}*)*"
    return compile_lazily(f"{_LINKED.replace('{word}', word)}|{more}")


_SPACED = _build_unit_pattern(r"[^\W_]", f"[{SYMBOLS}]")
_ANY_SCRIPT = _build_unit_pattern(rf"[^\W_{DENSE}]", f"[{DENSE}]+|[{SYMBOLS}]")


def _choose_unit_pattern(text: str) -> re.Pattern[str]:
    if text.isascii():
        return _PLAIN
    return _ANY_SCRIPT if _DENSE_BLOCKS.search(text) else _SPACED


def iter_unit_matches(text: str) -> Iterator[re.Match[str]]:
    """Return the matches of the units of a text, in order."""
    return _choose_unit_pattern(text).finditer(text)


def split_units(text: str) -> list[str]:
    """Return the units of a text: linked words, runs of a dense script, and signs."""
    return _choose_unit_pattern(text).findall(text)


_CLUSTER = compile_lazily(f"[{DENSE}][{DENSE_MARKS}]*")
_MARK = compile_lazily(f"[{DENSE_MARKS}]")


def split_clusters(run: str) -> list[str]:
    """Return the characters of a dense run, each with its marks."""
    return _CLUSTER.findall(run) if _MARK.search(run) else list(run)


_DENSE_LETTER = compile_lazily(f"[{DENSE}]")


def is_dense(unit: str) -> bool:
    """Return whether a unit is a run of a script without blanks."""
    return unit[0] > "\u0e00" and _DENSE_LETTER.match(unit) is not None


_ANY_LETTER = compile_lazily(r"[^\W\d_]")
_LETTERS = {
    name: compile_lazily(f"[{one}]") for name, one in load_words("letters_of_scripts").items()
}
"""The letters of each script."""

_FOREIGN = compile_lazily("[^\0-\x7f]+")

_DENSITY = 3
"""A letter of Kana, Hangul or Han counts as this many Latin letters.

Technical prose in these scripts is full of Latin names.
"""

_ENOUGH = 0.5


def count_letters(text: str, script: str) -> int:
    """Return how many letters of a script a text has."""
    return len(_LETTERS[script].findall(text))


def detect_script(text: str) -> str | None:
    """Return the script of most of a text, None when it has no letters; Kana counts as `han`."""
    if text.isascii():
        return "latin" if any(map(str.isalpha, text)) else None
    foreign = "".join(_FOREIGN.findall(text))
    counts = {
        script: count_letters(text if script == "latin" else foreign, script) for script in _LETTERS
    }
    counts["han"] = _DENSITY * (counts["han"] + counts.pop("kana"))
    counts["hangul"] *= _DENSITY
    # Of scripts with as many letters the eastern ones come first.
    best = max(("han", *counts), key=lambda script: counts[script])
    return best if counts[best] else None


def is_written_in(text: str, scripts: frozenset[str] | None) -> bool:
    """Return whether at least half of the letters belong to some scripts; None means all scripts.

    A text without letters is written in every script: digits and signs belong to all of them.
    """
    if scripts is None or (text.isascii() and "latin" in scripts):
        return True
    letters = len(_ANY_LETTER.findall(text))
    return sum(count_letters(text, script) for script in scripts) >= letters * _ENOUGH


_EXTENDS = compile_lazily(
    "[\u200d\u1160-\u11ff\ud7b0-\ud7fb\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]"
)
"""Signs beside marks that belong to the one before them: joiners, Jamo, skin tones, tags."""

_INDICATORS = "".join(map(chr, range(0x1F1E6, 0x1F200)))
"""Regional indicators, of which two make a flag."""

_VIRAMA = 9
"""The combining class of signs that join two consonants of an Indic script."""


def snap_to_grapheme(text: str, position: int) -> int:
    """Return the last position up to `position` that does not split a grapheme."""
    while 0 < position < len(text) and _splits_grapheme(text, position):
        position -= 1
    return position


def shorten(text: str, limit: int) -> str:
    """Return at most `limit` code points of a text, cut between graphemes and ended by `…`."""
    if len(text) <= limit:
        return text
    position = snap_to_grapheme(text, limit - 1)
    return text[: position or limit - 1].rstrip() + "…"


def _splits_grapheme(text: str, position: int) -> bool:
    """Return whether the characters around a position belong to one grapheme."""
    before, after = text[position - 1], text[position]
    if after < "\u0300":
        return before == "\r" and after == "\n"
    if unicodedata.category(after).startswith("M") or _EXTENDS.match(after) or before == "\u200d":
        return True
    if before in _INDICATORS and after in _INDICATORS:
        run = len(text[:position]) - len(text[:position].rstrip(_INDICATORS))
        return run % 2 == 1
    return unicodedata.combining(before) == _VIRAMA and unicodedata.category(after) == "Lo"


QUESTION_WORDS = load_words("question_words")
"""The words that open a question."""

AUXILIARIES = load_words("auxiliaries")
"""The verbs that open a question as its first word."""

_STOP_WORDS, _OTHER_WORDS = load_words("stop_words"), load_words("other_words")

LATIN_LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl", "sv", "da", "pl", "tr", "vi")
"""The languages that are told apart by these words, not by their script."""

_CONTENT = frozenset(("comment", "hoe"))
"""Question words of French and Dutch that stay in queries, because they are nouns in English."""


def _collect_words(*tables: Mapping[str, str]) -> frozenset[str]:
    return frozenset(word for table in tables for words in table.values() for word in words.split())


_ASKING = _collect_words(QUESTION_WORDS)
_DROPPED = (_ASKING | _collect_words(_STOP_WORDS)) - _CONTENT
_FUNCTION_WORDS = _DROPPED | _CONTENT | _collect_words(AUXILIARIES, _OTHER_WORDS)
_PUNCTUATION = ".,;:!?\"'()[]\u00bf\u00a1\u061f…\u0964"

_is_grammar = re.compile(load_words("patterns")["grammar_words"]).fullmatch
"""Hiragana alone, and words of Hangul with the ending of a sentence."""


def is_question_word(word: str) -> bool:
    """Return whether a lower-case word opens questions in some language."""
    return word in _ASKING


def is_stop_word(word: str) -> bool:
    """Return whether a word is dropped from queries: a stop word or question word of a language."""
    return word.strip(_PUNCTUATION).lower() in _DROPPED


def is_function_word(word: str) -> bool:
    """Return whether a written word is a function word of any language."""
    lower = word.lower()
    found = lower in _FUNCTION_WORDS or lower.strip(_PUNCTUATION) in _DROPPED
    return found or _is_grammar(lower) is not None


def strip_stop_words(text: str) -> str:
    """Return a query without stop words and question words, or all of it if nothing is left."""
    words = text.split()
    left = [word for word in words if not is_stop_word(word)]
    return " ".join(left) if any(any(map(str.isalnum, word)) for word in left) else text


@cache
def list_languages_of_words() -> dict[str, list[str]]:
    """Return the languages in Latin script of each of their function words."""
    tables = (QUESTION_WORDS, AUXILIARIES, _STOP_WORDS, _OTHER_WORDS)
    found: dict[str, list[str]] = {}
    for code in LATIN_LANGUAGES:
        for word in dict.fromkeys(" ".join(table.get(code, "") for table in tables).split()):
            found.setdefault(word, []).append(code)
    return found


def find_opened_language(word: str) -> str | None:
    """Return the language whose questions a lower-case word opens, if it is a word of no other."""
    languages = list_languages_of_words().get(word, ())
    if len(languages) != 1 or word in _CONTENT:
        return None
    (code,) = languages
    opens = f"{QUESTION_WORDS.get(code, '')} {AUXILIARIES.get(code, '')}".split()
    return code if word in opens else None


def is_listed_stop_word(word: str) -> bool:
    """Return whether a word is in the list of stop words of any of 56 languages.

    English is not among them: its list has words such as `fire` and `system`. Nor are digits.
    """
    lower, lists = word.lower(), load_stop_words().items()
    return not lower.isdecimal() and any(lower in words for code, words in lists if code != "en")


def reads_as_another_language(words: Collection[str], code: str, *, asks: bool) -> bool:
    """Return whether more of some words are stop words of another language than of the given one.

    One such word tells too little, but a question without a stop word is in another language.
    """
    lists, lower = load_stop_words(), {word.lower() for word in words}
    most = max(len(lower & listed) for listed in lists.values())
    if code not in lists:
        return False
    own = len(lower & lists[code])
    return (asks and not own) or most >= max(2, own + 1)


@cache
def load_stop_words() -> Mapping[str, frozenset[str]]:
    """Return the stop words of 57 languages by code; the import takes about 20 ms."""
    with translate_import_errors("the words of a text", "stopwordsiso"):
        import stopwordsiso

    return {code: frozenset(stopwordsiso.stopwords(code)) for code in stopwordsiso.langs()}


QUESTION_BIGRAMS = _collect_words(load_words("question_bigrams"))
"""The bigrams of question words and endings in scripts without blanks."""

_SAMPLE = 4_000
_PROSE = frozenset({BlockKind.HEADING, BlockKind.PARAGRAPH, BlockKind.LIST, BlockKind.QUOTE})
_NOISE = compile_lazily(
    r"^(?P<fence>```+|~~~+).*?(?:^(?P=fence)|\Z)|https?://\S+|`[^`\n]*`|<[^<>\n]*>|\{\{[^{}\n]*\}\}",
    re.MULTILINE | re.DOTALL,
)
"""Code, addresses and markup, which are in no language."""

_WORD = compile_lazily(r"[^\W\d_]+")

_UKRAINIAN = compile_lazily("[\u0404\u0406\u0407\u0454\u0456\u0457\u0490\u0491]")
_PERSIAN = compile_lazily("[\u067e\u0686\u0698\u06a9\u06af\u06cc]")
_LANGUAGE_OF_SCRIPT = load_words("languages_of_scripts")
"""The languages of scripts with one language."""

_KANA_SHARE = 0.1
"""The least share of Kana among Kana and Han in Japanese."""

_ENOUGH_SCORE = 2.0
_ENOUGH_SHARE = 0.06
_CLEAR_LEAD = 1.3


_NAMES = load_words("languages")
_LATIN_WORD = compile_lazily(r"[A-Za-z\u00c0-\u024f][A-Za-z\u00c0-\u024f'\u2019-]*")
_EASTERN = compile_lazily("[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3]+")
_HIRAGANA = compile_lazily("[\u3041-\u309f]")


class Language(Struct, frozen=True):
    """A language: its ISO 639 code and English name, both None when it is unknown."""

    code: str | None = None
    name: str | None = None


class WrittenForm(Struct, frozen=True):
    """The script of most of a text and its language, None where there is none or it is unsure."""

    script: str | None
    language: str | None


def get_language_name(code: str) -> str:
    """Return the English name of a language, or its code when kebab has no name for it."""
    return _NAMES.get(code, code)


def detect_document_language(text: str, blocks: Iterable[Block]) -> str | None:
    """Return the ISO 639 code of most of a document's prose, or None when unsure."""
    prose = (
        text[one.start : min(one.end, one.start + _SAMPLE)] for one in blocks if one.kind in _PROSE
    )
    return detect_text_language("\n".join(islice(prose, _SAMPLE)))


def detect_language(sample: str) -> str | None:
    """Return the ISO 639 code of a short text, or None when unsure."""
    return _detect_in_script(detect_script(sample), sample)


def detect_written_form(text: str) -> WrittenForm:
    """Return the script and the language of a text, by its beginning."""
    sample = text[:_SAMPLE]
    script = detect_script(sample)
    return WrittenForm(script, _detect_in_script(script, sample))


def may_share_words(one: WrittenForm, other: WrittenForm) -> bool:
    """Return whether two texts may share words: one script and, where known, one language."""
    if one.script is None or other.script is None:
        return True
    known = one.language is not None and other.language is not None
    return one.script == other.script and not (known and one.language != other.language)


def detect_question_language(question: str) -> Language:
    """Return the language of a question.

    A word that opens questions in one language only decides, also when the question asks for a
    name in another script.
    """
    code = None
    first = _LATIN_WORD.match(question.lstrip(" \t\n\u00bf\u00a1*_>-"))
    if first and len(_EASTERN.findall(question)) <= 1 and not _HIRAGANA.search(question):
        code = find_opened_language(first[0].lower().replace("\u2019", "'"))
    code = code or detect_language(question)
    return Language(code, _NAMES[code]) if code and code in _NAMES else Language()


def detect_text_language(text: str) -> str | None:
    """Return the ISO 639 code of the beginning of a text, or None when unsure."""
    return detect_language(_NOISE.sub(" ", text[:_SAMPLE]))


def _detect_in_script(script: str | None, sample: str) -> str | None:
    if script == "latin":
        words = _WORD.findall(sample.lower())
        languages_of = list_languages_of_words()
        scores = dict.fromkeys(LATIN_LANGUAGES, 0.0)
        for word, count in Counter(filter(languages_of.__contains__, words)).items():
            langs = languages_of[word]
            for lang in langs:
                scores[lang] += count / len(langs)
        first, second = sorted(scores, key=lambda lang: -scores[lang])[:2]
        best = scores[first]
        clear = best >= _CLEAR_LEAD * scores[second]
        return first if clear and best >= max(_ENOUGH_SCORE, _ENOUGH_SHARE * len(words)) else None
    if script == "han":
        kana, han = count_letters(sample, "kana"), count_letters(sample, "han")
        return "ja" if kana >= _KANA_SHARE * (kana + han) else "zh"
    if script == "cyrillic":
        return "uk" if _UKRAINIAN.search(sample) else "ru"
    if script == "arabic":
        return "fa" if _PERSIAN.search(sample) else "ar"
    return _LANGUAGE_OF_SCRIPT.get(script) if script else None


_PIECE = 800
"""The letters of a piece: enough stop words to tell a language, and few enough to see two."""


def measure_languages(text: str) -> Counter[str]:
    """Return the bytes of text by ISO 639 code, under an empty string where it is unsure.

    Code, addresses and markup do not count.
    """
    found: Counter[str] = Counter()
    prose = _NOISE.sub(" ", text)
    for start in range(0, len(prose), _PIECE):
        piece = prose[start : start + _PIECE]
        if any(map(str.isalpha, piece)):
            found[detect_language(piece) or ""] += len(piece.encode("utf-8", "replace"))
    return found
