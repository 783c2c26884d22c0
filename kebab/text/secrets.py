"""Masks keys and passwords in text, with as many characters as they have, so that offsets hold.

A row of `_RULES` is a form of key. Its pattern runs only where one of its literals occurs, and is
compiled then, so that text without any costs a few comparisons. All patterns are linear: each
repetition is bounded, or followed by nothing that it could have matched.

What looks random is told from names, words and placeholders by the entropy of its characters and
by how often letters, digits and signs alternate. A password that is a plain word is not found.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain, pairwise
from typing import NamedTuple

from kebab.text.normalize import load_words

MASK = "•"
"""The character in place of each one that is masked."""

_SHOWN = 4
"""How many characters of a long secret are kept: they tell its kind."""
_LONG = 16
"""A secret with so many characters is long."""

_STAND_INS = (*load_words("placeholders")["keys"].split(), MASK)
"""Parts of keys in documentation that are none."""

_PLACEHOLDERS = (*_STAND_INS, *load_words("placeholders")["values"].split())
"""Parts of assigned values in documentation that are no secrets."""


def _is_key(value: str) -> bool:
    """Return whether a key with a prefix that tells its kind is no placeholder."""
    return not _contains(value, _STAND_INS) and _measure_entropy(value) >= 3  # noqa: PLR2004


def _is_random(value: str) -> bool:
    """Return whether a value looks random rather than like words, a reference or a date."""
    if not any(map(str.isalpha, value)) or value[0] in "$%@" or _contains(value, _PLACEHOLDERS):
        return False
    changes = sum(left != right for left, right in pairwise(map(_get_kind, value)))
    if _measure_entropy(value) < 2.8 or changes < 0.22 * len(value):  # noqa: PLR2004
        return False
    # Words and numbers such as `settings.API_KEY_2` and `Ed25519PrivateKey` are a reference.
    parts = "".join(c if c.isalnum() else " " for c in value).split()
    return not all(map(_compile(_NAME).fullmatch, parts))


_NAME = r"[A-Za-z]*[0-9]*(?:[A-Z][a-z]{2,}+|[a-z]{4,}+)*+[0-9]*"
"""A name in code: words with a number in or behind them."""


def _is_password(value: str) -> bool:
    """Return whether the password of an address is neither a word nor a placeholder."""
    is_word = value.isalpha() and (value.islower() or value.isupper() or value.istitle())
    return not is_word and value[0] not in "$%" and not _contains(value, _PLACEHOLDERS)


def _contains(value: str, parts: tuple[str, ...]) -> bool:
    folded = value.lower()
    return any(part in folded for part in parts)


def _measure_entropy(value: str) -> float:
    """Return the Shannon entropy of the characters in bits."""
    total = len(value)
    return -sum(n / total * math.log2(n / total) for n in Counter(value).values())


def _get_kind(character: str) -> int:
    return character.islower() + 2 * character.isupper() + 3 * character.isdigit()


class _Rule(NamedTuple):
    """A form of secret: literals, the pattern, and the check of its group or of all it matches.

    A literal is a part of the secret or of the word that holds it.
    """

    literals: tuple[str, ...]
    pattern: str
    check: Callable[[str], bool] = _is_key


_BEFORE = r"(?<![A-Za-z0-9_])"
_PEM = "-----BEGIN "

_RULES = (
    _Rule(
        (_PEM,),
        _PEM + r"(?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----"
        r"((?:\s|\\[nr]|[\"'+,>|#*/;]|(?:Proc-Type|DEK-Info|Version|Comment):[^\n]{0,200}"
        r"|[A-Za-z0-9+/=]{20,}+|[A-Za-z0-9+/]{1,19}={0,2}(?=(?:\s|\\[nr]){0,4}-----END))++)",
        bool,
    ),
    *(
        _Rule(tuple(literals.split()), _BEFORE + pattern, check)
        for table, check in (("secret_keys", _is_key), ("random_keys", _is_random))
        for literals, pattern in load_words(table).items()
    ),
    _Rule(
        ("@",),
        r"[a-z]://[^\s/?#:@\"'`<>\[\]]{0,128}:([^\s/?#@\"'`<>]{6,256}+)@[\w\[]",
        _is_password,
    ),
)

_BY_LITERAL = [(literal, rule) for rule in _RULES for literal in rule.literals]

_SIGN = (
    r"[A-Za-z0-9_-]{0,40}+(?<!file|name|path|type)[\"'`]?\]?[ \t]{0,8}"
    r"(?::[ \t]?[A-Za-z_.]{1,20}[ \t])?(?::=|=>|[:=：>])"
)
"""The rest of a name and what stands between it and its value, such as `_KEY"] = `."""
_VALUE = r"""[ \t]{0,8}["'`]?([^\s"'`,;<>(){}\[\]|&]{10,4096}+)(?![(\[{.])"""
_ASSIGNED = {
    **{
        part: [(name, _SIGN + _VALUE) for name in names.split()]
        for part, names in load_words("secret_names").items()
    },
    "--": [(name, _VALUE) for name in ("--api-key ", "--password ", "--token ")],
    **{name: [(name, _VALUE)] for name in ("basic ", "bearer ")},
}
"""What follows a name in lower case when a secret is its value, by a part of the name."""

_LONG_WORD, _MIXED = r"[!->@-~]{20}", r"[0-9][A-Za-z]"
"""A key has a long word; what looks random has a letter behind a digit. Most text has neither."""

_KEY_LINE = 64
"""The characters of the shorter lines of a private key."""
_KEY_LINES = r"[ \t>|\"'#*/]{0,16}([A-Za-z0-9+/]{64}|[A-Za-z0-9+/]{70})(?:\\[nr])?[\s\"'+,;\\]{0,6}"


def mask_secrets(text: str) -> str:
    """Return a text whose keys and passwords are masked; it has the same number of code points."""
    has_long, has_mixed = _compile(_LONG_WORD).search(text), _compile(_MIXED).search(text)
    spans: list[tuple[int, int]] = []
    if has_long or "@" in text:
        spans += [
            match.span(match.lastindex or 0)
            for rule in dict.fromkeys(rule for literal, rule in _BY_LITERAL if literal in text)
            for match in _compile(rule.pattern).finditer(text)
            if rule.check(match[match.lastindex or 0])
        ]
    if has_mixed:
        spans += _find_assigned(text)
        if has_long and _PEM not in text:
            spans += _find_key_lines(text)
    return _mask_spans(text, spans) if spans else text


def _mask_spans(text: str, spans: list[tuple[int, int]]) -> str:
    """Return a text with masks in place of some spans, which may overlap; white space stays."""
    parts, place = [], 0
    for start, end in sorted(spans):
        hidden = start + _SHOWN if end - start >= _LONG and start >= place else start
        hidden = max(hidden, place)
        parts.append(text[place:hidden])
        parts.append("".join(c if c.isspace() else MASK for c in text[hidden:end]))
        place = max(place, end)
    return "".join([*parts, text[place:]])


def _find_assigned(text: str) -> Iterator[tuple[int, int]]:
    """Yield the random values that are assigned to names such as `password`."""
    folded = text.lower()
    if len(folded) != len(text):
        folded = text  # a letter such as `İ` has a longer form, and offsets would not hold
    for name, rest in chain.from_iterable(
        names for part, names in _ASSIGNED.items() if part in folded
    ):
        place = folded.find(name)
        while place >= 0:
            match = _compile(rest).match(text, place + len(name))
            if match and _is_random(match[1]):
                yield match.span(1)
            place = folded.find(name, match.end() if match else place + 1)


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _find_key_lines(text: str) -> Iterator[tuple[int, int]]:
    """Yield the lines of a private key whose first line is elsewhere, as in the middle of a file.

    They have 64 or 70 characters of base64. The lines of a certificate look alike, so a text with
    the first line of anything public is left as it is.
    """
    start = 0
    for line in text.split("\n"):
        match = _compile(_KEY_LINES).fullmatch(line) if len(line) >= _KEY_LINE else None
        if match and len(set(map(_get_kind, match[1]))) >= 3:  # noqa: PLR2004 - both cases, digits
            yield match.start(1) + start, match.end(1) + start
        start += len(line) + 1
