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

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from operator import attrgetter
from pathlib import PurePosixPath
from textwrap import dedent

from msgspec import Struct
from msgspec.structs import replace

from kebab.core.chunks import Key, build_embed_text
from kebab.core.ports import Embedder
from kebab.core.queries import Page, StoredChunk
from kebab.core.spelling import find_likely_name
from kebab.errors.catalog import DependencyMissing, EmbeddingUnavailable, TimedOut
from kebab.rag.engine import Doubt, DraftAnswer, check_quote, locate_terms
from kebab.rag.prompt import Evidence, Quote, SupportingQuote
from kebab.rag.values import find_facts
from kebab.search.answerability import EXPONENT
from kebab.search.rerank import compare_tokens
from kebab.search.snippet import compute_coverage, select_held, weigh_keywords
from kebab.text.language import is_function_word, iter_unit_matches, split_units
from kebab.text.model_input import escape_text
from kebab.text.normalize import compile_lazily
from kebab.text.sentences import LayoutKind, find_sentences, measure_width
from kebab.text.tokenizer import collect_all_tokens, collect_tokens, tokenize_unit
from kebab.wire.ask import AnswerEvent

_FENCE = compile_lazily(
    r"^(?P<margin>[ \t]*)(?P<ticks>`{3,}+|~{3,}+)[ \t]*+(?P<info>[^`\n]*+)\n"
    r"(?P<code>(?:.*\n)*?)[ \t]*(?P=ticks)[`~]*[ \t]*$",
    re.MULTILINE,
)
_CODE_DIRECTIVE = compile_lazily(
    r"^(?P<margin>[ \t]*)\.\.[ \t]+"
    r"(?:code|code-block|sourcecode|prompt|parsed-literal|(?:\w+:)?example)::"
    r"[ \t]*(?P<info>\S*)[^\n]*\n(?:[ \t]+:[\w-]+:[^\n]*\n)*[ \t]*\n"
    r"(?P<code>(?:(?P=margin)[ \t]+\S[^\n]*(?:\n|\Z)"
    r"|[ \t]*\n(?=(?:[ \t]*\n)*(?P=margin)[ \t]+\S))+)",
    re.MULTILINE,
)
_LITERAL = compile_lazily(
    r"(?<=[^\s:.]::\n)(?P<blank>[ \t]*\n)(?P<info>)(?P<margin>)"
    r"(?P<code>(?:(?: {2,}|\t)\S[^\n]*(?:\n|\Z)|[ \t]*\n(?=(?:[ \t]*\n)*(?: {2,}|\t)\S))+)"
)
_DIRECTIVE_NAME = compile_lazily(r"\{(?P<name>[\w-]+)\}\s*(?P<rest>\S*)")
_CODE_DIRECTIVES = frozenset({"code", "code-block", "sourcecode", "code-cell", "prompt"})
_OPTIONS = compile_lazily(r"\A(?::[\w-]+:.*(?:\n|\Z))+")
_LANGUAGE = compile_lazily(r"[A-Za-z][\w+#.-]*")


class CodeBlock(Struct, frozen=True):
    """A block at [start, end) of a text with its borders, its language and its dedented code."""

    start: int
    end: int
    language: str
    code: str


def find_code_blocks(text: str) -> list[CodeBlock]:
    """Return the code blocks of a text in order; they do not overlap."""
    found = sorted(_iter_blocks(text), key=lambda one: one.start)
    ends = [0, *(block.end for block in found)]
    return [block for block, end in zip(found, ends, strict=False) if block.start >= end]


def _iter_blocks(text: str) -> Iterator[CodeBlock]:
    if "```" in text or "~~~" in text:
        for match in _FENCE.finditer(text):
            language = _read_language(match["info"])
            if language is not None:
                yield _build_block(match, match.start(), language)
    if "::" in text:
        for match in _CODE_DIRECTIVE.finditer(text):
            yield _build_block(match, match.start(), _read_language(match["info"]) or "")
        for match in _LITERAL.finditer(text):
            line = text[text.rfind("\n", 0, match.start() - 1) + 1 : match.start()]
            if not line.lstrip().startswith(".."):  # a note or another directive
                yield _build_block(match, match.start("code"), "")


def _build_block(match: re.Match[str], start: int, language: str) -> CodeBlock:
    code = dedent(match["code"].expandtabs(4)).strip("\n")
    if "{" in match["info"]:
        code = _OPTIONS.sub("", code).lstrip("\n")
    end = start + len(match.string[start : match.end()].rstrip())
    return CodeBlock(start + len(match["margin"]), end, language, code)


def _read_language(info: str) -> str | None:
    """Return the language of a fence, empty when it names none; None when it holds no code."""
    directive = _DIRECTIVE_NAME.match(info)
    if directive is not None:
        if directive["name"] not in _CODE_DIRECTIVES:
            return None
        info = directive["rest"]
    found = _LANGUAGE.match(info.strip())
    return found[0] if found else ""


SHORTEST = 25
"""The fewest columns of a quote; Chinese, Japanese and Korean characters take two."""

_OPEN_ENDS = ("?", "？", "\u061f", ":", "：")
_CODE_SPAN = compile_lazily(r"(?P<ticks>`{1,20}+)[^`\n]++(?P=ticks)")
_IMAGE = compile_lazily(r"!\[[^\[\]\n]*+\](?:\([^()\n]*+\)|\[[^\[\]\n]*+\])")
_LINK = compile_lazily(r"\[(?P<label>[^\[\]\n]*+)\](?:\([^()\n]*+\)|\[[^\[\]\n]*+\])")
_ADDRESS = compile_lazily(r"<?https?://[^\s<>]+>?")
_NO_SENTENCE = compile_lazily(
    r"(?:\([\w.:/-]+\)="  # a label of MyST
    r"|\.\.\s+\S.*"  # a label or a directive of reStructuredText
    r"|:[\w-]+:(?:\s.*)?"  # an option of a directive
    r"|`{3,}.*|~{3,}.*|:{3,}.*"  # the border of a block
    r"|(?:!!!|\?\?\?\+?|===\+?)\s\S*(?:\s+\S*)?(?:\s*\".*\")?"  # the border of a note or of a tab
    r"|\{[:#%{].*\}"  # attributes and commands of a page generator
    r"|</?[A-Za-z][^<>]*>(?:\s*</?[A-Za-z][^<>]*>)*"  # tags alone
    r"|\[[^\]\n]+\]:\s*\S+(?:\s+[\"'(].*)?)",  # the definition of a link
    re.DOTALL,
)
_ANY_DIRECTIVE = compile_lazily(r"\.\.\s+[\w:-]+::.*")
_MIN_LETTERS = 12
"""A sentence with links and fewer other letters and digits is a list of links."""


class SentenceForm(Enum):
    """How well a sentence stands alone; the value is the factor of its score."""

    GOOD = 1.0
    POOR = 0.8
    """A question or an announcement."""
    HEADING = 0.3
    EMPTY = 0.1
    """A label, a badge, an image, a list of links, or a tag."""


def classify_form(kind: LayoutKind, text: str) -> SentenceForm:
    """Return the form of a sentence of a block of this kind."""
    if kind is LayoutKind.CODE:
        return SentenceForm.EMPTY if _ANY_DIRECTIVE.fullmatch(text) else SentenceForm.GOOD
    rest, images = _IMAGE.subn("", _CODE_SPAN.sub("code", text))
    rest, links = _LINK.subn("", rest)
    rest, addresses = _ADDRESS.subn("", rest)
    least = 1 if kind is LayoutKind.ROW else _MIN_LETTERS
    is_link_list = images + links + addresses > 0 and sum(map(str.isalnum, rest)) < least
    if is_link_list or _NO_SENTENCE.fullmatch(text):
        return SentenceForm.EMPTY
    if kind is LayoutKind.HEADING:
        return SentenceForm.HEADING
    return SentenceForm.POOR if text.endswith(_OPEN_ENDS) else SentenceForm.GOOD


def is_short(text: str) -> bool:
    """Return whether a text is too short for a quote."""
    visible = " ".join(_LINK.sub(r"\g<label>", _IMAGE.sub("", text)).split())
    return len(visible) < SHORTEST and measure_width(visible) < SHORTEST


MAX_CODE = 1200
"""The most characters of a code block in a quote; of a longer one single lines are quoted."""

_SAME_PARAGRAPH = compile_lazily(r"[ \t]*(?:\n[ \t>]*)?")
_NEXT_ITEM = compile_lazily(r"[\s>]*+(?:[-*+•]|\d{1,3}[.)]|\|)?+[ \t]*+")
"""What stands between sentences of a paragraph, and between items, rows or paragraphs."""

_BEFORE_CODE = compile_lazily(r"[\s>]*(?:`{3,}\{[\w-]+\}[^\n]*\n\s*)?")
"""White space, and the opening line of a directive that holds code in another format."""

_STANDS_ALONE = frozenset({SentenceForm.GOOD, SentenceForm.POOR})


class QuoteUnit(Struct, frozen=True):
    """A part [start, end) of a chunk's text that can be quoted."""

    start: int
    end: int
    kind: LayoutKind
    form: SentenceForm
    has_code: bool = False


def find_quote_units(chunk: StoredChunk, start: int, end: int) -> list[QuoteUnit]:
    """Return the units of a chunk that lie in [start, end) of its text, in order."""
    text = chunk.text
    units = [
        QuoteUnit(*one, classify_form(one.kind, text[one.start : one.end]))
        for one in find_sentences(text)
    ]
    joined = _join_code(text, units, find_code_blocks(text))
    units = sorted(joined, key=lambda one: (one.start, one.end))
    units = [one for one in units if start <= one.start and one.end <= end]
    if any(one.form in _STANDS_ALONE for one in units):
        units = [one for one in units if one.form in _STANDS_ALONE]
    extended: dict[tuple[int, int], QuoteUnit] = {}
    for index, one in enumerate(units):
        low, high = index, index
        while not one.has_code and is_short(text[units[low].start : units[high].end]):
            after = high + 1 < len(units) and _measure_gap(text, units[high], units[high + 1])
            before = low and _measure_gap(text, units[low - 1], units[low])
            if not after and not before:
                break
            if after and (after <= before or not before):
                high += 1
            else:
                low -= 1
        span = units[low].start, units[high].end
        extended.setdefault(span, replace(one, start=span[0], end=span[1]))
    return list(extended.values())


def _join_code(
    text: str, units: Sequence[QuoteUnit], blocks: Sequence[CodeBlock]
) -> Iterator[QuoteUnit]:
    """Yield the units; a code block becomes one unit with the sentence directly before it."""
    rest = [one for one in blocks if one.code and one.end - one.start <= MAX_CODE]
    covered = list(rest)
    for before, one in zip([None, *units], units, strict=False):
        if any(block.start <= one.start and one.end <= block.end for block in covered):
            continue
        following = next((block for block in rest if block.start >= one.end), None)
        if (
            following is None
            or one.form not in _STANDS_ALONE
            or not _BEFORE_CODE.fullmatch(text, one.end, following.start)
        ):
            yield one
            continue
        rest.remove(following)
        start = one.start
        if one.form is SentenceForm.GOOD:
            yield one
        elif before and _SAME_PARAGRAPH.fullmatch(text, before.end, one.start):
            start = before.start  # an announcement hardly says what the code is for
        yield replace(one, start=start, end=following.end, form=SentenceForm.GOOD, has_code=True)
    for block in rest:
        yield QuoteUnit(block.start, block.end, LayoutKind.CODE, SentenceForm.GOOD, has_code=True)


def _measure_gap(text: str, before: QuoteUnit, after: QuoteUnit) -> int:
    """Return 1 for neighbours in a paragraph, 2 for neighbours apart, 0 for others."""
    if before.end > after.start or before.has_code or after.has_code:
        return 0
    if _SAME_PARAGRAPH.fullmatch(text, before.end, after.start):
        return 1
    return 2 if _NEXT_ITEM.fullmatch(text, before.end, after.start) else 0


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
        chunk = passage.chunk
        # The evidence as a share of the best.
        share = (passage.score / best) ** (1 / EXPONENT) if best > 0 else 0.0
        context = collect_all_tokens((chunk.title, *chunk.heading_path))
        for unit in find_quote_units(chunk, passage.start, passage.start + len(passage.text)):
            own = collect_tokens(chunk.text[unit.start : unit.end])
            shares = (compute_coverage(keywords, one) for one in (own, own | context))
            score = _WORD_WEIGHT * sum(shares) / 2 + _PASSAGE_WEIGHT * share
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

    A rare word that no passage holds is one, unless the best quote has one spelled nearly alike.
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
    unheld, said = {*page.unheld_terms, *page.absent_terms}, split_units(best.text.lower())
    if any(one.term in unheld and not find_likely_name(one.term.lower(), said) for one in doubts):
        unfound = tuple(one._replace(kind="term_not_found").to_warning() for one in doubts)
        return DraftAnswer(refusal="score_gate", warnings=unfound)
    doubts = doubts or check_attribute(question, page.term_rarities, found)
    report(AnswerEvent(type="token", delta=text))
    return DraftAnswer(
        text=text,
        citations=citations,
        used=len({citation.quote.chunk.key for citation in citations}),
        warnings=tuple(one.to_warning() for one in doubts),
        uncertain=bool(doubts),
    )


_SUBJECT_SHARE = 0.4
"""A passage is about the subject of a question when its title, its headings and the name of its
file have this share of the weight of the key terms."""

_HELD_SHARE, _NEAR = 0.1, 0.5
"""The share of the other terms that quotes have at most when they lack what is asked for, and the
cosine from which a token of a quote stands for a term."""


def check_attribute(
    question: str, rarities: Mapping[str, float], sentences: Sequence[ScoredSentence]
) -> tuple[Doubt, ...]:
    """Return that what is quoted of the first passage is about the subject, but not what is asked.

    Names, numbers and codes belong to the subject; nothing is returned when the passage is about
    something else, as other checks compare its names.
    """
    chunk, keywords = sentences[0].passage.chunk, weigh_keywords(rarities)
    name = PurePosixPath(chunk.path).stem
    subject = collect_all_tokens((chunk.title, *chunk.heading_path, name))
    about = sum(weight for term, weight in keywords.items() if term in subject)
    if about < _SUBJECT_SHARE * sum(keywords.values()):
        return ()
    subject |= collect_all_tokens(fact.name for fact in find_facts(question)[0])
    asked = {
        term: weight
        for term, weight in keywords.items()
        if term not in subject and not is_function_word(term)
    }
    own = [one for one in sentences if one.passage.chunk.key == chunk.key]
    held = select_held(asked, collect_all_tokens((chunk.context, *(one.text for one in own))))
    near = (one.nearness or {} for one in own)
    held |= {term for one in near for term in asked if one.get(term, 0.0) >= _NEAR}
    if sum(asked[term] for term in held) > _HELD_SHARE * sum(asked.values()) or not asked:
        return ()
    lacking = asked.keys() - held
    words = (unit[0] for unit in iter_unit_matches(question))
    gaps = {
        word: sum(asked[term] for term in lacking.intersection(tokenize_unit(word.lower())))
        for word in words
    }
    return (Doubt("term_not_cited", max(gaps, key=gaps.__getitem__)),)


_QUOTE_PREFIX = compile_lazily(r"\n[ \t]*(?:>[ \t]?)+")
_LINE_BREAK = compile_lazily(r"[ \t]*(?:\n[ \t]*(?:>[ \t]?)*)?")
_CELL_BORDER = compile_lazily(r"(?<!\s)\s*+(?<!\\)\|\s*")
_MARKERS = compile_lazily(r"[\[\u3010]([#^]?\d{1,3})[\]\u3011]")
_LINKED_LABEL = compile_lazily(
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
        labels = _LINKED_LABEL.sub(
            lambda one: one["code"] or one["page"] or one["label"] or "", labels
        )
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
