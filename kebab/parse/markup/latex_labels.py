"""Reads arguments of LaTeX commands, and turns them into plain labels."""

import re
import unicodedata

_MAX_ARGUMENT = 2000
_HIDDEN = re.compile(
    r"\\(?:thanks|footnote|label|index|cite\w*|vspace|hspace)\*?(?:\[[^\]]*\])?\{[^{}]*\}"
)
_ACCENT = re.compile(r"\\([`'^\"~=.cvuHk])\s*(?:\{\\?([A-Za-z])\}|\\?([A-Za-z]))")
_LETTERS = re.compile(r"\\(ss|ae|AE|oe|OE|aa|AA|o|O|l|L|i|j)(?![A-Za-z])(?:\{\})?\s?")
_COMMAND = re.compile(r"\\(?:texorpdfstring\{[^{}]*\}|([A-Za-z]+)\*?(?:\[[^\]]*\])?)")
_NAMES = {"LaTeX": "LaTeX", "TeX": "TeX", "dots": "…", "ldots": "…", "textemdash": "—"}
_MARKS = {
    "`": "\u0300",
    "'": "\u0301",
    "^": "\u0302",
    "~": "\u0303",
    '"': "\u0308",
    "=": "\u0304",
    ".": "\u0307",
    "c": "\u0327",
    "v": "\u030c",
    "u": "\u0306",
    "H": "\u030b",
    "k": "\u0328",
}
_SPECIAL = {
    "ss": "ß",
    "ae": "æ",
    "AE": "Æ",
    "oe": "œ",
    "OE": "Œ",
    "aa": "å",
    "AA": "Å",
    "o": "ø",
    "O": "Ø",
    "l": "ł",
    "L": "Ł",
    "i": "i",
    "j": "j",
}


def read_argument(text: str, start: int) -> str:
    """Return the text between the braces of an argument, behind one in brackets."""
    position = start
    if text[position : position + 1] == "[":
        closed = text.find("]", position, position + _MAX_ARGUMENT)
        position = closed + 1 if closed >= 0 else position
    opened = text.find("{", position, position + 16)
    if opened < 0 or text[position:opened].strip():
        return ""
    depth = 0
    for end in range(opened, min(len(text), opened + _MAX_ARGUMENT)):
        if text[end] in "{}" and text[end - 1] != "\\":
            depth += 1 if text[end] == "{" else -1
            if not depth:
                return text[opened + 1 : end]
    return text[opened + 1 : opened + _MAX_ARGUMENT].partition("\n\n")[0]


def to_plain_label(source: str) -> str:
    """Return a title on one line without its commands."""
    plain = _HIDDEN.sub("", source[:_MAX_ARGUMENT])
    plain = (
        re.sub(r"(?<!\\)\$", "", plain).replace("\\\\", " ").replace("\\,", " ").replace("\\ ", " ")
    )
    plain = _LETTERS.sub(lambda match: _SPECIAL[match[1]], plain)
    plain = _ACCENT.sub(lambda match: (match[2] or match[3]) + _MARKS[match[1]], plain)
    plain = re.sub(r"\\([&%$#_{}])", r"\1", plain)
    plain = _COMMAND.sub(lambda match: _NAMES.get(match[1] or "", ""), plain)
    plain = re.sub(r"[{}]", "", plain).replace("~", " ").replace("``", '"').replace("''", '"')
    return unicodedata.normalize("NFC", " ".join(plain.split()))
