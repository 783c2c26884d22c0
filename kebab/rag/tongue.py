"""The language of a question, by which the answer is asked for and a refusal is worded."""

import re
from dataclasses import dataclass

from kebab.core.answer import Refusal
from kebab.parse.language import guess_text
from kebab.rag.refusals import SENTENCES

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
_LANGUAGE_OF = {word: code for code, words in _OPENERS.items() for word in words.split()}
_LATIN_WORD = re.compile(r"[A-Za-z\u00c0-\u024f][A-Za-z\u00c0-\u024f'\u2019-]*")
_BEFORE = " \t\n\u00bf\u00a1*_>-"
_EASTERN = re.compile("[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3]+")
_HIRAGANA = re.compile("[\u3041-\u309f]")


@dataclass(frozen=True, slots=True)
class Tongue:
    """A language: its ISO 639 code and English name, both None when it is unknown."""

    code: str | None = None
    name: str | None = None


def tongue(question: str) -> Tongue:
    """Return the language of a question.

    A word that only one language opens questions with decides, also when it asks for a name in
    another script.
    """
    code = _opened(question) or guess_text(question)
    return Tongue(code, _NAMES.get(code)) if code in _NAMES else Tongue()


def refusal_sentence(reason: Refusal, code: str | None) -> str:
    """Return what a refusal says, in a language if there is a wording in it, else in English."""
    return SENTENCES.get(code or "en", SENTENCES["en"])[reason]


def _opened(question: str) -> str | None:
    """Return the language whose question word a question begins with."""
    first = _LATIN_WORD.match(question.lstrip(_BEFORE))
    if first is None or len(_EASTERN.findall(question)) > 1 or _HIRAGANA.search(question):
        return None
    return _LANGUAGE_OF.get(first[0].lower().replace("\u2019", "'"))
