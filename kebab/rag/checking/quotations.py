"""Quotations: what a claim gives as the very words of a passage."""

import re

from kebab.text.normalize import fold_text

_PAIRS = (
    re.compile(r"(?<![\w\"])\"(?=\S)([^\"\n]{2,600})\"(?!\w)"),
    re.compile("[\u201c\u201e]([^\u201c\u201d\u201e\n]{2,600})[\u201c\u201d]"),
    re.compile("\u00ab([^\u00ab\u00bb\n]{2,600})\u00bb"),
    re.compile("\u300c([^\u300c\u300d\n]{2,600})\u300d"),
    re.compile("\u300e([^\u300e\u300f\n]{2,600})\u300f"),
)
_LEFT_OUT = re.compile(
    r"\s*(?:\[\s*(?:\.{3}|\u2026)\s*\]|\(\s*(?:\.{3}|\u2026)\s*\)|\.{3,}|\u2026)\s*"
)
_ENDS = " \t.,;:!?\u3002\u3001\uff0c\uff01\uff1f'\""
_word = re.compile(r"\w").search


def quotations(text: str) -> list[str]:
    """Return what stands between quotation marks, in parts where something was left out."""
    found = [quote for pair in _PAIRS for quote in pair.findall(text)]
    parts = (part.strip(_ENDS) for quote in found for part in _LEFT_OUT.split(quote))
    return [part for part in parts if _word(part)]


def verbatim(quotation: str, passage: str) -> bool:
    """Return whether words stand in a folded passage, white space, case and end marks aside."""
    return fold_text(quotation).strip(_ENDS) in passage
