"""Recognizes questions that want an instruction, and those that want a definition."""

import re
from enum import StrEnum


class QuestionKind(StrEnum):
    """What a question wants."""

    HOW_TO = "how_to"
    """An instruction, mostly with a command or code."""
    DEFINITION = "definition"
    """What something is."""
    OTHER = "other"


_HOW_TO_BY_LANGUAGE = {
    "English": (
        r"^how (?:do|does|can|could|should|would|to|must|may|might)\b"
        r"|\b(?:commands?|syntax|code|snippet|example|steps?|ways?) (?:to|for|that|of)\b"
        r"|^(?:which|what)(?: \w+)? (?:command|flag|option)s?\b"
    ),
    "German": (
        r"^wie (?:kann|k\u00f6nnen|l\u00e4sst|lassen|soll|muss|geht|\w+e ich|\w+t man|\w+e?n wir)\b"
        r"|\bbefehle? (?:zum|zur|um|f\u00fcr)\b|\bmit welchem befehl\b"
    ),
    "French": r"^comment\b|\bcommandes? (?:pour|permet)",
    "Spanish": r"^\u00bf?c\u00f3mo\b|\b(?:comandos?|orden) (?:para|que)\b",
    "Portuguese, Italian": r"^com[eo] \w+|\bcomando (?:para|per|que|che)\b",
    "Russian": r"^как |(?<!\S)команд[аыу] (?:для|чтобы) ",
    "Korean": r"어떻게|방법|하려면|명령어|명령은",
    "Chinese": r"如何|怎么|怎麼|怎样|怎樣|命令",
    "Japanese": r"どうやって|どうすれば|どのように|するには|方法|コマンド",
}
_DEFINITION_BY_LANGUAGE = {
    "English": (
        r"^what(?: is|'s|\u2019s| are) [^?]+$|^(?:define|explain) \S+|^what does .+ mean\b"
        r"|^meaning of\b"
    ),
    "German": r"^was (?:ist|sind|bedeutet|bedeuten)\b",
    "French": r"^qu['\u2019]est[- ]ce qu|^c['\u2019]est quoi\b|^que signifie\b",
    "Spanish": r"^\u00bf?qu\u00e9 (?:es|son|significa)\b",
    "Portuguese, Italian": (
        r"^o que (?:\u00e9|s\u00e3o|significa)\b"
        r"|^(?:che )?cos['\u2019 ]?(?:\u00e8|a \u00e8|a sono|a significa)\b"
    ),
    "Russian": r"^что (?:такое|это|значит|означает) ",
    "Korean": r"(?:무엇|뭐|뭔)(?:인가|입니까|이야|야|예요|인지|가요)|\S란$|의 (?:뜻|의미|정의)",
    "Chinese": r"^什[么麼]是|是什[么麼](?:意思)?$",
    "Japanese": r"とは(?:何|なん|なに)|とは$|って(?:何|なに)",
}


def _compile(patterns: dict[str, str]) -> re.Pattern[str]:
    return re.compile("|".join(patterns.values()), re.IGNORECASE)


_is_how_to = _compile(_HOW_TO_BY_LANGUAGE).search
_is_definition = _compile(_DEFINITION_BY_LANGUAGE).search


def classify_question(question: str) -> QuestionKind:
    """Return what a question wants."""
    asked = question.strip().rstrip("?\uff1f.! ").strip()
    if _is_how_to(asked):
        return QuestionKind.HOW_TO
    return QuestionKind.DEFINITION if _is_definition(asked) else QuestionKind.OTHER
