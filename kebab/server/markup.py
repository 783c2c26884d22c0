"""Builds HTML from text that is not trusted, and marks passages in it.

Only `build_tag` writes tags, and it escapes text and attributes. So `<` and `>` stand in the HTML
only where a tag begins and ends, and `mark_text` can find the text between tags.
"""

import re
from collections.abc import Iterable, Sequence
from html import escape as escape_html
from html import unescape
from typing import NamedTuple

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff\ud800-\udfff]")
_OVERRIDES = re.compile("[\u202d\u202e]")
_DIRECTIONS = re.compile("[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]")
_VOID = frozenset({"img", "input", "link", "meta", "hr", "br"})


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def escape(text: str) -> Html:
    """Return text as HTML.

    Control characters are replaced. The order of letters is never overridden: the two characters
    that do so are shown by their names.
    """
    if isinstance(text, Html):
        return text
    return Html(escape_html(replace_controls(text), quote=True))


def replace_controls(text: str) -> str:
    """Return text or HTML without control characters and without overrides of the direction."""
    return _OVERRIDES.sub(name_character, _CONTROLS.sub("\ufffd", text))


def name_character(match: re.Match[str]) -> str:
    """Return the name of a character that cannot be seen, such as `⟦U+202E⟧`."""
    return f"⟦U+{ord(match[0]):04X}⟧"


def clean_line(text: str) -> str:
    """Return a title or a path on one line, without characters that change its direction."""
    return _DIRECTIONS.sub("", " ".join(text.split()))


def show_directions(text: str) -> str:
    """Return code in which the characters that change the direction can be seen."""
    return _DIRECTIONS.sub(name_character, text)


def build_tag(name: str, /, *children: str, **attributes: str | int | bool | None) -> Html:
    """Return an element; children are text unless they are HTML.

    `_` in the name of an attribute is `-`, but for the last one, as in `class_`. True is an
    attribute without a value; None and False leave it out.
    """
    words = [name]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        label = key.removesuffix("_").replace("_", "-")
        words.append(label if value is True else f'{label}="{escape(str(value))}"')
    head = f"<{' '.join(words)}>"
    return Html(head if name in _VOID else f"{head}{join(children)}</{name}>")


def join(parts: Iterable[str]) -> Html:
    """Return HTML and texts as one piece of HTML."""
    return Html("".join(map(escape, parts)))


_TAG = re.compile(r"(<[^<>]*>)")
_WORD_LETTERS = re.compile(r"[^\W_]")


class Place(NamedTuple):
    """A letter: the piece of the HTML that it is in, and its offset there."""

    piece: int
    offset: int


def mark_text(html: str, wanted: str, class_: str, *, start: int = 0) -> Html | None:
    """Return HTML with a text marked from `start` on, None when it does not contain the text.

    Only letters and digits are compared, so line ends and the signs of Markdown do not matter. No
    mark crosses the border of an element.
    """
    letters = "".join(_WORD_LETTERS.findall(wanted)).casefold()
    pieces = _TAG.split(html[start:])
    texts = ["" if piece.startswith("<") else unescape(piece) for piece in pieces]
    stream, places = list_letters(texts)
    found = stream.find(letters) if letters else -1
    if found < 0:
        return None
    first, last = places[found], places[found + len(letters) - 1]
    for index in range(first.piece, last.piece + 1):
        text = texts[index]
        begin = first.offset if index == first.piece else 0
        end = last.offset + 1 if index == last.piece else len(text)
        if text[begin:end].strip():
            mark = build_tag("mark", text[begin:end], class_=class_)
            pieces[index] = escape(text[:begin]) + mark + escape(text[end:])
    return Html(html[:start] + "".join(pieces))


def list_letters(texts: Sequence[str]) -> tuple[str, list[Place]]:
    """Return the letters and digits of texts, in one case, and the place of each."""
    letters: list[str] = []
    places: list[Place] = []
    for piece, text in enumerate(texts):
        for match in _WORD_LETTERS.finditer(text):
            folded = match[0].casefold()
            letters.append(folded)
            places += [Place(piece, match.start())] * len(folded)
    return "".join(letters), places
