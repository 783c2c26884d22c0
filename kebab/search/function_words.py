"""Recognizes function words: articles, pronouns, prepositions, auxiliaries and their like.

There are more of them than stop words of a query: `over` in a query may be the word that decides,
but as a word that two documents share it says nothing.
"""

import re
from collections.abc import Collection, Mapping
from functools import cache

from kebab.errors.system import translate_import_errors
from kebab.search.query_parser import is_stop_word
from kebab.text.language import is_common_word

_WORDS_BY_LANGUAGE = {
    "English": (
        "about above across after again against all almost along already also although always"
        " among another any anyone anything around because before behind being below between"
        " both but came can cannot come comes could during each either else enough even ever"
        " every few following further get gets getting give given gives go goes got had having"
        " here however if instead into itself just keep least less let lets like likely made"
        " make makes making many may maybe me might more most much must need needed needs"
        " neither never no nor not nothing now off often once one only other others ought ours"
        " out over own per perhaps please put quite rather really said same say see seem seems"
        " several shall she some something sometimes soon still such take taken takes than"
        " them themselves therefore thing things though through thus together too toward"
        " towards under unless until up upon us use used uses using usually various very via"
        " want wants way ways well went were what whatever whenever whether which while whole"
        " will with within without would yes yet you your yours"
    ),
    "English numbers": (
        "two three four five six seven eight nine ten first second third once twice it its she her"
    ),
    "Korean": (
        "및 등 수 것 때 그 이 저 또는 그리고 하지만 대한 대해 위해 위한 통해 따라 따른 경우 모든"
        " 다른 같은 하는 있는 없는 되는 된 할 한 하고 하여 하면 에서 으로 에게 까지 부터 보다 것이"
        " 것은 것을 수도 여러분 우리 매우 더 이런 그런 어떤"
    ),
    "Russian": (
        "кем кого кому чего чему чей чья чьё чьи чьих чьей назовите насколько зовут звали каков"
        " какова каково каковы каким какими которую"
    ),
    "Questions of other languages": (
        "hoeveel hoelang welke quantas quantos quanta quante c\u00e2\u021bi c\u00e2te c\u00e2t"
        " ile ilu hvor hva hvilke kuinka montako mennyi h\u00e1ny \u03ad\u03c7\u03bf\u03c5\u03bd"
        " \u03ad\u03c7\u03b5\u03b9 \u092a\u093e\u0938 presso gibt gilt"
    ),
    "Chinese": (
        "一共 总共"
        " 的 是 在 了 和 有 可以 這個 这个 一个 一個 我们 我們 他们 他們 以及 或者 如果 因为 因為"
        " 所以 但是 不是 没有 沒有 就是 通过 通過"
    ),
}
_WORDS = frozenset(word for words in _WORDS_BY_LANGUAGE.values() for word in words.split())

_is_grammar = re.compile(
    "[\u3041-\u309f]+|[\uac00-\ud7a3]*(?:니다|니까|세요|십시오|시오|어요|아요|해요)"
).fullmatch
"""Hiragana alone, and words of Hangul with the ending of a sentence."""

_FEWEST_STOP_WORDS = 2


def is_function_word(word: str) -> bool:
    """Return whether a written word is a function word of any language."""
    lower = word.lower()
    if lower in _WORDS or is_stop_word(lower) or is_common_word(lower):
        return True
    return _is_grammar(lower) is not None


def is_listed_stop_word(word: str) -> bool:
    """Return whether a word is in the list of stop words of any of 56 languages.

    English is not among them: its list has words such as `fire`, `system` and `information`.
    """
    lower = word.lower()
    return any(lower in words for code, words in _load_stop_words().items() if code != "en")


def reads_as_another_language(words: Collection[str], code: str, *, asks: bool) -> bool:
    """Return whether more of some words are stop words of another language than of the given one.

    One such word tells too little, but a question without a stop word is in another language.
    """
    lists, lower = _load_stop_words(), {word.lower() for word in words}
    most = max(len(lower & listed) for listed in lists.values())
    if code not in lists:
        return False
    own = len(lower & lists[code])
    return (asks and not own) or most >= max(_FEWEST_STOP_WORDS, own + 1)


@cache
def _load_stop_words() -> Mapping[str, frozenset[str]]:
    """Return the stop words of 57 languages by code; the import takes about 20 ms."""
    with translate_import_errors("the words of a text", "stopwordsiso"):
        import stopwordsiso

    return {code: frozenset(stopwordsiso.stopwords(code)) for code in stopwordsiso.langs()}
