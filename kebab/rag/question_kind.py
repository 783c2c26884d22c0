"""Recognizes what a question wants, and text that can state a fact of the wanted kind.

A question wants an instruction, a definition or a fact. A number leaves digits or a numeral, a time
a date or a condition, a person a name or a role. Text without this evidence does not answer the
question. A script or a language that does not show the evidence, as German and Japanese do not show
names, has no pattern for the kind: nothing is asked for there. Of the answerable questions of
SQuAD 2, XQuAD and JaQuAD at most .008 have a gold paragraph that is said to lack its fact.
"""

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cache

from kebab.text.language import detect_question_language


class QuestionKind(StrEnum):
    """What a question wants."""

    HOW_TO = "how_to"
    """An instruction, mostly with a command or code."""
    DEFINITION = "definition"
    """What something is."""
    OTHER = "other"


_HOW_TO_BY_LANGUAGE = {
    "en": (
        r"^how (?:do|does|can|could|should|would|to|must|may|might)\b"
        r"|\b(?:commands?|syntax|code|snippet|example|steps?|ways?) (?:to|for|that|of)\b"
        r"|^(?:which|what)(?: \w+)? (?:command|flag|option)s?\b"
    ),
    "de": (
        r"^wie (?:kann|k\u00f6nnen|l\u00e4sst|lassen|soll|muss|geht|\w+e ich|\w+t man|\w+e?n wir)\b"
        r"|\bbefehle? (?:zum|zur|um|f\u00fcr)\b|\bmit welchem befehl\b"
    ),
    "fr": r"^comment\b|\bcommandes? (?:pour|permet)",
    "es": r"^\u00bf?c\u00f3mo\b|\b(?:comandos?|orden) (?:para|que)\b",
    "pt it": r"^com[eo] \w+|\bcomando (?:para|per|que|che)\b",
    "ru": r"^как |(?<!\S)команд[аыу] (?:для|чтобы) ",
    "ko": r"어떻게|방법|하려면|명령어|명령은",
    "zh": r"如何|怎么|怎麼|怎样|怎樣|命令",
    "ja": r"どうやって|どうすれば|どのように|するには|方法|コマンド",
}
_DEFINITION_BY_LANGUAGE = {
    "en": (
        r"^what(?: is|'s|’s| are) [^?]+$|^(?:define|explain) \S+|^what does .+ mean\b"
        r"|^meaning of\b"
    ),
    "de": r"^was (?:ist|sind|bedeutet|bedeuten)\b",
    "fr": r"^qu['’]est[- ]ce qu|^c['’]est quoi\b|^que signifie\b",
    "es": r"^\u00bf?qu\u00e9 (?:es|son|significa)\b",
    "pt it": (
        r"^o que (?:\u00e9|s\u00e3o|significa)\b"
        r"|^(?:che )?cos['’ ]?(?:\u00e8|a \u00e8|a sono|a significa)\b"
    ),
    "ru": r"^что (?:такое|это|значит|означает) ",
    "ko": r"(?:무엇|뭐|뭔)(?:인가|입니까|이야|야|예요|인지|가요)|\S란$|의 (?:뜻|의미|정의)",
    "zh": r"^什[么麼]是|是什[么麼](?:意思)?$",
    "ja": r"とは(?:何|なん|なに)|とは$|って(?:何|なに)",
}


@cache
def _compile_pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _matches(patterns: Iterable[str], text: str) -> bool:
    """Return whether a text matches any of some patterns; those behind a match stay uncompiled."""
    return any(_compile_pattern(pattern).search(text) for pattern in patterns)


def _asks(question: str, patterns: Mapping[str, str]) -> bool:
    """Return whether a question matches the pattern of its language, or of any if it has none."""
    asked = question.strip().rstrip("?？.! ").strip()
    code = detect_question_language(question).code
    own = [pattern for codes, pattern in patterns.items() if code in codes.split()]
    return _matches(own or patterns.values(), asked)


def classify_question(question: str) -> QuestionKind:
    """Return what a question wants."""
    if _asks(question, _HOW_TO_BY_LANGUAGE):
        return QuestionKind.HOW_TO
    is_definition = _asks(question, _DEFINITION_BY_LANGUAGE)
    return QuestionKind.DEFINITION if is_definition else QuestionKind.OTHER


class FactKind(StrEnum):
    """The kind of a fact; the value names it in a message."""

    MONEY = "an amount of money"
    SHARE = "a share"
    TIME = "a time"
    PERSON = "a person or an organisation"
    PLACE = "a place"
    NUMBER = "a number"


_PRICE = r"(?:price|cost|fee|salar(?:y|ie)|budget|rent|deposit|fine|revenue)s?\b"

_QUESTIONS: Mapping[FactKind, Mapping[str, str]] = {
    FactKind.MONEY: {
        "en": (
            rf"\bhow (?:much|high|expensive)\b.*\b(?:{_PRICE}|paid|pay|earn|charged?|money|dollars)"
            rf"|^(?:what|which) (?:is|are|was|were) the (?:\w+ ){{0,2}}{_PRICE}"
            r"|^what (?:do|does|did) .*\bcost$"
        ),
        "de": (
            r"\bkoste(?:n|t|te|ten)\b|^wie (?:teuer\b|hoch (?:ist|sind|war|waren)"
            r" (?:der|die|das|mein\w*) \w*(?:preis|kosten|miete|gebühr|gehalt|kaution|budget))"
        ),
        "fr": (
            r"\bcombien\b.*\bco[uû]t"
            r"|^quel\w* (?:est|sont|était) (?:le|la|les) (?:prix|tarif|salaire|loyer|coût)"
        ),
        "es pt it": (
            r"\b(?:cu[aá]nto|quanto) (?:cuesta|cost|vale|custa)"
            r"|^\W*(?:cu[aá]l|qual|quale) (?:es|era|é|è) (?:el|o|il) (?:pre[cçz]|cost)"
        ),
        "ru": r"сколько стои|^какова? (?:цена|стоимость|зарплата)",
        "ko": r"얼마(?:예요|인가|입니까|야|죠)|(?:가격|비용|요금|월세|보증금)[은이]",
        "zh": r"多少[钱錢]|(?:价格|價格|费用|費用|租金)(?:是|为)多少",
        "ja": r"いくら|(?:価格|料金|値段|費用|家賃)は",
    },
    FactKind.SHARE: {
        "en": r"\b(?:what|which|how many) (?:percent(?:age)?|fraction|proportion)\b",
        "de": r"\bwie ?viel prozent\b|\bwelche[rn]? (?:prozentsatz|anteil)\b",
        "fr": r"\bquel(?:le)? (?:pourcentage|proportion)\b",
        "es pt it": (
            r"\b(?:qu[eé]|qual|quale|che) (?:porcentaje|porcentagem|percentuale|proporci[oó]n)\b"
        ),
        "ru": r"как(?:ой|ая) (?:процент|дол[яю])|сколько процентов",
        "ko": r"몇 ?(?:퍼센트|프로|%)|비율[은이]",
        "zh": r"百分之(?:几|多少)|(?:比例|百分比)是多少",
        "ja": r"何(?:%|％|パーセント|割)",
    },
    FactKind.TIME: {
        "en": (
            r"(?:^|^\w+ |, )(?:since |until )?when (?:did|was|were|is|are|does|do|will|has|had)\b"
            r"|\b(?:what|which) (?:\w+ )?(?:year|date|day|month|century|decade)s?\b"
        ),
        "de": (
            r"^(?:seit |bis |ab )?wann\b"
            r"|\b(?:in|an) welche[mr] (?:jahr|monat|jahrhundert|tag|datum)"
        ),
        "fr": r"^(?:depuis |jusqu'à )?quand\b|\bquel(?:le)? (?:année|date|siècle|jour)\b",
        "es pt it": (
            r"^\W*(?:desde |hasta )?(?:cu[aá]ndo|quando)\b"
            r"|\b(?:qu[eé]|che|quale) (?:año|ano|anno|siglo|s[eé]culo|secolo|fecha|mes)\b"
        ),
        "ru": r"^когда\b|\bв каком (?:году|веке|месяце)\b|\bс какого года\b",
        "ko": r"언제|몇 ?(?:년|월|세기)|며칠",
        "zh": r"什[么麼][时時]候|何[时時]|哪一?年|几(?:年|月|号)|哪[个個]世[纪紀]",
        "ja": r"いつ|何(?:年|月|日|世紀|時)(?!間)",
    },
    FactKind.PERSON: {
        "en": r"^(?:\w+ )?(?:who|whom|whose)\b",
        "fr": r"^(?:à |de |par |pour |avec )?qui\b",
        "es pt it": (r"^\W*(?:[aàád]e? |por |para |di |da )?(?:qui[eé]n(?:es)?|quem|chi)\b"),
        "ru": r"^(?:[а-я]+ )?(?:кто|кому|кем|кого|чей|чья|чьё)\b",
    },
    FactKind.PLACE: {
        "en": r"^where (?:is|are|was|were|did|does)\b.*\b(?:born|located|take place|office)\b",
        "es": r"^\W*dónde (?:nació|está situad|se encuentra|tuvo lugar)",
        "fr": r"^où (?:est né|se trouve|a eu lieu)",
        "ru": r"^где (?:родил|находится|состоял)",
    },
    FactKind.NUMBER: {
        "en": (
            r"\bhow (?:many|old|tall|long|large|big|high|wide|deep|heavy|far|fast|hot)\b"
            r"|\b(?:what|which) (?:is|are|was|were) the (?:[\w-]+ ){0,3}(?:number|limit|size|age"
            r"|height|population|length|speed|temperature|port|amount|rate|distance|weight|m[ai]\w+imum)\b"
            r"|\b(?:what|which) (?:\w+ )?versions?\b"
        ),
        "de": (
            r"\bwie ?(?:viele?n?|hoch|groß|lange?|alt|schwer|weit|oft|schnell|breit|tief)\b"
            r"|\bwelche[rn]? (?:\w+-?)?version"
        ),
        "fr": (
            r"\bcombien\b|^quel(?:le)? (?:est|était) (?:le|la|l['’]) ?"
            r"(?:nombre|limite|taille|population|hauteur|longueur|âge)|\bquelle versions?\b"
        ),
        "es pt it": (
            r"\b(?:cu[aá]nt[oa]s?|quant[oaie]s?)\b"
            r"|\b(?:qu[eé]|qual|quale|che) (?:versi[oó]n|versão|versione)\b"
        ),
        "ru": r"\bсколько\b|как(?:ая|ой|ую) верси",
        "ko": r"몇\s?\S|얼마나 (?:많|오래|큰|높|길|자주)|(?:어떤|무슨|어느) ?버전|버전은",
        "zh": (
            r"多少|几(?:个|次|人|天|名|种|年|岁|位)|多(?:长|大|高|久|远|重|深|快)"
            r"|(?:哪[个個]|什[么麼])版本"
        ),
        "ja": (
            r"いくつ|何(?:人|個|回|年間|歳|キロ|メートル|台|時間|日間|分|か月|本|件|種|名|度|倍|枚|冊)"
            r"|どれくらい|どのくらい|(?:どの|何の?)バージョン|バージョンは"
        ),
    },
}
"""How each language asks for a fact; the first kind that matches is the kind of the question."""

_NUMERALS = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety"
    " hundreds? thousands? [mb]illions? dozens? twice once half double triple single both unlimited"
    " zero pair couple"
    " eine?n? zwei drei vier fünf sechs sieben acht neun zehn elf zwölf hundert tausend keine beide"
    " une? deux trois quatre cinq sept huit neuf dix cent mille aucune?"
    " un[oa] dos tres cuatro cinco seis siete ocho nueve diez cien(?:to)? mil mill[oó]n(?:es)?"
    " ningún ambos due tre quattro otto dieci cento mila dois duas três dez cem"
    " од(?:ин|на) дв[ае] тр(?:и|[её]х) двух четыр\\w+ пять шесть семь восемь девять десять сто"
    " тысяч\\w? миллион\\w* половин\\w+ оба"
)
_NUMBER = (
    r"\d|[一二三四五六七八九十百千万萬两兩½⅓¼¾]"
    rf"|(?<![^\W\d_])(?:{_NUMERALS.replace(' ', '|')})(?![^\W\d_])"
    r"|(?:하나|둘|셋|넷|다섯|여섯|일곱|여덟|아홉|열|한|두|세|네) ?(?:개|명|번|가지|대|곳|권|살|시)"
)
_TIME = (
    r"(?<!\d)(?:1\d|20)\d\d(?!\d)|\d{1,2}:\d\d|\d{1,2}[./-]\d"
    r"|\d{1,2}(?:st|nd|rd|th)?[ ./-](?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|okt|nov|de[cz])"
    r"|\d ?[年月日時时分秒년월일시세분]|世[紀纪]|세기|時代|시대"
)
_TIME_WORD = (
    r"\b(?:(?:jan|febr)uar|march|april|ma[iy]\b|jun[ei]\b|jul[iy]\b|august|septem|octo|okto|novem"
    r"|de[cz]em|mon|tues|wednes|thurs|fri|satur|sun)(?=\w*(?:y|h|l|t|r|i|e|day)\b)"
    r"|\b(?:nightly|daily|o['’]clock|at (?:one|two|three|four|five|six|seven|eight"
    r"|nine|ten|eleven|twelve))\b"
    r"|\b(?:centur|decade|year|month|week|day|hour|minute|second|today|yesterday|tomorrow|midnight"
    r"|noon|immediately|never|always|annual|spring|summer|autumn|winter|wars?\b|b\.?c\b|a\.?d\b)"
    r"|\b(?:jahr|monat|woche|tag|stunde|sekunde|uhr\b|année|mois|semaine|jour|heure|siècle|ans?\b)"
    r"|\b(?:año|mes|semana|día|hora|siglo|anno|secolo|giorno|século|ano\b"
    r"|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre)"
    r"|\b(?:год|век|месяц|недел|день|дня|час|минут|январ|феврал|март|апрел|ма[йя]\b|июн|июл"
    r"|сентябр|октябр|ноябр|декабр)"
)
_CONDITION = (
    r"\b(?:when|whenever|after|before|if|once|until|unless|while|during|upon|every|wenn|sobald"
    r"|nachdem|bevor|während|nach|vor|quand|après|avant|si|cuando|después|antes|durante|mientras"
    r"|когда|после|до|если|пока)\b"
)
_CAPITAL = "A-ZÀ-ÞА-ЯЁ"
_NAME = (
    rf"(?:(?<=[^\W_] )|(?<=[,;:] ))[\"'“(]?(?-i:[{_CAPITAL}])\w"
    rf"|(?:^|[\s(\"“])(?-i:[{_CAPITAL}])[\w’'.-]* (?:of |de |von |van |the |la |del )?"
    rf"(?-i:[{_CAPITAL}])\w|\b(?-i:[A-Z]{{2,}})\b|@\w"
)
_ROLE = (
    r"(?<![^\W\d_])(?:(?:user|admin|administrator|owner|member|person|team|group|government|king"
    r"|queen|president|student|scientist|official|citizen|parent|employee|employer|committee|council"
    r"|union|nation|individual|institution|parliament|priest|monk|patient|author|developer|operator"
    r"|manager|minister|leader|teacher|reviewer|maintainer|contributor|soldier|settler|founder"
    r"|player|writer|engineer|lawyer|officer|ruler|emperor|governor|professor|doctor|director|actor"
    r"|inventor|senator|ancestor|worker|builder|designer|speaker|believer|follower|farmer|merchant"
    r"|client|customer|coloni[sz]er|organi[sz]ation|persona|usuario|hombre|gobierno|empresa|grupo"
    r"|abogado|propietario|utilisateur|personne|gouvernement|\w{3,}(?:ist|ian))s?"
    r"|m[ae]n|wom[ae]n|people|child(?:ren)?|compan(?:y|ies)|communit(?:y|ies)|part(?:y|ies)"
    r"|arm(?:y|ies)|agenc(?:y|ies)|(?:any|every|some)(?:one|body)|nobody|gente|mujer(?:es)?|rey|roi"
    r"|s?he|they|him|her|we|you|us|(?:человек|люд|корол|правительств|пользовател|групп|команд|владел"
    r"|клиент|заказчик)\w*)(?![^\W\d_])"
)
_MONEY = (
    r"[$€£¥₩₽円元]|\b(?:USD|EUR|GBP|KRW|dollars?|cents?|euros?|pounds?|yen|won|rubles?|francs?"
    r"|free of charge|for free|kostenlos|gratis|gratuit|dólares|pesos)\b|рубл|долл|евро"
    r"|\d ?(?:원|만원|%|percent|million|billion)|무료|無料|免费|免費"
)
_SHARE = (
    r"[%％½⅓¼¾]|per ?cent|prozent|pour ?cent|por ?ciento|процент|퍼센트|パーセント|\d割"
    r"|分の|百分之"
    r"|\b(?:half|third|quarter|fifth|tenth|majority|most|all|none|hälfte|drittel|viertel|mitad"
    r"|tercio|cuarto|moitié|tiers|metà|metade)|половин|треть|четверт|절반|半"
)
_EVIDENCE: Mapping[FactKind, tuple[str, ...]] = {
    FactKind.MONEY: (_MONEY,),
    FactKind.SHARE: (_SHARE,),
    FactKind.TIME: (_TIME, _TIME_WORD),
    FactKind.PERSON: (_NAME, _ROLE),
    FactKind.PLACE: (_NAME,),
    FactKind.NUMBER: (_NUMBER,),
}
_PAST = r"\b(?:was|were|did|had|wurden?|hat|hatten?)\b"
_SHOWS_NO_NAMES = r"[\u3040-ヿ\u4e00-\u9fff가-힣]"
"""Characters of scripts without capitals."""


def find_fact_kind(question: str) -> FactKind | None:
    """Return the kind of fact that a question asks for, None when it asks for something else."""
    return next((kind for kind, patterns in _QUESTIONS.items() if _asks(question, patterns)), None)


def lacks_fact(kind: FactKind, question: str, text: str) -> bool:
    """Return whether a text has no evidence of a fact of this kind.

    A question in the present for a time is also answered by a condition: `when`, `after`. The names
    of the question are no answer to it.
    """
    if kind in {FactKind.PERSON, FactKind.PLACE}:
        if _matches([_SHOWS_NO_NAMES], text):
            return False
        names = "|".join(map(re.escape, re.findall(rf"(?<=\s)[{_CAPITAL}]\w+", question)))
        text = re.sub(rf"\b(?:{names})\b", "it", text) if names else text
    if _matches(_EVIDENCE[kind], text):
        return False
    in_present = kind is FactKind.TIME and not _matches([_PAST], question)
    return not (in_present and _matches([_CONDITION], text))
