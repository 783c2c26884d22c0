"""Knows the words of grammar: stop words, question words and other function words.

Each word stands once for a language, in one of three tables. Question words and stop words are
dropped from queries. The other function words stay in queries, where `over` may be the word that
decides, but as a word that two documents share, or that occurs nowhere, they say nothing.
"""

import re
from collections.abc import Collection, Mapping
from functools import cache

from kebab.errors.system import translate_import_errors


def _read_table(text: str) -> dict[str, str]:
    """Return the words of each language from lines that begin with its code, or go on with it."""
    return dict(row.split(maxsplit=1) for row in re.split(r"\n(?=\S)", text.strip()))


QUESTION_WORDS = _read_table("""
en how what when where which who whom whose why
de wie warum wieso weshalb was welche welcher welches welchen welchem wer wem wen wann wo woher
  wohin wieviel
fr quel quelle quels quelles qui quoi où quand combien pourquoi comment
es qué cuál cuáles cuándo dónde quién quiénes cómo cuánto cuántos cuánta cuántas
it chi quale quali quando dove perché quanto quanti quante cos'è dov'è com'è
pt quem qual quais onde como quantos quantas quão
nl hoe waarom welke hoeveel hoelang wanneer
no hva hvilke hvor
fi kuinka montako
hu mennyi hány
ro câți câte cât
ru что кто где когда как почему какой какая какое какие каких каким сколько чем кем кого кому чего
  чему чей чья чьё чьи чьих чьей насколько каков какова каково каковы какими
el ποιος ποια ποιο ποιοι ποιες τι πού πώς πότε γιατί πόσο πόσα πόσες
tr ne nedir nerede nasıl neden hangi hangisi kaç
vi gì nào đâu sao nhiêu
ar ما ماذا متى أين كيف لماذا كم هل
hi क्या कौन कब कहाँ कहां कैसे क्यों कितने कितनी कितना किस
""")
"""The words that open a question."""

AUXILIARIES = {
    "en": "am are can could did do does had has have is may must should was were will would",
    "de": "kann gibt nenne nennen",
    "fr": "est-ce qu'est-ce",
}
"""The verbs that open a question as its first word."""

_STOP_WORDS = _read_table("""
en do does did is are was were be been am the a an of to in on for i my me we you your our should
  can could would shall might must its and or that this these those with from by at as has have had
  happen happened happens there their they he she his her not than then into if so
de der das dem ein eine einen einem einer und ist sind wird werden wurde wurden ich auf für mit von
  zu im
fr que la le les une du des et est sont dans aux
es cual cuando donde quien el los las una unas del en es al
it che il gli di sono nel nella
pt uma da das em são
ru и в на по из у за от до для это был была было были
el το οι τα του της των και είναι στο στη
tr bir
vi là của
ar هو هي في على من
hi का के की में है हैं था थे थी
""")

_OTHER_WORDS = _read_table("""
en about above across after again against all almost along already also although always among
  another any anyone anything around because before behind being below between both but came cannot
  come comes during each either else enough even ever every few following further get gets getting
  give given gives go goes got having here however instead it itself just keep least less let lets
  like likely made make makes making many may maybe more most much need needed needs neither never
  no nor nothing now off often once one only other others ought ours out over own per perhaps please
  put quite rather really said same say see seem seems several she some something sometimes soon
  still such take taken takes them themselves therefore thing things though through thus together
  too toward towards under unless until up upon us use used uses using usually various very via want
  wants way ways well went whatever whenever whether while whole will within without yes yet yours
  two three four five six seven eight nine ten first second third twice
de die nicht den sich des auch als gilt sie ihr ihre ihren ihnen
fr pour pas sur avec au ce il plus cette
es la de que y un por con para se como lo más pero su
it la e per un una è con non del della i le si da come anche presso
pt o que e do um para com não os no se na por mais as dos mas foi ao quanta
nl de het een van en is dat niet op te met voor zijn aan er om ook als door maar bij
sv och att det som en på är av för med den till inte om ett har jag var men sig
da og at det er en på af for med den til ikke der har som et jeg var men sig
pl i w nie na się z do to jest że o jak za od po dla ale są przez oraz ile ilu
tr ve bu için ile da de çok olarak daha gibi var olan kadar ya ama en
vi và có trong cho không được các một với những đã này người để khi từ
ru назовите зовут звали которую
el έχουν έχει
hi पास
ko 및 등 수 것 때 그 이 저 또는 그리고 하지만 대한 대해 위해 위한 통해 따라 따른 경우 모든 다른 같은
  하는 있는 없는 되는 된 할 한 하고 하여 하면 에서 으로 에게
  까지 부터 보다 것이 것은 것을 수도 여러분 우리 매우 더 이런 그런 어떤
zh 一共 总共 的 是 在 了 和 有 可以 這個 这个 一个 一個 我们 我們 他们 他們 以及 或者 如果 因为 因為
  所以 但是 不是 没有 沒有 就是 通过 通過
""")

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

_is_grammar = re.compile(
    "[ぁ-\u309f]+|[가-힣]*(?:니다|니까|세요|십시오|시오|어요|아요|해요)"
).fullmatch
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

    English is not among them: its list has words such as `fire`, `system` and `information`.
    """
    lower = word.lower()
    return any(lower in words for code, words in load_stop_words().items() if code != "en")


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


_QUESTION_BIGRAMS = _read_table("""
ko 얼마 마나 무엇 엇을 엇이 엇인 어디 디서 디에 언제 제인 누가 누구 구인 어떻 떻게 어떤 며칠 나요
  까요 니까 인가 가요 뭐야 은가 는가 였나 했나 한가 느냐 을까 일까
ja 何で 何が 何を 何と 何年 は何 誰が 誰で は誰 です すか ます どこ いつ だれ なに なぜ どの どん
  はど のか たか たの るか はい のは
zh 什么 什麼 多少 哪里 哪裡 哪个 哪個 哪些 怎么 怎麼 怎样 为什 為什 是谁 是誰 谁是 几个 幾個 何时
  何時 是什 么是 如何
""")
QUESTION_BIGRAMS = _collect_words(_QUESTION_BIGRAMS)
"""The bigrams of question words and endings in scripts without blanks."""
