"""Reads conditions on the properties of documents, and compares values with them.

A condition is a key with a sign and a value: `status=done`, `rating>=4`, `due<2025`. A key
alone holds for any value. Numbers are compared as numbers, dates as dates, and all else as text
without its case and without the brackets of a link.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from operator import eq, ge, gt, le, lt

from kebab.text.dates import parse_date

_CONDITION = re.compile(r"([^<>=]+)(?:(<=|>=|=|<|>)(.*))?", re.DOTALL)
_OPERATORS = {"=": eq, "<": lt, "<=": le, ">": gt, ">=": ge}
_NUMBER = re.compile(r"[-+]?\d{1,300}(?:\.\d+)?", re.ASCII)
_LINK = re.compile(r"\[\[([^\[\]|]*)(?:\|[^\[\]]*)?\]\]")


def group_conditions(texts: Iterable[str]) -> list[tuple[str, list[str]]]:
    """Return the key of each condition with the signs and values of which one must hold.

    Equal values of one key are alternatives. Without a sign any value holds.
    """
    groups: dict[tuple[str, str], list[str]] = {}
    for text in texts:
        match = _CONDITION.fullmatch(text.strip())
        key, sign, value = match.groups() if match else (text, None, "")
        name = _fold(key)
        alternatives = groups.setdefault((name, "=" if sign == "=" else text), [])
        alternatives += [f"{sign}{value}"] if sign else []
    return [(name, alternatives) for (name, _), alternatives in groups.items()]


def matches_property(condition: str, value: str) -> bool:
    """Return whether a value passes a sign and a value, such as `>=4`."""
    sign = condition[: 1 + condition.startswith((">=", "<="))]
    wanted, found = _read_value(condition[len(sign) :]), _read_value(value)
    return type(wanted) is type(found) and bool(_OPERATORS[sign](found, wanted))


@lru_cache(maxsize=1 << 12)
def _read_value(text: str) -> float | str:
    """Return a value as a number, or as text; a date as ISO 8601."""
    text = _LINK.sub(r"\1", text.strip().strip("\"'"))
    if _NUMBER.fullmatch(text):
        return float(text)
    return parse_date(text) or _fold(text)


def _fold(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold().strip().lstrip("#")
