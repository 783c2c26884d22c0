"""Formats quoted sentences as an answer in Markdown with citations."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kebab.core.answers import Evidence, Quote, SupportingQuote
from kebab.rag.code_blocks import CodeBlock, find_code_blocks
from kebab.text.prompt_text import escape_text


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredSentence:
    """A sentence at [start, end) of its chunk's text, and its score from 0 to 1.

    `nearness` is how near each term of the question comes to a token of it; None without vectors.
    """

    passage: Evidence
    start: int
    end: int
    score: float
    nearness: Mapping[str, float] | None = None

    @property
    def text(self) -> str:
        """The verbatim text."""
        return self.passage.chunk.text[self.start : self.end]


_QUOTE_PREFIX = re.compile(r"\n[ \t]*(?:>[ \t]?)+")
_LINE_BREAK = re.compile(r"[ \t]*(?:\n[ \t]*(?:>[ \t]?)*)?")
_CELL_BORDER = re.compile(r"\s*(?<!\\)\|\s*")
_MARKERS = re.compile(r"[\[\u3010]([#^]?\d{1,3})[\]\u3011]")
_LINK = re.compile(
    r"(?P<code>(?P<ticks>`+)[^`\n]+(?P=ticks))"
    r"|!?\[\[(?:[^\[\]|\n]*\|)?(?P<page>[^\[\]|\n]+)\]\]"
    r"|(?<![A-Za-z0-9_\]])!?\[(?P<label>[^\[\]\n]*)\](?:\((?:[^()\n]|\([^()\n]*\))*\)|\[[^\[\]\n]*\])"
)
"""A code span, a wiki link, or a link with a target or a reference."""

_OPENING_FENCE = re.compile(r"\n[ \t>]*`{3,}\{[\w-]+\}[^\n]*\s*\Z")
_ROLE = re.compile(r"(?:\{[\w:+-]+\}|(?<!\w):[\w:+-]+:)(?=`[^`\n]+`)")
"""The name of a role in MyST or reStructuredText: what follows is its text."""

_TICKS = re.compile("`+")
_MAX_NESTED = 2
"""The label of a link may be an image, which is a link in itself."""


def format_quotes(sentences: Sequence[ScoredSentence]) -> tuple[str, tuple[SupportingQuote, ...]]:
    """Return the answer in Markdown, and the citation of every marker in it.

    The best quote comes first. Adjacent sentences become one quote, with the score of the better
    one. Code stays in a fence. Markers count from 1.
    """
    quotes = _join_adjacent(sentences)
    bullet = "- " if len(quotes) > 1 else ""
    text, supports = "", []
    for marker, quote in enumerate(quotes, start=1):
        text += ("\n" if text else "") + bullet
        start = len(text)
        lines = _format_quote(quote.text, marker)
        indent = " " * len(bullet)
        text += "\n".join([lines[0], *(indent + line if line else "" for line in lines[1:])])
        supports.append(SupportingQuote(marker=marker, quote=quote, spans=((start, len(text)),)))
    return text, tuple(supports)


def _join_adjacent(sentences: Sequence[ScoredSentence]) -> list[Quote]:
    """Return the quotes, best first."""
    groups: list[list[ScoredSentence]] = []
    for one in sorted(sentences, key=lambda one: (one.passage.chunk.key, one.start)):
        if groups and is_adjacent(groups[-1][-1], one):
            groups[-1].append(one)
        else:
            groups.append([one])
    ranks = {id(one): rank for rank, one in enumerate(sentences)}
    groups.sort(key=lambda group: min((-one.score, ranks[id(one)]) for one in group))
    return [
        Quote(chunk=group[0].passage.chunk, start=group[0].start, end=group[-1].end)
        for group in groups
    ]


def is_adjacent(before: ScoredSentence, one: ScoredSentence) -> bool:
    """Return whether a sentence follows another one in a paragraph, and not in a table."""
    chunk = one.passage.chunk
    if before.passage.chunk.chunk_id != chunk.chunk_id or before.text.startswith("|"):
        return False
    if find_code_blocks(before.text):
        return False
    return _LINE_BREAK.fullmatch(chunk.text[before.end : one.start]) is not None


def _format_quote(text: str, marker: int) -> list[str]:
    """Return a quote with its marker as lines: prose in quotation marks, code at its end fenced."""
    block = next(reversed(find_code_blocks(text)), None)
    prose = _flatten(_OPENING_FENCE.sub("", text[: block.start]) if block else text)
    if block is None:
        return [f"{_add_quotation_marks(prose)} [{marker}]"]
    if not prose:
        return [*_fence_code(block), f"[{marker}]"]
    return [f"{_add_quotation_marks(prose)} [{marker}]", "", *_fence_code(block)]


def _fence_code(block: CodeBlock) -> list[str]:
    """Return code in a fence that is longer than any in it."""
    ticks = max(map(len, _TICKS.findall(block.code)), default=0)
    fence = "`" * max(3, ticks + 1)
    return [fence + block.language, *escape_text(block.code).split("\n"), fence]


def drop_link_targets(line: str) -> str:
    """Return a line with the labels of its links instead of the links; code stays.

    A line of nothing but links without labels is returned unchanged.
    """
    labels = line
    for _ in range(_MAX_NESTED):
        labels = _LINK.sub(_select_label, labels)
    return labels if labels.strip() else line


def _select_label(link: re.Match[str]) -> str:
    return link["code"] or link["page"] or link["label"] or ""


def _flatten(text: str) -> str:
    """Return text on one line without link targets and the syntax of tables and quotations."""
    line = " ".join(escape_text(_QUOTE_PREFIX.sub(" ", text)).split())
    line = " ".join(_ROLE.sub("", drop_link_targets(line)).split())
    if line.startswith("|"):
        cells = filter(None, _CELL_BORDER.split(line))
        line = " \u00b7 ".join(cell.replace("\\|", "|") for cell in cells)
    return _MARKERS.sub(r"(\1)", line).replace("![", "[")


def _add_quotation_marks(line: str) -> str:
    return f"\u201c{line}\u201d" if '"' in line else f'"{line}"'
