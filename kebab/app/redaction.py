"""Taking secrets out of whatever is shown, sent or kept.

Rather one harmless word too many is hidden than one secret shown: the rules know the forms of
keys, the names that stand before a secret, and the secrets of this process's own environment.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kebab.text.normalize import escape_undecodable

HIDDEN = "[redacted]"

_TELLING = 8
"""A shorter value of the environment is as likely a word as a secret."""

_REACH = 4_096
"""A rule recognizes a secret by at most this many characters; the longest is a web token."""

_SURE = r"pass(?:word|wd|phrase|code)|secret|credentials?"
"""Names of secrets wherever they stand in a longer name."""

_MIXED = (
    r"(?:api|access|account|auth|bearer|client|encryption|id|license|private|refresh|secret"
    r"|session|shared|signing|ssh|storage)[_-]?(?:key|token|sig(?:nature)?)|pwd"
)
"""Names that are those of secrets together, as `api_key` is."""

_PLAIN = r"(?<![a-z0-9])(?:key|token|sig(?:nature)?)"
"""Names that may be those of secrets, as `key` is; `tokens` is how much a model reads."""

_VALUE = r"""(?:"[^"]*"|'[^']*'|["'`]?[^\s&,;"'`<>(){}\[\]]+)"""
_QUOTED = r"""(?:"[^"]+"|'[^']+')"""
_SECRET_NAME = re.compile(
    rf"(?i)(?:.*(?:{_SURE})|(?:.*[^a-z])?(?:{_MIXED})|(?:.*[^a-z0-9])?(?:key|token)"
    r"|(?:proxy-)?authorization|(?:set-)?cookie)"
)
_OWN_SECRET = re.compile(r"(?:.*_)?(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE)")

_RULES: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(
            r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,40}-----|\Z)",
            re.DOTALL,
        ),
        "",
    ),
    # The login of a URL, also where a password holds what it should not.
    (re.compile(r"(?<=://)[^\s/?#]{0,512}@"), "@"),
    (re.compile(r"(?<=://)[^\s/?#:@]{0,256}:(?!\d{1,5}(?:/|\s|$))[^\s@]{0,256}@"), "@"),
    (re.compile(r"(?i)(\b(?:proxy-)?authorization['\"]?\s*[:=]\s*['\"]?)[^\r\n,;'\"}]+"), r"\1"),
    (re.compile(r"(?i)(\b(?:set-)?cookie['\"]?\s*:\s*['\"]?)[^\r\n'\"}]+"), r"\1"),
    (re.compile(r"(?i)(\bx-[a-z-]{0,64}(?:key|token)['\"]?\s*[:=]\s*['\"]?)[^\s,;'\"}]+"), r"\1"),
    (re.compile(r"(?i)(\bbearer\s+)(?!tokens?\b)[^\s,;'\"`]+"), r"\1"),
    (re.compile(rf"(?i)((?:{_SURE}|{_MIXED})[\w-]{{0,64}}[\"']?\s*[=:]\s*){_VALUE}"), r"\1"),
    (re.compile(rf"(?i)({_PLAIN}=){_VALUE}"), r"\1"),
    (re.compile(rf"(?i)({_PLAIN}[\"']\s*:\s*){_QUOTED}"), r"\1"),
    (re.compile(r"(?<![A-Za-z0-9])sk-(?:(?=[\w-]{0,64}\d)[\w-]{6,}|[\w-]{16,})"), ""),
    (re.compile(r"(?<![A-Za-z0-9])(?:gh[opsur]_\w{6,}|github_pat_\w{6,}|glpat-[\w-]{6,})"), ""),
    (re.compile(r"(?<![A-Za-z0-9])(?:AKIA|ASIA|AGPA|AROA)[A-Z0-9]{8,}"), ""),
    (re.compile(r"(?<![A-Za-z0-9])(?:xox[a-z]-[\w-]{8,}|hf_\w{16,}|AIza[\w-]{16,})"), ""),
    (re.compile(r"(?<![A-Za-z0-9])eyJ[\w-]{8,2048}\.[\w-]{8,}(?:\.[\w-]*)?"), ""),
)
"""What is hidden, and what of it stays before or after the mark."""


def redact(value: Any, *, hides_home: bool = False) -> Any:
    """Return a value, with all that is in it, without secrets.

    Args:
        value: Text, a number, None, or lists and mappings of these.
        hides_home: Write the home directory as `~`.
    """
    if isinstance(value, str):
        text = _without_secrets(escape_undecodable(value))
        return _without_home(text) if hides_home else text
    if isinstance(value, dict):
        return {
            redact(name, hides_home=hides_home): HIDDEN
            if isinstance(item, str) and item and _SECRET_NAME.fullmatch(str(name))
            else redact(item, hides_home=hides_home)
            for name, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [redact(item, hides_home=hides_home) for item in value]
    return value


def redact_start(text: str, longest: int) -> str:
    """Return the start of a text without secrets, at most `longest` characters.

    Only the start of a long text is searched for secrets. The last part of what was searched is
    never shown, because a secret that is cut in two is not recognized there.
    """
    searched = text[: longest + 2 * _REACH]
    shown: str = redact(searched)
    if len(searched) < len(text):
        return shown[: min(longest - 1, max(0, len(shown) - _REACH))] + "…"
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


def redact_arguments(arguments: tuple[str, ...], longest: int) -> list[str]:
    """Return a command line without secrets, each argument at most `longest` characters.

    A flag may name a secret that stands after it.
    """
    shown: list[str] = []
    before = ""
    for argument in arguments:
        named = before.startswith("--") and _SECRET_NAME.fullmatch(before)
        shown.append(HIDDEN if named else redact_start(argument, longest))
        before = argument[:_REACH]
    return shown


def _without_secrets(text: str) -> str:
    for secret in _own_secrets():
        text = text.replace(secret, HIDDEN)
    for pattern, kept in _RULES:
        text = pattern.sub(HIDDEN + kept if kept == "@" else kept + HIDDEN, text)
    return text


def _own_secrets() -> Iterator[str]:
    """Yield the secrets of the environment, the longest first: one may hold another."""
    named = (text for name, text in os.environ.items() if _OWN_SECRET.fullmatch(name))
    yield from sorted((text for text in named if len(text) >= _TELLING), key=len, reverse=True)


def _without_home(text: str) -> str:
    home = str(Path.home()).rstrip("/")
    return re.sub(rf"{re.escape(home)}(?![^/\s\"'`:;,)\]}}>])", "~", text) if home else text
