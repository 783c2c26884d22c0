"""Splits sentences into clauses, and finds contradictions between a claim and its evidence.

A clause denies or affirms its predicate. Two clauses contradict each other when one denies what the
other affirms, under the same condition, and nothing in the passage agrees with the claim. What a
clause under `only` says of others is not known. A false accusation is worse than a miss.

In European languages, clauses end at punctuation and at conjunctions. One with `if`, `unless` or
`without` is a condition of the others. A negation denies the next content word. Two negations
cancel each other, and a word such as `refuse` is `not accept`. `Not only`, `not more than` and
`not until` deny nothing.

The end of a Korean or Japanese clause, and the adverb of a Chinese one, say whether it is so, can
be so, or has to be so. A condition or a circumstance is a condition of the other clauses of its
sentence. What is so only of something is left out. The terms are the beginnings of Korean words,
Han characters, and words in other scripts.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from enum import Enum
from functools import lru_cache

from msgspec import Struct, field

from kebab.rag.checking.terms import is_content_word
from kebab.text.normalize import split_names
from kebab.text.tokenizer import tokenize


class Mode(Enum):
    """What a clause says of its predicate: that it is so, that it can be so, or that it has to."""

    PLAIN = "plain"
    CAN = "can"
    NEED = "need"


_NONE: frozenset[str] = frozenset()
_MIN_COVERED = 0.6
"""The least share of a claim's terms that the passage's clause contains when it denies."""

_MIN_AFFIRMED = 0.75
"""The same for a claim that affirms: what the passage denies may be about something else."""

_MIN_CONDITION = 0.5
"""The least share of the terms of two conditions that are in both."""

_FEW = 2


class Clause(Struct, frozen=True, kw_only=True):
    """A clause with its content terms.

    `denied` are the terms that its negations deny, `scope` all terms behind the first of them,
    `context` the terms of its sentence, `predicate` its last term in languages that have it last.
    The subject of a `pronominal` clause is a pronoun. `word` is the negation as the text words it.
    """

    terms: frozenset[str]
    is_denied: bool = False
    mode: Mode = Mode.PLAIN
    denied: frozenset[str] = _NONE
    scope: frozenset[str] = _NONE
    condition: frozenset[str] = _NONE
    context: frozenset[str] = _NONE
    predicate: frozenset[str] = _NONE
    is_pronominal: bool = False
    word: str = ""


def find_contradiction(
    claimed: Sequence[Clause], stated: Sequence[Clause], tokens: Collection[str] = ()
) -> str | None:
    """Return the word that a passage denies and a claim affirms, or the reverse, if any.

    `tokens` are the terms of the whole passage, for sentences about a pronoun.
    """
    for claim in claimed:
        against = [other for other in stated if _contradicts(claim, other, tokens)]
        if against and not any(_agrees(claim, other) for other in stated):
            return claim.word or against[0].word
    return None


def _contradicts(claim: Clause, other: Clause, tokens: Collection[str]) -> bool:
    if claim.is_denied == other.is_denied or claim.predicate != other.predicate:
        return False
    denying, affirming = (claim, other) if claim.is_denied else (other, claim)
    # `cannot` also denies that it is so.
    denies_fact = denying.mode is Mode.CAN and affirming.mode is Mode.PLAIN
    if denying.mode is not affirming.mode and not denies_fact:
        return False
    if not denying.denied or not denying.denied <= affirming.terms:
        return False
    one, two = claim.condition, other.condition
    same_condition = one == two or len(one & two) >= _MIN_CONDITION * len(one | two)
    return same_condition and _is_covered(claim, other, tokens)


def _is_covered(claim: Clause, other: Clause, tokens: Collection[str]) -> bool:
    """Return whether a clause of the passage is about what the claim says."""
    if not claim.scope <= other.terms:
        return False
    least = _MIN_COVERED if claim.is_denied else _MIN_AFFIRMED
    shared = claim.terms & other.terms
    if len(shared) >= _FEW:
        return len(shared) >= least * len(claim.terms)
    if other.is_pronominal or claim.is_pronominal:
        return _compute_share(claim.terms, frozenset(tokens) | other.terms) >= least
    is_short = min(len(claim.terms), len(other.terms)) == 1 < len(claim.context)
    alike = is_short and _compute_share(claim.context, other.context) >= _MIN_AFFIRMED
    return alike or claim.terms == other.terms == claim.context


def _agrees(claim: Clause, other: Clause) -> bool:
    """Return whether a clause of the passage says the same of the same words."""
    if claim.is_denied != other.is_denied:
        return False
    if claim.is_denied:
        return bool(claim.denied & other.denied)
    return _compute_share(claim.terms, other.terms) >= _MIN_AFFIRMED


def _compute_share(terms: frozenset[str], others: frozenset[str]) -> float:
    return len(terms & others) / len(terms) if terms else 1.0


_NEGATIONS = split_names(
    "not no never cannot none neither nor nobody nothing nowhere nicht kein keine keinen keinem"
    " keiner nie niemals niemand nichts pas jamais aucun aucune nunca sin ningún ninguna nadie non"
    " mai не"
)
_OBJECTS = split_names("nobody none nothing nowhere nichts niemand nadie")
"""As an object, they deny the verb before them."""

_FAILURES = split_names("fail fails failed refuse refuses refused unable impossible")
"""With `to` after them, they deny the verb."""

_BOUNDARIES = split_names(
    "but and or nor because so whereas which who although though while before after where however"
    " then therefore aber und oder sondern denn weil da obwohl dass mais et ou car donc pero sino y"
    " o porque e ma"
)
_CONDITIONS = split_names(
    "if unless until when whenever once whether without except instead"
    " wenn falls ohne bis sobald solange ob außer si sans lorsque quand jusqu sauf"
    " cuando hasta salvo sin senza quando finché"
)
_WESTERN_ONLY = split_names(
    "only just merely simply least necessarily nur bloß seulement solo sólo solamente soltanto"
)
_BOUNDS = split_names("more less fewer later longer further mehr weniger plus moins más menos")
_NEEDS = split_names(
    "need needs needed must required require requires necessary have has should mandatory"
    " obligatory muss müssen erforderlich nötig notwendig braucht nécessaire doit necesario debe"
)
_CANS = split_names(
    "can could may might able possible allowed permitted kann können darf möglich peut possible"
    " puede posible"
)
_PROHIBITING = split_names("must should may soll darf")
_OPPOSITES = {
    **dict.fromkeys(("refuse", "refuses", "refused", "reject", "rejects", "rejected"), "accept"),
    **dict.fromkeys(("forbid", "forbids", "forbidden", "prohibited", "denied"), "allow"),
    **dict.fromkeys(("disable", "disables", "disabled"), "enable"),
    **dict.fromkeys(("optional", "unnecessary"), "required"),
    **dict.fromkeys(("fail", "fails", "failed"), "pass"),
    **dict.fromkeys(("unencrypted",), "encrypted"),
    **dict.fromkeys(("unsupported", "dropped"), "supported"),
    **dict.fromkeys(("unavailable",), "available"),
    **dict.fromkeys(("unlimited",), "limit"),
}
_PRONOUNS = split_names("it they he she this these that those er sie es il elle ils elles")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)?|[,.;:!?()\"—]")
_PREPOSITIONS = split_names(
    "by in on at for with from since as under auf bei für seit von en por dans"
)
_MAX_ADVERBIAL = 4
_MAX_DISTANCE = 5
"""The most words between a negation and the word that it denies, that word included."""


class _Draft(Struct):
    """The words of a clause; a condition is none of its own."""

    words: list[str] = field(default_factory=list)
    is_condition: bool = False


def split_western(sentence: str) -> list[Clause]:
    """Return the clauses of a sentence that say something without `only`."""
    drafts = [draft for draft in _cut(sentence) if draft.words]
    context = _list_stems([word for draft in drafts for word in draft.words])
    condition = _list_stems(
        [word for draft in drafts if draft.is_condition for word in draft.words]
    )
    plain = [draft.words for draft in drafts if not draft.is_condition]
    found = (_read_western(words, context, condition) for words in plain)
    return [clause for clause in found if clause is not None]


def _cut(sentence: str) -> Iterator[_Draft]:
    """Yield the words between punctuation and conjunctions."""
    draft = _Draft()
    for found in _WORD.finditer(sentence):
        word = found[0].replace("’", "'")
        lower = word.lower()
        is_short = 0 < len(draft.words) <= _MAX_ADVERBIAL and not draft.is_condition
        if word == "," and is_short and draft.words[0].lower() in _PREPOSITIONS:
            # A short beginning belongs to what follows, as in `By default, it runs`.
            continue
        if not word[0].isalnum() or lower in _BOUNDARIES or lower in _CONDITIONS:
            yield draft
            draft = _Draft(is_condition=lower in _CONDITIONS)
            if lower == "nor":
                draft.words.append(word)
        else:
            draft.words.append(word)
    yield draft


def _read_western(
    words: Sequence[str], context: frozenset[str], condition: frozenset[str]
) -> Clause | None:
    """Return the clause of some words; none when it is about what is so only of them."""
    lower = [word.lower() for word in words]
    cues = [index for index in range(len(words)) if _is_negation(lower, index)]
    if not _WESTERN_ONLY.isdisjoint(lower) or not _list_stems(words):
        return None
    denied: dict[str, str] = {}
    for index in cues:
        if index == 0 or lower[index] not in _OBJECTS:
            # A negation denies the next content word.
            after = words[index + 1 : index + 1 + _MAX_DISTANCE]
            target = next((word for word in after if _list_stems([word])), "")
            denied |= dict.fromkeys(_list_stems([target]), target)
    opposites = [
        word
        for word in lower
        if word in _OPPOSITES
        and not (word in _FAILURES and lower[lower.index(word) + 1 :][:1] == ["to"])
    ]
    for word in opposites:
        term = _stem(word)
        denied.pop(term, None) if term in denied else denied.setdefault(term, word)
    first = min(cues, default=len(words))
    is_denied = (len(cues) + len(opposites)) % 2 == 1
    mode = _find_mode(lower, cues)
    if not denied and mode is Mode.NEED:
        subject = next(word for word in words if _list_stems([word]))
        denied = dict.fromkeys(_list_stems([subject]), subject)
    return Clause(
        terms=_list_stems(words),
        is_denied=is_denied,
        mode=mode,
        denied=frozenset(denied) if is_denied else frozenset(),
        scope=_list_stems(words[first:]) if is_denied else frozenset(),
        condition=condition,
        context=context,
        is_pronominal=lower[0] in _PRONOUNS,
        word=next(iter(denied.values()), ""),
    )


def _is_negation(words: Sequence[str], index: int) -> bool:
    """Return whether a word is a negation that denies something of its clause."""
    word, after = words[index], words[index + 1 : index + 2]
    if word in _FAILURES:
        return after == ["to"]
    if word not in _NEGATIONS and not word.endswith("n't"):
        return False
    rest = words[index + 1 :]
    if word == "no" and after == ["longer"]:
        return True
    return bool(rest) and rest[0] not in _WESTERN_ONLY and _BOUNDS.isdisjoint(rest)


def _find_mode(words: Sequence[str], cues: Sequence[int]) -> Mode:
    if any(words[index - 1] in _PROHIBITING for index in cues if index):
        return Mode.CAN
    if not _NEEDS.isdisjoint(words) and ({"have", "has"}.isdisjoint(words) or "to" in words):
        return Mode.NEED
    if "required" in map(_OPPOSITES.get, words):
        return Mode.NEED
    return Mode.PLAIN if _CANS.isdisjoint(words) and "cannot" not in words else Mode.CAN


def _list_stems(words: Sequence[str]) -> frozenset[str]:
    return frozenset(term for word in words if (term := _stem(word.lower())))


@lru_cache(maxsize=4096)
def _stem(word: str) -> str:
    """Return the index term of a content word, of its opposite if it is a negative one."""
    known = _OPPOSITES.get(word)
    if known is None:
        is_grammar = word in _NEGATIONS or word in _NEEDS or word in _CANS or word == "longer"
        if is_grammar or word in _FAILURES or word.endswith("n't") or not is_content_word(word):
            return ""
    tokens = tokenize(known or word)
    return tokens[0] if tokens else ""


_HANGUL = re.compile("[가-힣]")
_KANA = re.compile("[ぁ-ヿ]")


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
    "不[仅僅但只光同过過断斷少久论論管如错錯]|不一定|差不多|而不是[^，。]*|(?<=[知])不道"
)
_STOPS = re.compile("[，,。；;！!？?、：:()（）\n]")
_JOINED = re.compile(
    "(?<!화)(?<!측)(?<!반)(?<!표)(?<!장)면$|(?:지만|으며|하며|되며|하고|되고|이고|않고|면서|므로"
    "|니까|는데|은데|[아어여해돼]도|라도|아서|어서|해서|없이[도는]?|아니라|않는|대신)$"
)
_CONDITION = re.compile("(?:면|[아어여해돼]도|라도|없이[도는]?|않고|아니라|않는|때|때는|대신)$")
_GOES_ON = re.compile("[되됩돼된괜안좋]|아니라")
_EASTERN_ONLY = {
    "ko": re.compile("[가-힣](?<!지)만(?:[이은을]|$| )|에서만|뿐"),
    "zh": re.compile("[只仅僅才]"),
}
_EASTERN_ONLY["ja"] = re.compile("だけ|のみ|しか")
_CHINESE_CONDITION = re.compile("^(?:如果|若|假如|除非|当|當|只要|即使|一旦|要是)")
_LACKING = re.compile("^[没沒]有(?P<what>[^，。]{1,8}?)(?:[也就都则則便]|的(?=..))")
_JAPANESE_CONDITION = re.compile("(?:ば|なら|たら|ても|ずに|ないと|場合[はに]?|とき[はに]?)$")
_KOREAN_WORD = re.compile("[가-힣]+|[A-Za-z0-9][\\w.-]*")
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
_HAN = re.compile("[\u3400-\u9fff]+|[ァ-\u30faー]{2,}|[A-Za-z0-9][\\w.-]*")
_HAN_GRAMMAR = frozenset(
    "的了会會将將在是和与與也就才都被把于於以该該此这這那其个個有能可要而且或但并仍已经經必须須需要不没沒未无無"
)


class _Part(Struct, frozen=True):
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
    conditions = [
        term for one in parts if one.is_condition for term in _list_eastern_terms(one.text)
    ]
    plain = [one.text for one in parts if not one.is_condition]
    context = frozenset(_list_eastern_terms(sentence))
    found = (_read_eastern(text, language, frozenset(conditions), context) for text in plain)
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


def _read_eastern(
    text: str, language: str, condition: frozenset[str], context: frozenset[str]
) -> Clause | None:
    """Return the clause of a text; none without terms, or when it is about what is only so."""
    terms = _list_eastern_terms(text)
    if not terms or _EASTERN_ONLY[language].search(text):
        return None
    rules = {"ko": _KOREAN, "zh": _CHINESE, "ja": _JAPANESE}[language]
    hits = ((pattern.search(text), denies, mode) for pattern, denies, mode in rules)
    cue, denies, mode = next((hit for hit in hits if hit[0]), (None, False, Mode.PLAIN))
    after = text[cue.end() :] if cue and language == "zh" else ""
    predicate = frozenset(_list_eastern_terms(after)[:2] if language == "zh" else terms[-1:])
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


def _list_eastern_terms(text: str) -> list[str]:
    if not _HANGUL.search(text):
        runs = _HAN.findall(text)
        parts = (part for run in runs for part in (run if "㐀" <= run[0] <= "鿿" else [run]))
        return [part.lower() for part in parts if part not in _HAN_GRAMMAR and not part.isdigit()]
    words = (_ENDING.sub("", word) for word in _KOREAN_WORD.findall(text))
    stems = (word if word.isascii() else word[:1] + word[1:2].translate(_VERB) for word in words)
    return [stem.lower() for stem in stems if not (stem in _KOREAN_GRAMMAR or stem.isdigit())]


_DENSE = re.compile("[ぁ-ヿ\u3400-\u9fff가-힣]")


_MAY_DENY = re.compile(
    r"\b(?:no|not|never|cannot|none|neither|nor|nobody|nothing|nowhere|fail|refus|reject|forbid|prohib"
    r"|deni|disabl|option|un|im|drop|nicht|kein|nie|pas|jamais|aucun|nunca|sin|ning|nadie|non|mai|не)"
    r"|n['’]t\b|[없않못안마말]|아[니닙]|불가|금지|선택|[不没沒无無未非禁选選]|ない|な[くか]|ませ|ず",
    re.IGNORECASE,
)


def may_deny(sentence: str) -> bool:
    """Return whether a sentence may deny something, without splitting it."""
    return _MAY_DENY.search(sentence) is not None


def split_clauses(sentences: Iterable[str]) -> tuple[Clause, ...]:
    """Return the clauses of normalized sentences in order."""
    return tuple(
        clause
        for sentence in sentences
        for clause in (split_eastern if _DENSE.search(sentence) else split_western)(sentence)
    )
