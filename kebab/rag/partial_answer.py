"""Ends an answer that a limit cut off at its last whole sentence or line of code."""

import re

from kebab.rag.checking.markers import find_fenced_blocks
from kebab.text.layout import LayoutKind
from kebab.text.sentences import find_sentences

_MARKER = r"\[[#^]?\d{1,3}\]|\u3010\d{1,3}\u3011"
_FINISHED = re.compile(
    rf"(?:[.!?:\u2026\u3002\uff01\uff1f\uff1a\u0964\u061f]|{_MARKER})"
    rf"(?:[*_\"'`)\]\u201d\u2019\u00bb\u300d\u300f\uff09]|\s?(?:{_MARKER}))*\Z"
)
_OPENING = re.compile(r"[ \t>]*(?:`{3,}|~{3,})")
_WHOLE_LINES = {LayoutKind.HEADING, LayoutKind.ROW}
"""The kinds of which only the end of the line is an end."""

_ELLIPSIS = " \u2026"


def cut_unfinished(text: str) -> str:
    """Return a partial answer without its unfinished last sentence, or last line of code.

    An open code block is closed. A sentence that is the whole answer stays without its last word,
    and ends with an ellipsis.
    """
    # In an open block any further line is code.
    start, end = next(reversed(find_fenced_blocks(f"{text}\n.")), (0, 0))
    if end > len(text):
        return _close_block(text, start)
    sentences = find_sentences(text)
    if not sentences:
        return text.rstrip()
    last = sentences[-1]
    is_whole_line = "\n" in text[last.end :]
    if is_whole_line or (last.kind not in _WHOLE_LINES and _FINISHED.search(text.rstrip())):
        return text.rstrip()
    rest = text[: _find_cut(text, last.start)].rstrip()
    return rest if len(sentences) > 1 else _drop_last_word(text)


def _close_block(text: str, start: int) -> str:
    """Return a text whose last block is closed after its last whole line, or left out."""
    block, newline, _ = text[start:].rpartition("\n")
    opening = _OPENING.match(block)
    if not newline or opening is None or "\n" not in block:
        return text[:start].rstrip()
    return f"{text[:start]}{block}\n{opening[0]}"


def _find_cut(text: str, position: int) -> int:
    """Return the start of a sentence, with the sign of its list item if it has one."""
    line = text.rfind("\n", 0, position) + 1
    return position if any(map(str.isalpha, text[line:position])) else line


def _drop_last_word(text: str) -> str:
    kept, blank, _ = text.rstrip().rpartition(" ")
    return (kept.rstrip() if blank else text.rstrip()) + _ELLIPSIS
