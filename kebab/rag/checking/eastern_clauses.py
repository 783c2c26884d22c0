"""Splits Korean, Chinese and Japanese sentences into clauses, each with what it denies.

The end of a Korean or Japanese clause, and the adverb of a Chinese one, say whether it is so, can
be so, or has to be so. A condition or a circumstance (`if`, `without`) is a condition of the other
clauses of its sentence. What is so only of something is left out. The terms are the beginnings of
Korean words, Han characters, and words in other scripts.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from kebab.rag.checking.clauses import Clause, Mode

_HANGUL = re.compile("[\uac00-\ud7a3]")
_KANA = re.compile("[\u3041-\u30ff]")


def _compile(*rules: tuple[str, bool, Mode]) -> list[tuple[re.Pattern[str], bool, Mode]]:
    return [(re.compile(pattern), denies, mode) for pattern, denies, mode in rules]


_KOREAN = _compile(
    (r"지 ?않(?:아도|으셔도|더라도) ?[되됩돼된괜]|필요[가는도]? ?없|필요하지 ?않", True, Mode.NEED),
    (
        r"필수(?:적이|[가는])?(?:지)? ?(?:아[니닙]|않)|안 ?해도 ?[되됩돼]|선택 ?사항",
        True,
        Mode.NEED,
    ),
    (r"수[가는도]? ?없|불가능|면 ?안 ?[되됩돼된]|지 ?못|못 ?[하합할한했]", True, Mode.CAN),
    (r"지 ?(?:마|말)|금지", True, Mode.CAN),
    (
        r"지[는도]? ?않|지 ?아니|(?:^| )안 [가-힣]|아니[다며고]|아닙|없(?:다|습|었|으며|고)",
        True,
        Mode.PLAIN,
    ),
    (r"야 ?(?:[하한합]|만 ?[하한합]|[되됩된])|필요[하합한]|필요가 있|필수", False, Mode.NEED),
    (r"수[가도]? ?있|도 ?[되됩돼된]|가능", False, Mode.CAN),
)
_CHINESE = _compile(
    (r"不能不|不得不|不可不", False, Mode.NEED),
    (r"无需|無需|无须|不必|不需要|不用|不是必[需须須](?:的)?|非必需|可选", True, Mode.NEED),
    (r"不能够?|无法|無法|不可以|不可|不得|不允许|不许|禁止|未能", True, Mode.CAN),
    (r"必须|必須|务必|一定要|需要|必需", False, Mode.NEED),
    (r"不会|不會|没有|沒有|并非|並非|并不|不是|不再|不|没|未", True, Mode.PLAIN),
    (r"可以|能够|(?<![功性智])能(?![力源量耗])|允许", False, Mode.CAN),
)
_JAPANESE = _compile(
    (
        r"必要[はが]?(?:ありません|な[いくか])|なくても(?:かま|構|よ|い|大丈夫)|不要",
        True,
        Mode.NEED,
    ),
    (
        r"できま?せん|できな|できず|られま?せん|ことはでき(?:ません|ない)|不可能|禁止",
        True,
        Mode.CAN,
    ),
    (r"必要[がはで]|なければ(?:なら|いけ)|必須", False, Mode.NEED),
    (r"ません|ない(?:$|[でとた])|なかった|ず(?:$|に)|ではあり", True, Mode.PLAIN),
    (r"でき[まるた]|可能", False, Mode.CAN),
)
_NEUTRAL = re.compile(
    "不[仅僅但只光同过過断斷少久论論管如错錯]|不一定|差不多|而不是[^\uff0c\u3002]*|(?<=[知])不道"
)
_STOPS = re.compile("[\uff0c,\u3002\uff1b;\uff01!\uff1f?\u3001\uff1a:()\uff08\uff09\n]")
_JOINED = re.compile(
    "(?<!화)(?<!측)(?<!반)(?<!표)(?<!장)면$|(?:지만|으며|하며|되며|하고|되고|이고|않고|면서|므로"
    "|니까|는데|은데|[아어여해돼]도|라도|아서|어서|해서|없이[도는]?|아니라|않는|대신)$"
)
_CONDITION = re.compile("(?:면|[아어여해돼]도|라도|없이[도는]?|않고|아니라|않는|때|때는|대신)$")
_GOES_ON = re.compile("[되됩돼된괜안좋]|아니라")
_ONLY = {
    "ko": re.compile("[가-힣](?<!지)만(?:[이은을]|$| )|에서만|뿐"),
    "zh": re.compile("[只仅僅才]"),
}
_ONLY["ja"] = re.compile("だけ|のみ|しか")
_CHINESE_CONDITION = re.compile("^(?:如果|若|假如|除非|当|當|只要|即使|一旦|要是)")
_LACKING = re.compile("^[没沒]有(?P<what>[^\uff0c\u3002]{1,8}?)(?:[也就都则則便]|的(?=..))")
_JAPANESE_CONDITION = re.compile("(?:ば|なら|たら|ても|ずに|ないと|場合[はに]?|とき[はに]?)$")
_KOREAN_WORD = re.compile("[\uac00-\ud7a3]+|[A-Za-z0-9][\\w.-]*")
_ENDING = re.compile(
    "(?<=[가-힣])(?:은|는|이|가|을|를|에|의|도|와|과|로|만|에서|에서는|에는|에도|으로|까지|부터|지|지는)$"
)
_KOREAN_STOPS = (
    "있습 있다 있는 없 없습 없다 없는 없이 없으 없어 않습 않는 않다 않고 않으 않아 않았"
    " 필요 필수 됩니 되어 되며 합니 하는 한다 된다 위해 아니 아닙 아닌 못하 불가 가능"
    " 해야 하며 마십 마세 마시 말아 말고 하야 되야 수 것 때 안 못 한 더 곳 등 이 그 및"
    " 후 중 된 할 될 하 되 또 야 또는 이미 항상 아직 경우 있을 있어 선택 사항 뿐만 괜찮"
)
_KOREAN_GRAMMAR = frozenset(_KOREAN_STOPS.split())
_VERB = str.maketrans("했합한할해됩된될돼됐", "하하하하하되되되되되")
_HAN = re.compile("[\u3400-\u9fff]+|[\u30a1-\u30fa\u30fc]{2,}|[A-Za-z0-9][\\w.-]*")
_HAN_GRAMMAR = frozenset(
    "的了会會将將在是和与與也就才都被把于於以该該此这這那其个個有能可要而且或但并仍已经經必须須需要不没沒未无無"
)


@dataclass(frozen=True, slots=True)
class _Part:
    """A clause as text, or a condition."""

    text: str
    is_condition: bool


def split_eastern(sentence: str) -> list[Clause]:
    """Return the clauses of a sentence that say something without `only`."""
    if _HANGUL.search(sentence):
        language, parts = "ko", list(_cut_korean(sentence))
    elif _KANA.search(sentence):
        language, parts = "ja", list(_cut_japanese(sentence))
    else:
        language, parts = "zh", list(_cut_chinese(sentence))
    conditions = [term for one in parts if one.is_condition for term in _list_terms(one.text)]
    plain = [one.text for one in parts if not one.is_condition]
    context = frozenset(_list_terms(sentence))
    found = (_read(text, language, frozenset(conditions), context) for text in plain)
    return [clause for clause in found if clause is not None]


def _cut_korean(sentence: str) -> Iterator[_Part]:
    for piece in _STOPS.split(sentence.replace(".", ". ").replace(". ", "\n")):
        words = piece.split()
        start = 0
        for index, word in enumerate(words):
            after = words[index + 1] if index + 1 < len(words) else ""
            if after and _JOINED.search(word) and not _GOES_ON.match(after):
                yield _Part(" ".join(words[start : index + 1]), bool(_CONDITION.search(word)))
                start = index + 1
        rest = words[start:]
        yield _Part(" ".join(rest), bool(rest) and bool(_CONDITION.search(rest[-1])))


def _cut_chinese(sentence: str) -> Iterator[_Part]:
    for piece in _STOPS.split(_NEUTRAL.sub("", sentence)):
        lacking = _LACKING.match(piece)
        if lacking:
            yield _Part(lacking["what"], is_condition=True)
        rest = piece[lacking.end() :] if lacking else piece
        yield _Part(rest, bool(_CHINESE_CONDITION.match(piece)))


def _cut_japanese(sentence: str) -> Iterator[_Part]:
    for piece in _STOPS.split(sentence):
        yield _Part(piece, bool(_JAPANESE_CONDITION.search(piece)))


def _read(
    text: str, language: str, condition: frozenset[str], context: frozenset[str]
) -> Clause | None:
    """Return the clause of a text; none without terms, or when it is about what is only so."""
    terms = _list_terms(text)
    if not terms or _ONLY[language].search(text):
        return None
    rules = {"ko": _KOREAN, "zh": _CHINESE, "ja": _JAPANESE}[language]
    hits = ((pattern.search(text), denies, mode) for pattern, denies, mode in rules)
    cue, denies, mode = next((hit for hit in hits if hit[0]), (None, False, Mode.PLAIN))
    after = text[cue.end() :] if cue and language == "zh" else ""
    predicate = frozenset(_list_terms(after)[:2] if language == "zh" else terms[-1:])
    return Clause(
        terms=frozenset(terms),
        is_denied=denies,
        mode=mode,
        denied=(predicate or frozenset(terms)) if denies else frozenset(),
        scope=predicate,
        condition=condition,
        context=context,
        predicate=predicate if language != "zh" else frozenset(),
        word=cue[0].strip() if cue and denies else "",
    )


def _list_terms(text: str) -> list[str]:
    """Return the content terms of a text in order."""
    if not _HANGUL.search(text):
        runs = _HAN.findall(text)
        parts = (
            part for run in runs for part in (run if "\u3400" <= run[0] <= "\u9fff" else [run])
        )
        return [part.lower() for part in parts if part not in _HAN_GRAMMAR and not part.isdigit()]
    words = (_ENDING.sub("", word) for word in _KOREAN_WORD.findall(text))
    stems = (word if word.isascii() else word[:1] + word[1:2].translate(_VERB) for word in words)
    return [stem.lower() for stem in stems if not _is_korean_grammar(stem)]


def _is_korean_grammar(stem: str) -> bool:
    return stem in _KOREAN_GRAMMAR or stem.isdigit()
