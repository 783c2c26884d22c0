"""The languages of error messages, and the translations of each."""

import re
from collections.abc import Mapping
from typing import Literal, TypeAlias

from kebab.errors.signal import Signal, Wording

Language: TypeAlias = Literal["en", "ko", "zh"]
"""A language of error messages."""

LANGUAGES: tuple[Language, ...] = ("en", "ko", "zh")
ENGLISH: Language = "en"

_FIRST_PART = re.compile(r"[a-z]+")


def parse_language(locale: str) -> Language:
    """Return the language of a locale such as `ko_KR.UTF-8`; English when it is not supported."""
    first = _FIRST_PART.match(locale.strip().lower())
    found = (language for language in LANGUAGES if first and first[0] == language)
    return next(found, ENGLISH)


def find_wordings(row: type[Signal], language: Language) -> Mapping[str, Wording]:
    """Return the wordings of a row by case; English where there is no translation."""
    if language == "ko":
        from kebab.errors.translations.ko import TEXTS
    elif language == "zh":
        from kebab.errors.translations.zh import TEXTS
    else:
        return row.wordings
    usual = TEXTS.get(row.code)
    if usual is None:
        return row.wordings
    found = {}
    for case, english in row.wordings.items():
        text = TEXTS.get(f"{row.code}:{case}", Wording()) if case else usual
        found[case] = Wording(text.message or usual.message, text.hint or english.hint)
    return found
