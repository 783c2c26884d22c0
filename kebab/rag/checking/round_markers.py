"""Rewrites citations in round brackets to `[n]`.

`(Passage 2)` is one anywhere. `(2)` is one only at the end of a sentence of a text that has no
other marker, because it may also number a list or an equation.
"""

import re
from collections.abc import Collection

from kebab.rag.checking.markers import MARKER_NAMES, find_code_spans, find_markers, is_inside

_NUMBERS = r"\d{1,3}(?:[ \t]?(?:[,;&\u3001\uff0c-]|and|und|et)[ \t]?\d{1,3}){0,9}"
_LABELLED = re.compile(
    r"[(\uff08](?:see|cf\.?|siehe|vgl\.|from|voir|v\u00e9ase)?[ \t:]{0,2}"
    rf"(?:{MARKER_NAMES})[ \t]{{0,2}}[#:.]?[ \t]{{0,2}}(?P<body>{_NUMBERS})[)\uff09]",
    re.IGNORECASE,
)
_PLAIN = re.compile(
    r"(?:(?<=[\w\"'\u201d\u2019)%\]][ \t])|(?<=[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]))"
    rf"[(\uff08](?P<body>{_NUMBERS})[)\uff09](?=[ \t]*(?:[.!?,;:\u3002\uff01\uff1f\uff0c]|$))",
    re.MULTILINE,
)
_DIGITS = re.compile(r"\d{1,3}")


def rewrite_round_markers(text: str, known: Collection[int]) -> str:
    """Return a text with its citations in round brackets written as `[n]`.

    Args:
        text: The response of a model.
        known: The numbers of the passages; others stay as they are.
    """
    text = _rewrite(_LABELLED, text, known)
    if find_markers(text):
        return text
    return _rewrite(_PLAIN, text, known)


def _rewrite(pattern: re.Pattern[str], text: str, known: Collection[int]) -> str:
    code = find_code_spans(text) if pattern.search(text) else []

    def replace(found: re.Match[str]) -> str:
        numbers = [int(one) for one in _DIGITS.findall(found["body"])]
        if is_inside(code, found.start()) or not all(one in known for one in numbers):
            return found[0]
        return "".join(f"[{number}]" for number in numbers)

    return pattern.sub(replace, text)
