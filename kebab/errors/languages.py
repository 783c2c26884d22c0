"""The languages of error messages; each but English has a file in `translations`."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
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


@cache
def load_texts(language: Language) -> dict[str, Wording]:
    """Return the messages and hints of a language, by code or by `CODE:CASE`."""
    import tomllib

    file = Path(__file__).parent / "translations" / f"{language}.toml"
    rows = tomllib.loads(file.read_text(encoding="utf-8"))
    return {name: Wording(*texts) for name, texts in rows.items()}


def find_wordings(row: type[Signal], language: Language) -> Mapping[str, Wording]:
    """Return the wordings of a row by case; English where there is no translation."""
    if language == ENGLISH:
        return row.wordings
    texts = load_texts(language)
    usual = texts.get(row.code)
    if usual is None:
        return row.wordings
    found = {}
    for case, english in row.wordings.items():
        text = texts.get(f"{row.code}:{case}", Wording()) if case else usual
        found[case] = Wording(text.message or usual.message, text.hint or english.hint)
    return found
