"""Removes secrets from what is told about errors.

The rules know the forms of keys, the names that precede a secret, and the secrets in the
environment of this process. In doubt they hide a word.
"""

import os
import re
from typing import Any

from kebab.errors.system import escape_undecodable

HIDDEN = "[redacted]"

_MIN_SECRET_CHARS = 8
"""The minimum length of a secret of the environment; a shorter value may be a common word."""

_MAX_SECRET_CHARS = 4_096
"""The maximum length that a rule needs to recognise a secret; the longest is a web token."""

_SENSITIVE_WORDS = r"pass(?:word|wd|phrase|code)|secret|credentials?"
"""Words that mark a secret anywhere in a name."""

_SENSITIVE_PAIRS = (
    r"(?:api|access|account|auth|bearer|client|encryption|id|license|private|refresh|secret"
    r"|session|shared|signing|ssh|storage)[_-]?(?:key|token|sig(?:nature)?)|pwd"
)
"""Pairs of words that mark a secret, such as `api_key`."""

_AMBIGUOUS_WORDS = r"(?<![a-z0-9])(?:key|token|sig(?:nature)?)"
"""Names that may mark a secret, such as `key`; `tokens` is a count and marks none."""

_VALUE = r"""(?:"[^"]*"|'[^']*'|["'`]?[^\s&,;"'`<>(){}\[\]]+)"""
_QUOTED = r"""(?:"[^"]+"|'[^']+')"""
_SECRET_NAME = (
    rf"(?i)(?:.*(?:{_SENSITIVE_WORDS})|(?:.*[^a-z])?(?:{_SENSITIVE_PAIRS})|(?:.*[^a-z0-9])?(?:key|token)"
    r"|(?:proxy-)?authorization|(?:set-)?cookie)"
)
_SECRET_VARIABLE = r"(?:.*_)?(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE)"  # noqa: S105 - a pattern of names

_RULES: tuple[tuple[str, str], ...] = (
    (
        r"(?s)-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,40}-----|\Z)",
        "",
    ),
    # The user info of a URL, also with a password that is not percent-encoded.
    (r"(?<=://)[^\s/?#]{0,512}@", "@"),
    (r"(?<=://)[^\s/?#:@]{0,256}:(?!\d{1,5}(?:/|\s|$))[^\s@]{0,256}+@", "@"),
    (
        r"(?i)(\b(?:proxy-)?authorization['\"]?\s*[:=]\s*['\"]?)[^\r\n,;'\"}]+",
        r"\1",
    ),
    (r"(?i)(\b(?:set-)?cookie['\"]?\s*:\s*['\"]?)[^\r\n'\"}]+", r"\1"),
    (
        r"(?i)(\bx-[a-z-]{0,64}(?:key|token)['\"]?\s*[:=]\s*['\"]?)[^\s,;'\"}]+",
        r"\1",
    ),
    (r"(?i)(\bbearer\s+)(?!tokens?\b)[^\s,;'\"`]+", r"\1"),
    (
        rf"(?i)((?:{_SENSITIVE_WORDS}|{_SENSITIVE_PAIRS})[\w-]{{0,64}}[\"']?\s*[=:]\s*){_VALUE}",
        r"\1",
    ),
    (rf"(?i)({_AMBIGUOUS_WORDS}=){_VALUE}", r"\1"),
    (rf"(?i)({_AMBIGUOUS_WORDS}[\"']\s*:\s*){_QUOTED}", r"\1"),
    (r"(?<![A-Za-z0-9])sk-(?:(?=[\w-]{0,64}\d)[\w-]{6,}|[\w-]{16,})", ""),
    (r"(?<![A-Za-z0-9])(?:gh[opsur]_\w{6,}|github_pat_\w{6,}|glpat-[\w-]{6,})", ""),
    (r"(?<![A-Za-z0-9])(?:AKIA|ASIA|AGPA|AROA)[A-Z0-9]{8,}", ""),
    (r"(?<![A-Za-z0-9])(?:xox[a-z]-[\w-]{8,}|hf_\w{16,}|AIza[\w-]{16,})", ""),
    (r"(?<![A-Za-z0-9])eyJ[\w-]{8,2048}\.[\w-]{8,}(?:\.[\w-]*)?", ""),
)
"""Patterns of secrets, and the part of a match that is shown beside `[redacted]`."""


def redact(value: Any) -> Any:
    """Return a value without secrets, nested values included.

    Args:
        value: Text, a number, None, or lists and mappings of these.
    """
    if isinstance(value, str):
        return _hide_secrets(escape_undecodable(value))
    if isinstance(value, dict):
        return {
            redact(name): HIDDEN
            if isinstance(item, str) and item and re.fullmatch(_SECRET_NAME, str(name))
            else redact(item)
            for name, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [redact(item) for item in value]
    return value


def redact_start(text: str, longest: int) -> str:
    """Return the start of a text without secrets, at most `longest` characters.

    Only the start of a long text is searched. The last part of the searched text is not shown,
    because the rules may not recognise a secret that is cut there.
    """
    searched = text[: longest + 2 * _MAX_SECRET_CHARS]
    shown: str = redact(searched)
    if len(searched) < len(text):
        return shown[: min(longest - 1, max(0, len(shown) - _MAX_SECRET_CHARS))] + "…"
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


def redact_arguments(arguments: tuple[str, ...], longest: int) -> list[str]:
    """Return a command line without secrets, each argument at most `longest` characters.

    The argument after a flag that names a secret is hidden.
    """
    shown: list[str] = []
    before = ""
    for argument in arguments:
        named = before.startswith("--") and re.fullmatch(_SECRET_NAME, before)
        shown.append(HIDDEN if named else redact_start(argument, longest))
        before = argument[:_MAX_SECRET_CHARS]
    return shown


def _hide_secrets(text: str) -> str:
    values = (value for name, value in os.environ.items() if re.fullmatch(_SECRET_VARIABLE, name))
    own = [value for value in values if len(value) >= _MIN_SECRET_CHARS]
    # The longest first, because one may contain another.
    for secret in sorted(own, key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    for pattern, prefix in _RULES:
        text = re.sub(pattern, HIDDEN + prefix if prefix == "@" else prefix + HIDDEN, text)
    return text
