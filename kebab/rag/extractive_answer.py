"""Builds an extractive answer: ranks the sentences of the evidence, and quotes the best ones.

The score of a sentence combines three features: the share of the question's keywords in it (half
of it counted without its headings, half with them), its late interaction with the question (each
token of the question looks for its nearest token in the sentence, which is embedded with title and
headings, like passages), and the score of its passage relative to the best passage. The best quote
comes first. `docs/notes/search-quality.md` has the figures.

Features of the score that gained .006 or less over five folds of articles are left out: cues of the
kind of question (names for `who`, numbers for `how many`), the words of neighbouring sentences, the
length, the rank of the passage, and the position of the sentence in it. Whether the best quote has
the key terms of the question is checked afterwards.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter

from msgspec import Struct
from msgspec.structs import replace

from kebab.core.answers import Evidence, Quote, SupportingQuote
from kebab.core.chunks import build_embed_text
from kebab.core.ids import Key
from kebab.core.ports import Embedder
from kebab.core.queries import Page
from kebab.errors.catalog import DependencyMissing, EmbeddingUnavailable, TimedOut
from kebab.rag.engine import DraftAnswer, check_quote, locate_terms
from kebab.rag.quote_units import CodeBlock, find_code_blocks, find_quote_units
from kebab.search.answerability import compute_relative_evidence
from kebab.search.rerank import compare_tokens
from kebab.search.snippet import compute_coverage, weigh_keywords
from kebab.text.lazy_pattern import compile_lazily
from kebab.text.model_input import escape_text
from kebab.text.tokenizer import collect_all_tokens, collect_tokens
from kebab.wire.ask import AnswerEvent

_WORD_WEIGHT, _MEANING_WEIGHT, _PASSAGE_WEIGHT = 0.25, 0.60, 0.25
_WEIGHT_BY_WORDS = _WORD_WEIGHT + _PASSAGE_WEIGHT

MAX_EMBEDDED = 12
"""The most sentences that are compared by meaning, the best by words first.

With 24 as many first quotes are right on SQuAD 2 (167 questions) and JaQuAD (72), and so is any
quote; with 8 any quote is right for one and two fewer.
"""

_MIN_RELATIVE_SCORE = 0.5
"""A sentence below this share of the best score is not quoted.

The limit loses nothing on SQuAD 2 and .002 on JaQuAD; .6 loses .012 there.
"""

_MIN_SHARE = 0.3
"""A further quote holds this part of the keywords of the best one.

With .6, any quote is right for .858 instead of .875 of 120 questions of SQuAD 2.
"""

_DUPLICATE_OVERLAP = 0.8
"""Two sentences are duplicates when they share this part of their tokens."""


class ScoredSentence(Struct, frozen=True, kw_only=True):
    """A sentence at [start, end) of its chunk's text, and its score from 0 to 1.

    `factor` tells how well it stands alone; it is part of the score. `nearness` is how near each
    term of the question comes to a token of it; None without vectors.
    """

    passage: Evidence
    start: int
    end: int
    score: float
    factor: float = 1.0
    nearness: Mapping[str, float] | None = None

    @property
    def text(self) -> str:
        """The verbatim text."""
        return self.passage.chunk.text[self.start : self.end]


def rank_sentences(
    question: str,
    passages: Sequence[Evidence],
    asked: Mapping[str, float],
    embedder: Embedder | None,
    limit: int,
) -> list[ScoredSentence]:
    """Return the best sentences without duplicates, best first.

    `asked` are the weights of the terms of the question. Without an embedder only words count.
    """
    keywords = weigh_keywords(asked)
    best = max((passage.score for passage in passages), default=0.0)
    candidates: list[ScoredSentence] = []
    for passage in passages:
        chunk, passage_score = passage.chunk, compute_relative_evidence(passage.score, best)
        context = collect_all_tokens((chunk.title, *chunk.heading_path))
        for unit in find_quote_units(chunk, passage.start, passage.start + len(passage.text)):
            own = collect_tokens(chunk.text[unit.start : unit.end])
            shares = (compute_coverage(keywords, one) for one in (own, own | context))
            score = _WORD_WEIGHT * sum(shares) / 2 + _PASSAGE_WEIGHT * passage_score
            candidates.append(
                ScoredSentence(
                    passage=passage,
                    start=unit.start,
                    end=unit.end,
                    score=score * unit.form.value / _WEIGHT_BY_WORDS,
                    factor=unit.form.value,
                )
            )
    candidates.sort(key=lambda one: -one.score)
    if embedder is not None and embedder.supports(question):
        candidates = _compare_meaning(question, candidates[:MAX_EMBEDDED], embedder)
        candidates.sort(key=lambda one: -one.score)
    return list(_select_distinct(candidates, keywords, limit))


def _compare_meaning(
    question: str, candidates: list[ScoredSentence], embedder: Embedder
) -> list[ScoredSentence]:
    """Return the candidates with their late interaction, or unchanged when the model fails."""
    known: dict[Key, str] = {}
    for position, one in enumerate(candidates):
        if embedder.supports(one.text):
            chunk, text = one.passage.chunk, " ".join(one.text.split())
            known[Key(position)] = build_embed_text(chunk.title, chunk.heading_path, text)
    try:
        (asked,) = embedder.embed_tokens([question], as_query=True)
        tokens = dict(zip(known, embedder.embed_tokens(list(known.values())), strict=True))
    except (DependencyMissing, EmbeddingUnavailable, TimedOut):
        return candidates
    tokens = {key: found for key, found in tokens.items() if len(found.spans)}
    if not tokens or not len(asked.spans):
        return candidates
    cosines = compare_tokens(asked, tokens)
    places = {
        term: [
            index for index, (first, last) in enumerate(asked.spans) if first < end and start < last
        ]
        for term, start, end in locate_terms(question)
    }
    return [
        replace(
            one,
            score=one.score * _WEIGHT_BY_WORDS
            + _MEANING_WEIGHT * float(cosines[key].mean()) * one.factor,
            nearness={term: float(cosines[key][at].mean()) for term, at in places.items() if at},
        )
        if (key := Key(position)) in cosines
        else one
        for position, one in enumerate(candidates)
    ]


def _select_distinct(
    candidates: Sequence[ScoredSentence], keywords: Mapping[str, float], limit: int
) -> Iterator[ScoredSentence]:
    """Yield the best candidate, and the next ones that are no copies and hold some keywords.

    The sentence before or after a quoted one belongs to its quote.
    """
    distinct: list[tuple[ScoredSentence, frozenset[str]]] = []
    quoted: list[ScoredSentence] = []
    least = 0.0
    for one in candidates:
        if len(distinct) == limit or one.score < _MIN_RELATIVE_SCORE * candidates[0].score:
            return
        tokens = collect_tokens(one.text)
        if any(
            (
                one.passage.chunk.key == other.passage.chunk.key
                and one.start < other.end
                and other.start < one.end
            )
            or (len(tokens & words) >= _DUPLICATE_OVERLAP * len(tokens | words))
            for other, words in distinct
        ):
            continue
        distinct.append((one, tokens))
        sentence = replace(one, score=min(1.0, one.score))
        share = compute_coverage(keywords, tokens)
        pairs = (sorted((sentence, other), key=attrgetter("start")) for other in quoted)
        if share >= least or any(is_adjacent(*pair) for pair in pairs):
            least = least if quoted else _MIN_SHARE * share
            quoted.append(sentence)
            yield sentence


def quote_passages(
    question: str,
    page: Page,
    *,
    embedder: Embedder | None,
    sentences: int,
    report: Callable[[AnswerEvent], None],
) -> DraftAnswer:
    """Return the best sentences as quotes; nothing when they lack a word that is asked for.

    A rare word that none of the passages holds is one.
    """
    passages = [
        Evidence(marker=hit.rank, chunk=hit.chunk, text=hit.chunk.text, score=hit.score)
        for hit in page.hits
    ]
    found = rank_sentences(question, passages, page.term_rarities, embedder, sentences)
    if not found:
        return DraftAnswer(refusal="score_gate")
    text, citations = format_quotes(found)
    best = citations[0].quote  # the best sentence, and those beside it that are quoted too
    doubts = check_quote(question, page.term_rarities, best, found[0].nearness)
    if any(one.term in {*page.unheld_terms, *page.absent_terms} for one in doubts):
        unfound = tuple(one._replace(kind="term_not_found").to_warning() for one in doubts)
        return DraftAnswer(refusal="score_gate", warnings=unfound)
    report(AnswerEvent(type="token", delta=text))
    return DraftAnswer(
        text=text,
        citations=citations,
        used=len({citation.quote.chunk.key for citation in citations}),
        warnings=tuple(one.to_warning() for one in doubts),
        uncertain=bool(doubts),
    )


_QUOTE_PREFIX = compile_lazily(r"\n[ \t]*(?:>[ \t]?)+")
_LINE_BREAK = compile_lazily(r"[ \t]*(?:\n[ \t]*(?:>[ \t]?)*)?")
_CELL_BORDER = compile_lazily(r"(?<!\s)\s*+(?<!\\)\|\s*")
_MARKERS = compile_lazily(r"[\[\u3010]([#^]?\d{1,3})[\]\u3011]")
_LINK = compile_lazily(
    r"(?P<code>(?P<ticks>`{1,20}+)[^`\n]++(?P=ticks))"
    r"|!?\[\[(?:[^\[\]|\n]*\|)?(?P<page>[^\[\]|\n]+)\]\]"
    r"|(?<![A-Za-z0-9_\]])!?\[(?P<label>[^\[\]\n]*)\](?:\((?:[^()\n]|\([^()\n]*\))*\)|\[[^\[\]\n]*\])"
)
"""A code span, a wiki link, or a link with a target or a reference."""

_OPENING_FENCE = compile_lazily(r"\n[ \t>]*`{3,}\{[\w-]+\}[^\n]*\s*\Z")
_ROLE = compile_lazily(r"(?:\{[\w:+-]+\}|(?<!\w):[\w:+-]+:)(?=`[^`\n]+`)")
"""The name of a role in MyST or reStructuredText: what follows is its text."""

_TICKS = compile_lazily("`+")
_MAX_NESTED = 2
"""The label of a link may be an image, which is a link in itself."""


def format_quotes(sentences: Sequence[ScoredSentence]) -> tuple[str, tuple[SupportingQuote, ...]]:
    """Return the answer in Markdown, and the citation of every marker in it.

    The best quote comes first. Adjacent sentences become one quote, with the score of the better
    one. Code stays in a fence. Markers count from 1.
    """
    groups: list[list[ScoredSentence]] = []
    for one in sorted(sentences, key=lambda one: (one.passage.chunk.key, one.start)):
        if groups and is_adjacent(groups[-1][-1], one):
            groups[-1].append(one)
        else:
            groups.append([one])
    ranks = {id(one): rank for rank, one in enumerate(sentences)}
    groups.sort(key=lambda group: min((-one.score, ranks[id(one)]) for one in group))
    quotes = [
        Quote(chunk=group[0].passage.chunk, start=group[0].start, end=group[-1].end)
        for group in groups
    ]
    bullet = "- " if len(quotes) > 1 else ""
    text, supports = "", []
    for marker, quote in enumerate(quotes, start=1):
        text += ("\n" if text else "") + bullet
        start = len(text)
        # Prose in quotation marks, code at its end fenced.
        block = next(reversed(find_code_blocks(quote.text)), None)
        prose = _flatten(_OPENING_FENCE.sub("", quote.text[: block.start]) if block else quote.text)
        if block is None:
            lines = [f"{_add_quotation_marks(prose)} [{marker}]"]
        elif not prose:
            lines = [*_fence_code(block), f"[{marker}]"]
        else:
            lines = [f"{_add_quotation_marks(prose)} [{marker}]", "", *_fence_code(block)]
        indent = " " * len(bullet)
        text += "\n".join([lines[0], *(indent + line if line else "" for line in lines[1:])])
        supports.append(SupportingQuote(marker=marker, quote=quote, spans=((start, len(text)),)))
    return text, tuple(supports)


def is_adjacent(before: ScoredSentence, one: ScoredSentence) -> bool:
    """Return whether a sentence follows another one in a paragraph, and not in a table."""
    chunk = one.passage.chunk
    if before.passage.chunk.chunk_id != chunk.chunk_id or before.text.startswith("|"):
        return False
    if find_code_blocks(before.text):
        return False
    return _LINE_BREAK.fullmatch(chunk.text[before.end : one.start]) is not None


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
        labels = _LINK.sub(lambda one: one["code"] or one["page"] or one["label"] or "", labels)
    return labels if labels.strip() else line


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
