"""Turns titles and signatures of reStructuredText into plain labels."""

import re

_MAX_CHARS = 1000
_MAX_SIGNATURE = 120
_MARKUP = re.compile(r"[`*_|\\\[]")
_LITERAL = re.compile(r"``(.+?)``")
_ROLE = re.compile(r"(?:(:[\w:+.-]{1,80}:)?)`([^`]+)`(?:_{1,2}|:[\w:+.-]{1,80}:)?")
_STRONG = re.compile(r"(?<![\w*\\])(\*{1,2})(?=\S)([^*]+)(?<=\S)\1(?![\w*])")
_SUBSTITUTION = re.compile(r"\|([^\s|](?:[^|]*[^\s|])?)\|_{0,2}")
_NOTE_REFERENCE = re.compile(r"\s*\[[\w#*.-]+\]_")
_REFERENCE = re.compile(r"(?<=[^\W_])_{1,2}(?!\w)")
_ESCAPE = re.compile(r"\\(\s?)(\S?)")
_TARGET = re.compile(r"\s*<[^<>]*>\s*\Z")


def to_plain_label(source: str) -> str:
    """Return a title on one line without its inline markup."""
    source = source[:_MAX_CHARS]
    if _MARKUP.search(source):
        literals: list[str] = []
        source = _LITERAL.sub(lambda match: _keep(match[1], literals), source)
        source = _ROLE.sub(lambda match: _keep(_read_role(match), literals), source)
        source = _STRONG.sub(r"\2", _NOTE_REFERENCE.sub("", source))
        source = _REFERENCE.sub("", _SUBSTITUTION.sub(r"\1", source))
        source = _ESCAPE.sub(r"\2", source)
        source = re.sub("\0(\\d+)\0", lambda match: literals[int(match[1])], source)
    return " ".join(source.split())


def to_signature_label(signature: str) -> str:
    """Return the name in the signature of an object, without its parameters."""
    plain = signature.replace("\\", "").strip()
    if not plain.startswith(("-", "/")):
        plain = plain.partition("(")[0].strip() or plain
    return " ".join(plain.split())[:_MAX_SIGNATURE].rstrip()


def _keep(text: str, kept: list[str]) -> str:
    """Return a mark for text that has no further markup."""
    kept.append(text)
    return f"\0{len(kept) - 1}\0"


def _read_role(match: re.Match[str]) -> str:
    """Return the visible text of a role or link."""
    text = _TARGET.sub("", match[2]) or match[2].strip(" <>")
    if match[1] and text.startswith("~"):
        return text[1:].rpartition(".")[2]
    return text.lstrip("!") if match[1] else text
