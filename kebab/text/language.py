"""Detects the language of a text, by its script and for Latin letters by its stop words.

The result feeds a filter, so None is better than a wrong language.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from kebab.core.documents import Block, BlockKind
from kebab.text.scripts import count_letters, detect_script

_SAMPLE = 4_000
_PROSE = frozenset({BlockKind.HEADING, BlockKind.PARAGRAPH, BlockKind.LIST, BlockKind.QUOTE})
_NOISE = re.compile(r"https?://\S+|`[^`\n]*`|<[^<>\n]*>|\{\{[^{}\n]*\}\}")
_WORD = re.compile(r"[^\W\d_]+")
_ASCII_WORD = re.compile("[A-Za-z]+")

_UKRAINIAN = re.compile("[\u0404\u0406\u0407\u0454\u0456\u0457\u0490\u0491]")
_PERSIAN = re.compile("[\u067e\u0686\u0698\u06a9\u06af\u06cc]")
_LANGUAGE_OF_SCRIPT = {
    "hangul": "ko",
    "thai": "th",
    "devanagari": "hi",
    "greek": "el",
    "hebrew": "he",
}
"""The languages of scripts with one language."""

_KANA_SHARE = 0.1
"""The least share of Kana among Kana and Han in Japanese."""

_STOP_WORDS = {
    "en": "the of and to in is that for it with as was on be by this are from or an not you which",
    "de": "der die und das ist nicht mit den von zu ein eine auf sich dem des im wird auch als",
    "fr": "le la les des et est une dans pour que qui pas sur avec au du ce il sont plus cette",
    "es": "el la los las de que y en un una por con para es se del al como lo más pero su",
    "it": "il di che la e per un una è con non sono del della i le si da come nel anche gli",
    "pt": "o que e do da em um uma para com não os no se na por mais as dos como mas foi ao",
    "nl": "de het een van en is dat niet op te met voor zijn aan er om ook als door maar bij",
    "sv": "och att det som en på är av för med den till inte om ett har jag var men sig",
    "da": "og at det er en på af for med den til ikke der har som et jeg var men sig",
    "pl": "i w nie na się z do to jest że o jak za od po dla ale są przez oraz",
    "tr": "ve bir bu için ile da de çok ne olarak daha gibi var olan kadar ya ama en",
    "vi": "và của là có trong cho không được các một với những đã này người để khi từ",
}
_LANGS_OF: dict[str, list[str]] = {}
for _lang, _words in _STOP_WORDS.items():
    for _word in _words.split():
        _LANGS_OF.setdefault(_word, []).append(_lang)
_is_stop_word = _LANGS_OF.__contains__


def is_common_word(word: str) -> bool:
    """Return whether a lower-case word is one of the most common words of some language."""
    return word in _LANGS_OF


_ENOUGH_SCORE = 2.0
_ENOUGH_SHARE = 0.06
_CLEAR_LEAD = 1.3


_NAMES = {
    "ar": "Arabic",
    "da": "Danish",
    "de": "German",
    "el": "Greek",
    "en": "English",
    "es": "Spanish",
    "fa": "Persian",
    "fr": "French",
    "he": "Hebrew",
    "hi": "Hindi",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "nl": "Dutch",
    "pl": "Polish",
    "pt": "Portuguese",
    "ru": "Russian",
    "sv": "Swedish",
    "th": "Thai",
    "tr": "Turkish",
    "uk": "Ukrainian",
    "vi": "Vietnamese",
    "zh": "Chinese",
}
_OPENERS = {
    "en": "what how who whom whose why when where which does did are were can could should would",
    "de": "wie warum wieso weshalb wer wen wem wann welche welcher welches wieviel gibt kann",
    "fr": "quel quelle quels quelles pourquoi combien quand est-ce qu'est-ce",
    "es": "qu\u00e9 cu\u00e1l cu\u00e1les cu\u00e1ndo d\u00f3nde qui\u00e9n c\u00f3mo"
    " cu\u00e1nto cu\u00e1ntos",
    "it": "quale quali perch\u00e9 cos'\u00e8 dov'\u00e8 com'\u00e8",
    "pt": "quais quem onde quantos quantas qu\u00e3o",
    "nl": "hoe waarom welke hoeveel wanneer",
}
_LANGUAGE_OF_OPENER = {word: code for code, words in _OPENERS.items() for word in words.split()}
_LATIN_WORD = re.compile(r"[A-Za-z\u00c0-\u024f][A-Za-z\u00c0-\u024f'\u2019-]*")
_BEFORE_OPENER = " \t\n\u00bf\u00a1*_>-"
_EASTERN = re.compile("[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3]+")
_HIRAGANA = re.compile("[\u3041-\u309f]")


@dataclass(frozen=True, slots=True)
class Language:
    """A language: its ISO 639 code and English name, both None when it is unknown."""

    code: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class WrittenForm:
    """The script of most of a text and its language, None where there is none or it is unsure."""

    script: str | None
    language: str | None


def get_language_name(code: str) -> str:
    """Return the English name of a language, or its code when kebab has no name for it."""
    return _NAMES.get(code, code)


def detect_document_language(text: str, blocks: Iterable[Block]) -> str | None:
    """Return the ISO 639 code of most of a document's prose, or None when unsure."""
    return detect_language(_NOISE.sub(" ", _sample_prose(text, blocks)))


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
    code = _detect_by_opener(question) or detect_language(question)
    return Language(code, _NAMES.get(code)) if code in _NAMES else Language()


def _detect_by_opener(question: str) -> str | None:
    """Return the language whose question word a question begins with."""
    first = _LATIN_WORD.match(question.lstrip(_BEFORE_OPENER))
    if first is None or len(_EASTERN.findall(question)) > 1 or _HIRAGANA.search(question):
        return None
    return _LANGUAGE_OF_OPENER.get(first[0].lower().replace("\u2019", "'"))


def detect_text_language(text: str) -> str | None:
    """Return the ISO 639 code of the beginning of a text, or None when unsure."""
    return detect_language(_NOISE.sub(" ", text[:_SAMPLE]))


def _sample_prose(text: str, blocks: Iterable[Block]) -> str:
    """Return the first characters of a document's prose."""
    parts: list[str] = []
    size = 0
    for block in blocks:
        if block.kind in _PROSE:
            parts.append(text[block.start : min(block.end, block.start + _SAMPLE)])
            size += len(parts[-1])
            if size >= _SAMPLE:
                break
    return "\n".join(parts)[:_SAMPLE]


def _detect_in_script(script: str | None, sample: str) -> str | None:
    """Return the language of a text in a script."""
    if script == "latin":
        return _detect_latin(sample)
    if script == "han":
        kana, han = count_letters(sample, "kana"), count_letters(sample, "han")
        return "ja" if kana >= _KANA_SHARE * (kana + han) else "zh"
    if script == "cyrillic":
        return "uk" if _UKRAINIAN.search(sample) else "ru"
    if script == "arabic":
        return "fa" if _PERSIAN.search(sample) else "ar"
    return _LANGUAGE_OF_SCRIPT.get(script) if script else None


def _detect_latin(sample: str) -> str | None:
    """Return the language of a Latin text whose stop words clearly lead."""
    words = (_ASCII_WORD if sample.isascii() else _WORD).findall(sample.lower())
    scores = dict.fromkeys(_STOP_WORDS, 0.0)
    for word in filter(_is_stop_word, words):
        langs = _LANGS_OF[word]
        for lang in langs:
            scores[lang] += 1 / len(langs)
    first, second = sorted(scores, key=lambda lang: -scores[lang])[:2]
    best = scores[first]
    clear = best >= _CLEAR_LEAD * scores[second]
    return first if clear and best >= max(_ENOUGH_SCORE, _ENOUGH_SHARE * len(words)) else None
