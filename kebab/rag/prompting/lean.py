"""Whether a question leans on what was said before: by its first words, its pronouns, its length.

A wrong yes adds a few words to a search; a wrong no searches for `it`.
"""

import re

# ruff: noqa: RUF001 - letters of other scripts are meant

_FIRST_WORDS = (
    "and or but then so also otherwise instead und aber oder dann auch sonst et mais ou alors sinon"
    " y pero entonces ma allora invece mas então maar dan а и но тогда och men så og ale ve peki"
    " còn و ولكن"
)
_FIRST_PHRASES = (
    "what about",
    "how about",
    "what else",
    "who else",
    "why not",
    "tell me more",
    "was ist mit",
    "wie ist es mit",
    "wie sieht es mit",
    "et pour",
    "qué hay de",
    "e per",
    "e quanto",
    "hoe zit het met",
    "а как",
)
_PRONOUNS = (
    "it its they them their he him his she her this that these those former latter same else"
    " ihn ihm ihnen dessen deren dies dieser diese dieses diesem diesen davon dafür dazu damit"
    " daran dabei dort dorthin"
    " elle elles ils lui leur leurs cela ça celui celle ceux celles"
    " él ella ellos ellas eso esto ese esa esos esas su sus ahí allí"
    " lei loro esso essa ciò quello quella questo questa"
    " ele ela eles elas isso isto esse essa disso dele dela"
    " hij hem hun dit deze ervan daarvan"
    " он она оно они его её ее их ему ей это этот эта эти этого там тот та"
    " він вона воно вони його її їх це цей ця там"
)
_EASTERN = re.compile(
    r"^(?:그럼|그러면|그리고|그런데|근데|또는|그래서|더 )"
    r"|(?:^|\s)(?:그건|그게|그거|그것|그때|그곳|거기|그중|그녀|그들|그는|그가|그의|이건|이게|이거|이것"
    r"|저건|저것|여기|그|이)(?:까지|에서|부터|으로|로|처럼|보다|만|들|은|는|이|가|을|를|에|의|도|와|과)?"
    r"(?=\W|$)"
    r"|^(?:では|じゃあ|じゃ|それで|ちなみに|他に|ほかに|もっと|なぜですか)"
    r"|それ|その|そこ|そちら|あれは|あの|これ|この|ここ|彼"
    r"|^(?:那(?![覇須珂])|还有|另外|還有)|[它她這这]|(?<![其吉])他|那个|那些|那裡|那里"
)
_DENSE = re.compile("[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3]")

_FEW_WORDS = 2
_SENTENCE = 10
"""Words of a question whose pronouns point out of it; in a longer one they may point inside."""
_FEW_SIGNS = 5
_SENTENCE_SIGNS = 40

_OPENERS = frozenset(_FIRST_WORDS.split())
_POINTERS = frozenset(_PRONOUNS.split())
_WORD = re.compile(r"[^\W\d_]+|\d+")


def leans(question: str) -> bool:
    """Return whether a question can hardly be understood by itself."""
    plain = " ".join(question.split())
    if _DENSE.search(plain):
        signs = len(re.sub(r"\W", "", plain))
        pointing = signs <= _SENTENCE_SIGNS and _EASTERN.search(plain) is not None
        return signs <= _FEW_SIGNS or pointing
    words = _WORD.findall(plain.lower())
    if len(words) <= _FEW_WORDS:
        return True
    return (
        words[0] in _OPENERS
        or " ".join(words).startswith(_FIRST_PHRASES)
        or (len(words) <= _SENTENCE and not _POINTERS.isdisjoint(words))
    )
