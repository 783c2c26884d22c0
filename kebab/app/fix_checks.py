"""Checks that fixes do not break a page.

The page is read before and after by another Markdown parser than that of reviews: code stays as it
is, no block, no emphasis and no link is lost. The rules are applied again, too.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from os.path import lexists
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias
from urllib.parse import unquote

from kebab.core.media import MARKDOWN, detect_media_type
from kebab.wire.review import AgentItem, ItemFix

if TYPE_CHECKING:
    from markdown_it.token import Token

CountErrors: TypeAlias = Callable[[str], Counter[str]]
"""Returns the number of errors in a text by their kind."""

_EMPHASIS = frozenset({"em_open", "strong_open"})
_PAGE_SUFFIXES = ("", ".md", ".mdx", ".markdown")
"""What the target of a link may leave out."""
_CODE = frozenset({"fence", "code_block", "code_inline"})


class Edit(NamedTuple):
    """A fix with the text that it replaces."""

    item: AgentItem
    before: str


class _Profile(NamedTuple):
    """What must not get lost in a page."""

    blocks: int
    emphasis: int
    code: tuple[str, ...]
    links: Counter[str]


def keep_harmless(
    path: Path,
    text: str,
    edits: Sequence[Edit],
    apply: Callable[[Sequence[Edit]], str],
    count_errors: CountErrors | None = None,
) -> list[Edit]:
    """Return the edits that break nothing together; `apply` returns the text with some of them."""
    before = _read_profile(text) if detect_media_type(path.name) == MARKDOWN else None
    errors = count_errors(text) if count_errors else Counter()
    kept: list[Edit] = []

    def is_harmless(chosen: Sequence[Edit]) -> bool:
        after = apply(chosen)
        if before is not None and not _keeps_page(before, _read_profile(after), path, chosen):
            return False
        if count_errors is None:
            return True
        kinds = {one.item.k for one in chosen}
        found = count_errors(after)
        return all(found[kind] <= errors[kind] for kind in kinds)

    def add(some: Sequence[Edit]) -> None:
        """Keep as many as possible: all, else those of each half."""
        if is_harmless([*kept, *some]):
            kept.extend(some)
        elif len(some) > 1:
            middle = len(some) // 2
            add(some[:middle])
            add(some[middle:])

    if edits:
        add(edits)
    return kept


def _keeps_page(before: _Profile, after: _Profile, path: Path, edits: Sequence[Edit]) -> bool:
    if before.blocks != after.blocks or before.code != after.code:
        return False
    if after.emphasis < before.emphasis or after.links.total() < before.links.total():
        return False
    replaced = [unquote(one.before) for one in edits]
    for lost in before.links - after.links:
        target = unquote(lost)
        if not any(old and (old in target or target in old) for old in replaced):
            return False
    is_safe = all(isinstance(one.item.fix, ItemFix) and one.item.fix.safe is True for one in edits)
    return not is_safe or all(_exists(path, target) for target in after.links - before.links)


def _exists(path: Path, target: str) -> bool:
    """Return whether a new target is no path, or that of a file."""
    name = unquote(target.partition("#")[0].partition("?")[0])
    if not name or name.startswith("/") or ":" in name.partition("/")[0]:
        return True
    return any(lexists(f"{path.parent}/{name}{suffix}") for suffix in _PAGE_SUFFIXES)


def _read_profile(text: str) -> _Profile:
    from markdown_it import MarkdownIt

    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
    flat = list(_flatten(tokens))
    links: Counter[str] = Counter(
        str(one.attrs["href" if one.type == "link_open" else "src"])
        for one in flat
        if one.type in {"link_open", "image"}
    )
    code = tuple(one.content for one in flat if one.type in _CODE)
    emphasis = sum(one.type in _EMPHASIS for one in flat)
    return _Profile(len(tokens), emphasis, code, links)


def _flatten(tokens: "Sequence[Token]") -> "Iterator[Token]":
    for token in tokens:
        yield token
        yield from _flatten(token.children or ())
