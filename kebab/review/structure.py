"""Reads the structure of a Markdown page with another parser than that of reviews.

Fixes and translations are written only where the structure stays.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from markdown_it.token import Token

_T = TypeVar("_T")
_SIGNS = re.compile(r"\[\^[^\[\]\s]++\]|(?<!\\)\|")
"""Footnotes, which the parser does not know, and the borders of cells, which it evens out."""
_EMPHASIS = frozenset({"em_open", "strong_open", "s_open"})
_CODE_BLOCKS = frozenset({"fence", "code_block", "html_block"})
_CODE = frozenset({"code_inline", "html_inline"})


class PageStructure(NamedTuple):
    """What must not get lost in a page.

    Attributes:
        blocks: The blocks in order, such as headings with their level and cells of tables.
        code: The contents of the blocks of code and of HTML, in order.
        inline: How often each code span, tag, footnote and border of a cell occurs.
        links: How often each target of a link or an image occurs.
        emphasis: How many parts are emphasised.
    """

    blocks: tuple[str, ...]
    code: tuple[str, ...]
    inline: Counter[str]
    links: Counter[str]
    emphasis: int


def read_structure(text: str) -> PageStructure:
    """Return the structure of a page."""
    from markdown_it import MarkdownIt

    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
    flat = list(_flatten(tokens))
    links: Counter[str] = Counter(
        str(one.attrs["href" if one.type == "link_open" else "src"])
        for one in flat
        if one.type in {"link_open", "image"}
    )
    return PageStructure(
        blocks=tuple(f"{one.type} {one.tag}" for one in tokens),
        code=tuple(one.content for one in tokens if one.type in _CODE_BLOCKS),
        inline=Counter(
            [*(one.content for one in flat if one.type in _CODE), *_SIGNS.findall(text)]
        ),
        links=links,
        emphasis=sum(one.type in _EMPHASIS for one in flat),
    )


def _flatten(tokens: "Sequence[Token]") -> "Iterator[Token]":
    for token in tokens:
        yield token
        yield from _flatten(token.children or ())


def keep_harmless(parts: Sequence[_T], is_harmless: Callable[[Sequence[_T]], bool]) -> list[_T]:
    """Return as many parts as possible that are harmless together, in order.

    They are halved until the harmful ones are found, so few texts are read when few are harmful.
    """
    kept: list[_T] = []
    pending = [list(parts)]
    while pending:
        some = pending.pop(0)
        if not some or is_harmless([*kept, *some]):
            kept += some
        elif len(some) > 1:
            middle = len(some) // 2
            pending[:0] = [some[:middle], some[middle:]]
    return kept
