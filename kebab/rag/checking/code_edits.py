"""Builds the edits of fenced blocks: markers and marks stand on a line of their own after them."""

from collections.abc import Iterator, Sequence

from kebab.rag.checking.code_blocks import CodeCheck
from kebab.rag.checking.edited_text import Edit
from kebab.rag.checking.markers import MarkerSpan


def edit_block(
    text: str, check: CodeCheck, tail: Sequence[MarkerSpan], mark: str | None
) -> Iterator[Edit]:
    """Yield the edits of a block; its code stays as it is, except for markers inside.

    Args:
        text: The answer.
        check: The check of the block.
        tail: The markers after it.
        mark: What follows an unsupported block, or nothing.
    """
    fence = check.block.fence
    markers = [one.marker for one in check.supporting]
    if not markers and mark is None:
        return
    yield from (Edit(one.start, one.end) for one in fence.inner)
    if not markers:
        yield Edit(fence.end, fence.tail, _build_line(text, check, mark or ""))
    elif [one.marker for one in tail] != markers and (tail or not check.is_covered):
        numbers = "".join(f"[{marker}]" for marker in markers)
        yield Edit(fence.end, fence.tail, _build_line(text, check, numbers))


def edit_comments(check: CodeCheck, mark: str) -> Iterator[Edit]:
    """Yield the edits that mark the unsupported comments of a block."""
    low = check.block.fence.content[0]
    for one in check.comments:
        position = low + one.span[1]
        yield Edit(position, position, f" {mark}")


def _build_line(text: str, check: CodeCheck, words: str) -> str:
    """Return a line after a block, which is closed before it, and apart from what follows."""
    fence = check.block.fence
    closing = "" if fence.is_closed else f"{_end_line(text, fence.end)}{fence.indent}{fence.sign}"
    after = text[fence.tail :]
    follows = after.startswith("\n") and after[1:2] not in {"", "\n"}
    return f"{closing}\n{fence.indent}{words}" + ("\n" if follows else "")


def _end_line(text: str, end: int) -> str:
    return "" if text[end - 1 : end] == "\n" else "\n"
