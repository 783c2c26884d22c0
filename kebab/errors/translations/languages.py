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
    match language:
        case "ko":
            from kebab.errors.translations import ko

            return _by_case(row, ko.ROWS, ko.CASES)
        case "zh":
            from kebab.errors.translations import zh

            return _by_case(row, zh.ROWS, zh.CASES)
        case "en":
            return row.wordings


def _by_case(
    row: type[Signal],
    usual: Mapping[type[Signal], Wording],
    cases: Mapping[type[Signal], Mapping[str, Wording]],
) -> Mapping[str, Wording]:
    translated = {"": usual[row], **cases.get(row, {})} if row in usual else {}
    return {**row.wordings, **translated}
