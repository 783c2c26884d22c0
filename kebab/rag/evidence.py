"""Formats evidence for a prompt, and packs it into the context window of a model.

Text that imitates the delimiters of the prompt or the markup of a chat template is escaped.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from kebab.core.answers import Evidence, Quote
from kebab.core.queries import Hit, Snippet
from kebab.text.prompt_text import build_digest, escape_text
from kebab.text.tokens import estimate_tokens, fit_sentences

_MARKERS = re.compile(
    r"(?<![A-Za-z0-9_)\]])(?:\[[#^]?[0-9]{1,3}\])+|(?:\u3010[#^]?[0-9]{1,3}\u3011)+"
)
_TO_PARENTHESES = str.maketrans("[]\u3010\u3011", "()()")
_SPACES = re.compile(r"\s+")


def escape_evidence(text: str) -> str:
    """Return escaped text whose own `[1]` cannot be read as citation markers either."""
    return _MARKERS.sub(lambda found: found[0].translate(_TO_PARENTHESES), escape_text(text))


def escape_line(text: str, limit: int) -> str:
    """Return escaped text on one line of at most `limit` characters."""
    line = _SPACES.sub(" ", escape_evidence(text[: 4 * limit])).strip()
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "\u2026"


_MAX_LINE = 80
"""The most characters of a title, of a heading and of a path."""
_MAX_HEADINGS = 3
_PLACEHOLDER_DIGEST = "00000000"


def format_evidence(passages: Sequence[Evidence], question: str) -> tuple[str, str]:
    """Return the name of the enclosing tag, and the passages inside it in their order."""
    parts = [(_describe_location(passage), _escape_passage(passage)) for passage in passages]
    digest = build_digest([*(text for pair in parts for text in pair), question])
    blocks = [
        _format_block(passage.marker, *pair, digest)
        for passage, pair in zip(passages, parts, strict=True)
    ]
    name = f"evidence-{digest}"
    return name, "\n".join([f"<{name}>", *blocks, f"</{name}>"])


def estimate_evidence_tokens(passage: Evidence) -> int:
    """Estimate the tokens of a passage with its tags."""
    location, text = _describe_location(passage), _escape_passage(passage)
    return estimate_tokens(_format_block(passage.marker, location, text, _PLACEHOLDER_DIGEST)) + 1


def estimate_escaped_tokens(text: str) -> int:
    """Estimate the tokens of a passage's text after escaping."""
    return estimate_tokens(escape_evidence(text))


def _format_block(marker: int, location: str, text: str, digest: str) -> str:
    return f"<passage-{digest} [{marker}]>\nFrom: {location}\n{text}\n</passage-{digest}>"


def _escape_passage(passage: Evidence) -> str:
    """Return the escaped text of a passage below the context that it lacks, e.g. a header row."""
    context = escape_evidence(passage.chunk.context)
    text = escape_evidence(passage.text)
    return f"{context}\n{text}" if context else text


def _describe_location(passage: Evidence) -> str:
    """Return title, headings, path and lines of a passage."""
    chunk = passage.chunk
    path = chunk.path if len(chunk.path) <= _MAX_LINE else "\u2026" + chunk.path[1 - _MAX_LINE :]
    end = passage.start + len(passage.text.rstrip())
    first, last = Quote(chunk=chunk, start=passage.start, end=end).lines
    lines = f"line {first}" if first == last else f"lines {first}-{last}"
    # A title that is also the first heading is shown once.
    skip = int(chunk.heading_path[:1] == (chunk.title,))
    parts = (chunk.title, *chunk.heading_path[skip:][-_MAX_HEADINGS:])
    headings = " > ".join(escape_line(part, _MAX_LINE) for part in parts if part.strip())
    return f"{headings} ({escape_line(path, _MAX_LINE)}, {lines})".lstrip()


_MIN_TEXT_TOKENS = 48
"""Tokens of text that are always sent, because the budget is an estimate."""


def pack_evidence(hits: Sequence[Hit], budget: int) -> list[Evidence]:
    """Return passages that fit a token budget with their tags, at least one if there are hits.

    A passage that does not fit is skipped for smaller ones behind it; the best one is cut instead.
    Equal texts are taken once. Documents are in the order of their best hit, passages in the order
    of the document. Markers count from 1.

    Args:
        hits: The hits, best first.
        budget: The budget from `prompt.compute_evidence_budget`.
    """
    packed: list[Evidence] = []
    for passage in _list_distinct(hits):
        fits = estimate_evidence_tokens(passage) <= budget
        if fits or not packed:
            snippet = hits[passage.marker - 1].snippet
            packed.append(passage if fits else _cut(passage, snippet, budget))
            budget -= estimate_evidence_tokens(packed[-1])
    best: dict[str, int] = {}
    for passage in packed:
        best.setdefault(passage.chunk.doc_id, passage.marker)
    packed.sort(key=lambda one: (best[one.chunk.doc_id], one.chunk.ordinal))
    return [replace(passage, marker=number) for number, passage in enumerate(packed, start=1)]


def _list_distinct(hits: Sequence[Hit]) -> Iterable[Evidence]:
    """Yield the hits without repeated texts as passages, each marked with its position."""
    seen: set[str] = set()
    for number, hit in enumerate(hits, start=1):
        words = " ".join(hit.chunk.text.split())
        if words and words not in seen:
            seen.add(words)
            yield Evidence(marker=number, chunk=hit.chunk, text=hit.chunk.text, score=hit.score)


def _cut(passage: Evidence, snippet: Snippet, budget: int) -> Evidence:
    """Return the part of a passage around its best match that fits the budget."""
    text = passage.text
    overhead = estimate_evidence_tokens(replace(passage, text=""))
    match = max(0, text.find(snippet.text))
    match += snippet.highlights[0][0] if snippet.highlights else 0
    limit = max(_MIN_TEXT_TOKENS, budget - overhead)
    start, end = fit_sentences(text, limit, match, estimate_escaped_tokens)
    return replace(passage, text=text[start:end], start=start)
