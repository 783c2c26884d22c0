"""Highlights the syntax of code blocks.

Pygments is imported only for code whose language is named.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kebab.cli.render.layout import MATCH_END, MATCH_START, Style, StyledText
from kebab.errors.system import translate_import_errors

if TYPE_CHECKING:
    from pygments.lexer import Lexer

_STYLES = {
    "Comment": Style(dim=True, literal=True),
    "Keyword": Style(fg="magenta", literal=True),
    "Literal": Style(fg="green", literal=True),
    "Name.Attribute": Style(fg="cyan", literal=True),
    "Name.Builtin": Style(fg="cyan", literal=True),
    "Name.Class": Style(fg="cyan", literal=True),
    "Name.Function": Style(fg="cyan", literal=True),
    "Name.Tag": Style(fg="cyan", literal=True),
    "Name.Variable": Style(fg="cyan", literal=True),
    "Operator.Word": Style(fg="magenta", literal=True),
}
"""The style of a kind of token and of the kinds below it; other text is plain."""

_PLAIN = Style(literal=True)
_SIGNS = re.compile(f"[{MATCH_START}{MATCH_END}]")
_LONGEST = 20_000
"""Longer code is not highlighted, because a lexer may be slow."""


def split_code(code: str, language: str) -> list[StyledText]:
    """Return code as styled lines; without a known language they have no colours."""
    bare = _SIGNS.sub("", code)
    styles = _choose_styles(bare, _SIGNS.sub("", language)) or [_PLAIN] * len(bare)
    lines = [StyledText()]
    position = 0
    for character in code:
        if character in (MATCH_START, MATCH_END):
            lines[-1].add(character)
            continue
        if character == "\n":
            lines.append(StyledText(in_match=lines[-1].in_match))
        else:
            lines[-1].add(character, styles[position])
        position += 1
    return lines


def _choose_styles(code: str, language: str) -> list[Style]:
    """Return the style of each letter, nothing when the language is unknown."""
    lexer = _find_lexer(language) if language and len(code) <= _LONGEST else None
    if lexer is None:
        return []
    styles: list[Style] = []
    for kind, text in lexer.get_tokens(code):
        styles += [_find_style(str(kind).removeprefix("Token."))] * len(text)
    return styles if len(styles) >= len(code) else []


def _find_style(kind: str) -> Style:
    while kind:
        if kind in _STYLES:
            return _STYLES[kind]
        kind = kind.rpartition(".")[0]
    return _PLAIN


def _find_lexer(language: str) -> Lexer | None:
    with translate_import_errors("highlighting code", "pygments"):
        from pygments.lexers import get_lexer_by_name
        from pygments.util import ClassNotFound
    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None
