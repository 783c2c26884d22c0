"""Counts or estimates tokens, and packs blocks into chunks that have no more than they may.

The estimate is a sum over words, so that a text of words that were seen before needs one addition
for each.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, compress, islice
from typing import NamedTuple, TypeAlias

from msgspec import Struct

from kebab.core.chunks import (
    Chunk,
    ChunkRow,
    DocId,
    build_embed_text,
    compute_digest,
    make_chunk_id,
)
from kebab.core.documents import BlockKind

_WORD = re.compile(r"[A-Za-z]+|[0-9]+")
_WIDE = re.compile(r"[\u3040-ヿ\u3400-\u4dbf\u4e00-\u9fff가-힣\U00020000-\U0003ffff]")
_CAPITALISED = re.compile(r"[A-Z]+[a-z]*")
_COMMON = "the|of|and|to|in|is|that|for|it|with|a|are|be|this"
_ENGLISH = re.compile(rf"\b(?:{_COMMON})\b")
_ENGLISH_SHARE = 0.12
_KEYWORDS = (
    "if|not|from|return|self|def|import|else|None|class|public|static|void|const|let|var|func"
    "|function|string|int|end|str|new|null|true|false|True|False"
)
_KEYWORD = re.compile(rf"\b(?:{_KEYWORDS})\b")
_CODE_FACTOR = 1.1
"""Names in code have English words, but rarer ones: so 9 of 10 pieces of 20 lines of Python and
JavaScript have no more tokens than estimated."""
_NAME = 0.8  # names are rarely in the vocabulary
_WIDE_DISCOUNT = 0.5
_ROUNDED_UP = 0.999

_COST_ENGLISH = [1.0] * 4 + [1.25] * 4 + [1.7] * 3 + [length / 4.5 for length in range(11, 16)]
_COST_OTHER = [1.0, 1.0, 1.4] + [max(1.7, length / 1.9) for length in range(3, 16)]
_PER_LETTER_ENGLISH = 1 / 2
_PER_LETTER_OTHER = 1 / 1.5

_UNIT = 3_420
"""The units of a token, chosen so that every estimate is a whole number of units."""

_BITS = 48
_FIELD = (1 << _BITS) - 1
_MAX_WORDS = 1 << 17
_MAX_WORD_CHARS = 64


def estimate_tokens(texts: Sequence[str]) -> list[int]:
    """Return an upper bound of the tokens of each text."""
    return [_estimate_text(text) for text in texts]


def _estimate_text(text: str) -> int:
    raw = text.encode("utf-8", "surrogatepass")
    words = raw.translate(_BLANK_SIGNS).decode("utf-8", "surrogatepass").split()
    signs = len(raw) - len(raw.translate(None, _SIGNS))
    total = sum(map(_FIGURES.__getitem__, words), signs * _SIGN)
    runs, english = total & _FIELD, total >> _BITS & _FIELD
    keywords = total >> _BITS * 4
    is_english = english >= _ENGLISH_SHARE * runs
    is_code = not is_english and english < 2 * keywords
    is_code = is_code and english + keywords >= _ENGLISH_SHARE * runs
    units = total >> _BITS * (2 if is_english or is_code else 3) & _FIELD
    return int(units * (_CODE_FACTOR if is_code else 1) / _UNIT + _ROUNDED_UP)


class _FigureCache(dict[str, int]):
    """Caches the figures of words; it is emptied when it is full."""

    def __missing__(self, word: str) -> int:
        if len(self) >= _MAX_WORDS:
            self.clear()
        figures = _pack_figures(word)
        if len(word) <= _MAX_WORD_CHARS:
            self[word] = figures
        return figures


_FIGURES = _FigureCache()


def _pack_figures(text: str) -> int:
    """Pack the five figures of a word into one integer, so that a text needs one sum.

    A word has no blanks, and signs only beside letters beyond ASCII.

    They are how many runs of letters or digits it has, how many of them are common in English, its
    tokens in an English text and in another, and how many runs are keywords of code.
    """
    words = [text] if text.isascii() and text.isalpha() else _WORD.findall(text)
    lengths = [*map(len, words)]
    figures = sum(map(_pack_run, lengths))
    signs = float(len(text) - sum(lengths))
    if not text.isascii():
        signs -= _WIDE_DISCOUNT * len(_WIDE.findall(text))
    if not text.islower():
        signs += _NAME * len(_CAPITALISED.findall(text))
    if not _LISTED_WORDS.isdisjoint(words):
        figures += len(_ENGLISH.findall(text)) << _BITS
        figures += len(_KEYWORD.findall(text)) << _BITS * 4
    return figures + _to_units(signs) * _BOTH if signs else figures


_LISTED_WORDS = frozenset(f"{_COMMON}|{_KEYWORDS}".split("|"))
_BOTH = 1 << _BITS * 2 | 1 << _BITS * 3
_SIGN = _UNIT * _BOTH
_SIGNS = re.sub(r"[\w\s]", "", bytes(range(128)).decode()).encode()
_BLANK_SIGNS = bytes.maketrans(_SIGNS, b" " * len(_SIGNS))


@lru_cache(maxsize=256)
def _pack_run(length: int) -> int:
    """Return the figures of a run of letters or digits."""
    is_short = length < len(_COST_ENGLISH)
    english = _COST_ENGLISH[length] if is_short else length * _PER_LETTER_ENGLISH
    other = _COST_OTHER[length] if is_short else length * _PER_LETTER_OTHER
    return 1 | _to_units(english) << _BITS * 2 | _to_units(other) << _BITS * 3


def _to_units(tokens: float) -> int:
    return round(tokens * _UNIT)


DEFAULT_LIMIT = 254
"""The window of all-MiniLM-L6-v2 without its two special tokens."""


def format_chunker_version(limit: int = DEFAULT_LIMIT) -> str:
    """Return the chunker version for a limit in tokens."""
    return f"heading-{limit}-v1"


CHUNKER_VERSION = format_chunker_version()


def build_chunk_rows(
    doc_id: DocId,
    title: str,
    chunks: Iterable[Chunk],
    chunker: str = CHUNKER_VERSION,
    seen: Counter[str] | None = None,
) -> tuple[ChunkRow, ...]:
    """Return the chunks with their ids; equal texts differ by how many were `seen` before."""
    seen = Counter() if seen is None else seen
    rows = []
    for chunk in chunks:
        text_hash = compute_digest(chunk.text)
        chunk_id = make_chunk_id(doc_id, chunker, text_hash, seen[text_hash])
        embedded = build_embed_text(title, chunk.heading_path, chunk.text, chunk.context)
        rows.append(ChunkRow(chunk, chunk_id, text_hash, compute_digest(embedded)))
        seen[text_hash] += 1
    return tuple(rows)


TokenCounter: TypeAlias = Callable[[Sequence[str]], list[int]]

_MAX_LETTERS = 1_000_000
"""How many letters of words are cached, in about ten times as many bytes."""


class WordCounter:
    """Counts tokens with another counter, which it calls once for each word."""

    def __init__(self, count: TokenCounter) -> None:
        self._count = count
        self._sizes: dict[str, int] = {}
        self._letters = 0

    def __call__(self, texts: Sequence[str]) -> list[int]:
        """Return the size of each text."""
        # Tokenizers treat white space other than spaces and line ends differently.
        cut = [text.replace("\n", " ").split(" ") for text in texts]
        if self._letters > _MAX_LETTERS:
            self._sizes, self._letters = {}, 0
        new = list(set(chain.from_iterable(cut)).difference(self._sizes))
        self._sizes.update(zip(new, self._count(new), strict=True))
        self._letters += sum(map(len, new))
        return [sum(map(self._sizes.__getitem__, words)) for words in cut]


def make_mixed_counter(
    tokenizer_count: TokenCounter, supports: Callable[[str], bool]
) -> TokenCounter:
    """Return a counter that estimates the texts which the tokenizer's model does not support."""
    counter = WordCounter(tokenizer_count)

    def count(texts: Sequence[str]) -> list[int]:
        supported = [supports(text) for text in texts]
        counted = iter(counter(list(compress(texts, supported))))
        return [
            next(counted) if is_supported else estimate_tokens([text])[0]
            for text, is_supported in zip(texts, supported, strict=True)
        ]

    return count


CHARACTERS_PER_TOKEN = 10
_MIN_ROOM = 8
_TEXTS_AT_ONCE = 1024
"""How many texts are counted in one batch: their words take a few megabytes."""


class Budget(Struct, frozen=True):
    """The maximum tokens of a chunk with its context, and the function that counts them."""

    limit: int = DEFAULT_LIMIT
    count: Callable[[Sequence[str]], list[int]] = estimate_tokens

    def measure(self, texts: Sequence[str]) -> list[int]:
        """Return the size of each text in tokens.

        An unknown word of any length may be a single token, so a text also counts at least
        one token for ten characters. A text that is too long by this alone is not counted, because
        the list of its words takes many times as much memory as the text.
        """
        sizes = [-(-len(text) // CHARACTERS_PER_TOKEN) for text in texts]
        counted = [text for text, size in zip(texts, sizes, strict=True) if size <= self.limit]
        counts = iter(self.count(counted) if counted else [])
        return [max(next(counts), size) if size <= self.limit else size for size in sizes]

    def measure_many(self, texts: Iterable[str]) -> Iterator[int]:
        """Yield the size of each text in tokens; only a batch of them is in memory at once."""
        remaining = iter(texts)
        while batch := list(islice(remaining, _TEXTS_AT_ONCE)):
            yield from self.measure(batch)


class Context(Struct, frozen=True):
    """An embedded heading path, and the tokens that it and the title leave for the text."""

    path: tuple[str, ...]
    room: int


def build_contexts(
    title: str, paths: Sequence[tuple[str, ...]], budget: Budget
) -> dict[tuple[str, ...], Context]:
    """Return the context of each path, shortened where it takes over a quarter of a chunk.

    Outer headings are dropped first, then the end of the inner one. The title always stays. The
    headings may use an eighth beside a long title while a quarter is left for the text.
    """
    unique = list(dict.fromkeys([(), *paths]))
    sizes = dict(zip(unique, _count_context_tokens(title, unique, budget), strict=True))
    quarter = budget.limit // 4
    beside_title = sizes[()] + budget.limit // 8
    max_tokens = max(quarter, min(beside_title, budget.limit - quarter))
    contexts = {}
    for path in unique:
        short, size = path, sizes[path]
        if size > max_tokens:
            short, size = _shorten(title, path, max_tokens, budget)
        contexts[path] = Context(short, max(budget.limit - size, _MIN_ROOM))
    return contexts


def _count_context_tokens(
    title: str, paths: Sequence[tuple[str, ...]], budget: Budget
) -> list[int]:
    """Return the tokens of each context, plus one where it joins the text."""
    sizes = budget.measure([build_embed_text(title, path, "") for path in paths])
    return [size + 1 if size else 0 for size in sizes]


def _shorten(
    title: str, path: tuple[str, ...], max_tokens: int, budget: Budget
) -> tuple[tuple[str, ...], int]:
    """Return the longest form of the path that has at most `max_tokens` tokens."""
    forms = [path[depth:] for depth in range(1, len(path))]
    forms += [(path[-1][:length].rstrip() + "…",) for length in (80, 40, 20)]
    forms.append(())
    sizes = _count_context_tokens(title, forms, budget)
    return next(
        (form, size)
        for form, size in zip(forms, sizes, strict=True)
        if size <= max_tokens or not form
    )


class Range(NamedTuple):
    """A range [start, end) of a document's text."""

    start: int
    end: int


Cutter = Callable[[str, Range, int], list[Range]]

_SENTENCE = re.compile(
    r"[.!?…][\"'”’)\]]*\s+|[。！？][\"'”’」』）]*\s*"
    r"|(?<=[다요죠음함])\n"
)
_GROUP = re.compile(r"\n[ \t]*\n+")
_LINE = re.compile(r"\n+")
_SPACE = re.compile(r"\s+|[,、，]")
_ITEM = re.compile(r"""(?:[}\]"\d]|true|false|null),[ \t]*(?=["{\[])|>[ \t]*(?=<\w)""")
_INDENT = re.compile(r"^[ \t]*(?=\S)", re.MULTILINE)


def _make_cutter(pattern: re.Pattern[str]) -> Cutter:
    """Return a function that cuts behind every match."""

    def cut(text: str, whole: Range, _room: int) -> list[Range]:
        return _split_at(whole, map(re.Match.end, pattern.finditer(text, *whole)))

    return cut


def _cut_items(text: str, whole: Range, _room: int) -> list[Range]:
    """Cut a list before every line that is indented no further than the first."""
    lines = list(_INDENT.finditer(text, *whole))
    outermost = len(lines[0][0]) if lines else 0
    return _split_at(whole, (line.start() for line in lines if len(line[0]) <= outermost))


def _cut_windows(text: str, whole: Range, room: int) -> list[Range]:
    """Cut into windows that certainly fit, behind a space where there is one."""
    width = max(1, min(room, whole.end - whole.start) // 4)
    ends = []
    position = whole.start
    while whole.end - position > width:
        position = _find_last_space(text, position, position + width)
        ends.append(position)
    return _split_at(whole, ends)


def _find_last_space(text: str, start: int, end: int) -> int:
    """Return the best position to cut in the second half of a window, else its end."""
    for position in range(end, (start + end) // 2, -1):
        if text[position - 1].isspace() or text[position - 1] in ",、，":
            return position
    for position in range(end, max(start, end - 8), -1):
        if not unicodedata.combining(text[position]):
            return position
    return end


def _split_at(whole: Range, ends: Iterable[int]) -> list[Range]:
    """Return the parts between cuts that lie inside the range."""
    parts, start = [], whole.start
    for end in (*ends, whole.end):
        if start < end <= whole.end:
            parts.append(Range(start, end))
            start = end
    return parts


_cut_groups, _cut_lines, _cut_values, _cut_sentences = map(
    _make_cutter, (_GROUP, _LINE, _ITEM, _SENTENCE)
)
_PROSE_CUTTERS: tuple[Cutter, ...] = (_cut_sentences, _cut_lines, _cut_windows)
_LINE_CUTTERS = (_cut_groups, _cut_lines, _cut_values, _cut_sentences, _cut_windows)
_CUTTERS = {
    BlockKind.PARAGRAPH: _PROSE_CUTTERS,
    BlockKind.HEADING: _PROSE_CUTTERS,
    BlockKind.LIST: (_cut_items, _cut_lines, _cut_sentences, _cut_windows),
}


def get_cutters(kind: BlockKind) -> tuple[Cutter, ...]:
    """Return the cutters of a block kind, the best first; the last may be repeated."""
    return _CUTTERS.get(kind, _LINE_CUTTERS)


def halve(text: str, whole: Range) -> list[Range]:
    """Return two parts, cut at the best boundary near the middle; none for a single character."""
    length = whole.end - whole.start
    if length < 2:  # noqa: PLR2004 - nothing to cut
        return []
    middle = whole.start + length // 2
    quarter = Range(whole.start + length // 4, whole.end - length // 4)
    for pattern in (_GROUP, _LINE, _ITEM, _SENTENCE, _SPACE):
        ends = [
            match.end() for match in pattern.finditer(text, *quarter) if match.end() < whole.end
        ]
        if ends:
            return _split_at(whole, [min(ends, key=lambda end: abs(end - middle))])
    return _split_at(whole, [middle])


def trim(text: str, part: Range) -> Range | None:
    """Return a part without outer blank lines and outer space, None when nothing is left.

    The indent of a whole first line stays, because it has a meaning in code.
    """
    part_text = text[part.start : part.end]
    bare = part_text.strip()
    if len(bare) == len(part_text):
        return part if bare else None
    if not bare:
        return None
    first = part.start + len(part_text) - len(part_text.lstrip())
    broken = text.rfind("\n", max(0, part.start - 1), first)
    whole_line = broken >= 0 or part.start == 0
    return Range(broken + 1 if whole_line else first, part.start + len(part_text.rstrip()))


_TINY_TOKENS = 40
MAX_GAP = 200
"""How much text between two blocks, such as a comment, may be in the range of a chunk."""


class Piece(NamedTuple):
    """A range of text with its size in tokens; `glued` keeps the next piece in its chunk."""

    where: Range
    size: int
    glued: bool = False


def pack_pieces(cells: Iterable[list[Piece]], room: int) -> Iterator[Range]:
    """Yield the ranges of chunks; each cell holds the pieces of one block.

    Every piece fits `room`.
    """
    current: Piece | None = None
    for cell in _join_headings(cells):
        total = sum(piece.size for piece in cell)
        target = total / -(-total // room) if total else 0
        parts: list[list[Piece]] = []
        size = 0
        for piece in cell:
            full = size >= target and not (parts and parts[-1][-1].glued)
            if not parts or full or size + piece.size > room:
                parts.append([])
                size = 0
            parts[-1].append(piece)
            size += piece.size
        pieces = [_join(part) for part in parts]
        if current is not None and _should_merge(current, pieces[0], room):
            pieces[0] = _join([current, pieces[0]])
        elif current is not None:
            yield current.where
        yield from (piece.where for piece in pieces[:-1])
        current = pieces[-1]
    if current is not None:
        yield current.where


def _join_headings(cells: Iterable[list[Piece]]) -> Iterator[list[Piece]]:
    """Join the cells of headings with that of the block below them."""
    waiting: list[Piece] = []
    for cell in cells:
        if waiting and _is_apart(waiting[-1], cell[0]):
            yield waiting
            waiting = []
        waiting += cell
        if not cell[-1].glued:
            yield waiting
            waiting = []
    if waiting:
        yield waiting


def _is_apart(left: Piece, right: Piece) -> bool:
    """Return whether much text that is no block, e.g. a comment, lies between two pieces."""
    return right.where.start - left.where.end > MAX_GAP


def _should_merge(left: Piece, right: Piece, room: int) -> bool:
    """Return whether two neighbours make a better chunk together than alone."""
    if _is_apart(left, right):
        return False
    total = left.size + right.size
    tiny = min(left.size, right.size) < _TINY_TOKENS
    return total <= (room if tiny else room * 0.6)


def _join(pieces: list[Piece]) -> Piece:
    where = Range(pieces[0].where.start, pieces[-1].where.end)
    return Piece(where, sum(piece.size for piece in pieces))


class ChunkDraft(NamedTuple):
    """A range of the document's text that becomes a chunk, with its heading path and its lead."""

    start: int
    end: int
    path: tuple[str, ...]
    lead: str = ""


def enforce_limit(
    text: str,
    budget: Budget,
    title: str,
    drafts: Sequence[ChunkDraft],
    find_lead: Callable[[int], str] = lambda _: "",
) -> list[ChunkDraft]:
    """Halve the drafts whose embedded text exceeds the limit, until none does.

    Token counts of parts do not always add up to that of the whole, so the packed drafts are
    counted again as they will be embedded.
    """
    unchecked = drafts = list(drafts)
    while unchecked:
        sizes = budget.measure_many(
            build_embed_text(title, path, text[start:end], lead)
            for start, end, path, lead in unchecked
        )
        halves = {
            draft: [
                ChunkDraft(part.start, part.end, draft.path, find_lead(part.start))
                for part in halve(text, Range(draft.start, draft.end))
            ]
            for draft, size in zip(unchecked, sizes, strict=True)
            if size > budget.limit
        }
        drafts = [part for draft in drafts for part in halves.get(draft) or [draft]]
        unchecked = [part for parts in halves.values() for part in parts]
    return drafts
