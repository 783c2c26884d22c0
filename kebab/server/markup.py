"""Builds HTML from text that is not trusted, and marks passages in it.

Only `build_tag` writes tags, and it escapes text and attributes. So `<` and `>` stand in the HTML
only where a tag begins and ends, and `mark_text` can find the text between tags.
"""

import re
from collections.abc import Iterable
from html import escape as escape_html

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
_LETTER = re.compile(r"<[^<>]*>|&#?\w+;|([^\W_])")
"""Finds letters and digits, and what has letters in HTML that are no text."""


def mark_text(html: str, wanted: str, class_: str, *, start: int = 0) -> Html | None:
    """Return HTML with a text marked from `start` on, None when it does not contain the text.

    Only letters and digits are compared, so line ends and the signs of Markdown do not matter. No
    mark crosses the border of an element.
    """
    places = [one.start() for one in _LETTER.finditer(html, start) if one[1]]
    letters = _fold(re.findall(r"[^\W_]", wanted))
    found = _fold(html[place] for place in places).find(letters) if letters else -1
    if found < 0:
        return None
    first, last = places[found], places[found + len(letters) - 1]
    marked = (
        build_tag("mark", Html(piece), class_=class_)
        if piece.strip() and not piece.startswith("<")
        else piece
        for piece in _TAG.split(html[first : last + 1])
    )
    return Html(html[:first] + "".join(marked) + html[last + 1 :])


def _fold(letters: Iterable[str]) -> str:
    """Return letters in one case, one for each."""
    return "".join(letter.lower()[0] for letter in letters)
