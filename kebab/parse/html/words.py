"""Cleans the text between tags: white space, entities, marks of breaks and of code."""

import re

BREAK = "\x01"
"""A line break inside a paragraph, before the text is cleaned."""

SUPERSCRIPT = "\x02"
"""The begin of a superscript, before the text is cleaned."""

CODE = "\x03"
"""The begin and the end of code inside a paragraph, before the text is cleaned."""

_POWER = re.compile(SUPERSCRIPT + r"(?=[\d\[(+\u2212-]|[a-z]\b)")
_INVISIBLE = re.compile("[\u00ad\u200b\ufeff\u2060]")
_WIDE = "[\u3001-\u30ff\u3400-\u9fff\uff00-\uffef]"
_WIDE_BREAK = re.compile(rf"(?<={_WIDE})[ \t]*\n\s*(?={_WIDE})")
_PERMALINK = re.compile("(?: #|[\u00b6\u00a7\U0001f517\u2693 ])+$|^[\u00b6\u00a7\U0001f517 ]+")
_FILE_NAME = re.compile(r"\S+\.[A-Za-z]{3,4}")
_LANGUAGE = re.compile(
    r"\b(?:(?:language|lang|highlight(?:-source)?|src)-|brush: |sourceCode )([A-Za-z][\w+#]{0,19})"
    r"|\b(rust|python|java|javascript|json|bash|shell|sql|xml|yaml|toml|console|haskell)\b"
)
_NO_LANGUAGES = frozenset(
    {"default", "none", "notranslate", "text", "plaintext", "plain", "literal"}
)


def unescape(text: str) -> str:
    """Return serialised text without the entities that a serialiser writes."""
    if "&" not in text:
        return text
    plain = text.replace("&lt;", "<").replace("&gt;", ">").replace("&nbsp;", " ")
    return plain.replace("&quot;", '"').replace("&amp;", "&")


def clean_line(text: str) -> str:
    """Return serialised text on one line, with white space as a browser shows it."""
    line = unescape(text)
    if not line.isascii():
        line = _INVISIBLE.sub("", line)
        # A line break between wide characters is no space, as in browsers.
        line = _WIDE_BREAK.sub("", line) if "\n" in line else line
    if SUPERSCRIPT in line:
        line = _POWER.sub("^", line).replace(SUPERSCRIPT, "")
    if CODE in line:
        line = line.replace(CODE + CODE, "").replace(CODE, "`")
    return " ".join(line.split())


def split_paragraphs(text: str) -> list[str]:
    """Return the paragraphs of serialised text; two breaks in a row separate paragraphs."""
    if BREAK not in text:
        line = clean_line(text)
        return [line] if line else []
    paragraphs: list[list[str]] = [[]]
    for line in map(clean_line, text.split(BREAK)):
        if line:
            paragraphs[-1].append(line)
        elif paragraphs[-1]:
            paragraphs.append([])
    return ["\n".join(lines) for lines in paragraphs if lines]


def clean_heading(text: str) -> str:
    """Return the text of a heading without signs of permanent links and of code."""
    line = clean_line(text.replace(CODE, "").replace(BREAK, " "))
    return _PERMALINK.sub("", line) or line


def find_alternative(tag: str) -> str:
    """Return the text of an image, empty where it is missing or the name of a file."""
    found = re.search(' alt="([^"]+)"', tag)
    text = found[1].strip() if found else ""
    return "" if _FILE_NAME.fullmatch(text) else text


def find_code_language(tag: str) -> str:
    """Return the language that the classes of an element name, empty for none."""
    if ' class="' not in tag:
        return ""
    classes = tag.partition(' class="')[2].partition('"')[0]
    found = _LANGUAGE.search(classes)
    language = (found[1] or found[2]).lower() if found else ""
    return "" if language in _NO_LANGUAGES else language


def is_prose(text: str) -> bool:
    """Return whether preformatted text consists of paragraphs of words."""
    if len(text) < 1_000 or text.count("\n\n") < 3:  # noqa: PLR2004 - a few paragraphs
        return False
    words = sum(char.isalpha() or char.isspace() or char in ",.'\"" for char in text[:20_000])
    return words >= 0.93 * min(len(text), 20_000)
