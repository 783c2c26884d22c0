"""Changes the places of candidates: of source code, of long documents, and of bare passages.

Passages of code share more words with each other than those of prose, so the first hits of a query
often come from one file, from its tests, or from the page that documents it. Where code is among
the best candidates, their order takes into account:

- the names of the file, and of the symbols and constants that a passage defines;
- the kind of file: tests, examples, copies and generated files, and documents beside code;
- the symbol that a query is, whose definition comes before its uses.

Questions over many long documents, such as the documentation of a program, have passages of similar
scores in several documents. There the best passages change places by the ranks of their documents.
A bare passage is nothing but properties, headings, definitions of links, or links to elsewhere;
another passage of the document with the same words is better. `docs/notes/search-quality.md` has
the figures.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath

from kebab.core.chunks import DocId, DocNumber, Key, KeyedScore, is_front_matter
from kebab.core.media import is_code
from kebab.core.queries import StoredChunk
from kebab.search.lexical import find_code_words
from kebab.search.query_parser import ParsedQuery, is_identifier
from kebab.search.ranking import BOOSTED_LIMIT, Scores, select_best
from kebab.search.snippet import PassageCache
from kebab.text.normalize import split_names
from kebab.text.tokenizer import collect_tokens

CODE, DOCUMENTS, BARE, SECTION = "code", "documents", "bare", "section"
"""The names of the boosts."""

_LIMIT, _SAMPLE = 100, 30
"""So many of the best candidates are ordered, when code is among so many of them."""

_PATH = 0.6
"""The weight of the words of the query in the name of the file."""

_NAMED, _NAMES = 0.7, 0.5
"""The weight of the words of the query in the best of the names that a passage of code defines, and
in all of them."""

_ABBREVIATED, _LEAST_LETTERS = 0.8, 3
"""The weight of a word whose beginning is in a name, as `max` for maximum, and its least length."""

_RELATED = 0.5
"""The weight of a word in whose place a name has another one, as `lease` for lock."""

_DEFINITION = 1.0
"""What a definition gains when the query is its name."""

_ASIDE, _DOCUMENT = 0.3, 0.7
"""The weight of tests, examples and copies, and of what is no code where most of the rest is."""

_MOSTLY = 0.5
_SYMBOL_WORDS, _LONGEST_NAME = 2, 100
_KINDS = split_names(
    "class def enum fn func function interface macro method module protocol struct trait type"
)
CONSTANT = (
    r"(?m)^[ \t]*(?:(?P<macro>#[ \t]*define[ \t]+)|(?P<words>(?:[\w\[\]*&?]+[ \t]+)*))[*&]*"
    r"(?P<name>\w{4,})(?(macro)[ \t]+\S"
    r"|(?:\[\w*\])?(?:[ \t]*:[^=\n(]{1,60})?[ \t]*=(?![=>])).*"
)
"""A line that gives a value to a name, and the words before the name."""

_EDGES = ".,:;#>-()[]{}?!\"'`"
_ASIDE_PATH = (
    r"(?:^|/)(?:tests?|specs?|t|e2e|testing|testdata|fixtures?|mocks?|__tests__|__mocks__|examples?"
    r"|samples?|demos?|bench(?:es|marks?)?|vendor|third_?party|node_modules|dist|generated)/"
    r"|(?:^|/)(?:test_[^/]*|tests?|conftest)\.\w+$"
    r"|(?:[._-](?:tests?|specs?|bench|pb2?|min|generated)|[a-z]Tests?)(?:\.\w+)+$"
)
_TEST_NAME, _TEST_MARK = r"tests?|test_\w+|Test[A-Z_]\w*", "#[test]"
"""The name of a symbol that is a test, and what Rust writes above one."""

_LICENCE, _COMMENT = r"(?i)copyright|licen[cs]e|warrant(?:y|ies)", r"\s*(?://|#(?!\w)|/?\*|--|;|%)"
_ASIDE_WORDS = (
    r"(?i)\b(?:tests?|testing|specs?|fixtures?|mocks?|examples?|samples?|demos?|bench(?:mark(?:s|ing)?)?"
    r"|vendor(?:ed)?|generated)\b"
)
_DOCUMENT_WORDS = (
    r"(?i)\b(?:how (?:to|do (?:i|we|you)|can (?:i|we|you)|should)|can i|should i|what is|what are"
    r"|docs?|documentation|documented|guides?|tutorials?|readme|manual|chang(?:es|elog)|release"
    r"|licen[cs]e|migrat\w+|upgrad\w+|contribut\w+|install\w*)\b"
)
"""Questions of a person who uses the software, and words for its documents.

The patterns are compiled on first use, because few searches find code.
"""


def order_code(
    ranked: Sequence[KeyedScore],
    parsed: ParsedQuery,
    rarities: Mapping[str, float],
    spread: Scores,
    passages: PassageCache,
    *,
    is_named: bool = False,
) -> dict[Key, float]:
    """Return the best candidates in the order of `weigh_passages`; nothing where no code is found.

    The first one gets the score that the first one had, and so on: the calibration was fitted to
    the evidence at each rank. `spread` is what the diversity penalty added to the scores. It does
    not count here: a file of code has passages on many matters. `is_named` says that the query is
    the name of the first document.
    """
    if not ranked or ranked[0][1] <= 0:
        return {}
    sample = passages.load_chunks([key for key, _ in ranked[:_SAMPLE]])
    if not any(is_code(chunk.media) for chunk in sample):
        return {}
    wide = {key: score - spread.get(key, 0.0) for key, score in ranked[:BOOSTED_LIMIT]}
    chunks = passages.load_chunks(select_best(wide, _LIMIT))
    named = sample[0] if is_named and not is_code(sample[0].media) else None
    weights = weigh_passages(chunks, wide, parsed.plain, rarities, named)
    order = dict.fromkeys((*select_best(weights), *wide))
    return dict(zip(order, (score for _, score in ranked), strict=False))


def has_mostly_code(chunks: Sequence[StoredChunk]) -> bool:
    """Return whether more than half of some passages are code."""
    return sum(is_code(chunk.media) for chunk in chunks) > _MOSTLY * len(chunks)


def list_symbols(query: str) -> list[str]:
    """Return the names of symbols that a short query may be: `get` of `Router.get`, or `Router`."""
    words = [word.strip(_EDGES) for word in query.split(maxsplit=_SYMBOL_WORDS)]
    if len(words) > _SYMBOL_WORDS:
        return []
    words = [word for word in words if word not in _KINDS] or words
    fitting = (
        word
        for word in words
        if len(word) <= _LONGEST_NAME and (len(words) == 1 or is_identifier(word))
    )
    return [name for word in fitting if (name := _split_parts(word)[-1])]


def weigh_passages(
    chunks: Sequence[StoredChunk],
    scores: Scores,
    query: str,
    rarities: Mapping[str, float],
    named: StoredChunk | None = None,
) -> dict[Key, float]:
    """Return the weight of each passage, by which they are ordered.

    `rarities` are those of the terms of the query. `named` is a passage of the note whose name the
    query is. It gains what a definition does where the query names no symbol.
    """
    scores = {chunk.key: max(0.0, scores[chunk.key]) for chunk in chunks}
    best = max(scores.values()) or 1.0
    files = {chunk.doc_id: chunk for chunk in chunks}
    code = {file for file, chunk in files.items() if is_code(chunk.media)}
    of_code = sum(scores[chunk.key] for chunk in chunks if chunk.doc_id in code)
    mostly_code = of_code > _MOSTLY * sum(scores.values())
    symbols = list_symbols(query)
    definitions = {
        chunk.key for chunk in chunks if chunk.doc_id in code and is_definition(chunk, symbols)
    }
    is_symbol = bool(definitions) or (bool(symbols) and is_identifier(query))
    gains: dict[DocId, float] = {}
    for file in () if is_symbol else code:
        stem = PurePosixPath(files[file].path).name.partition(".")[0]
        gains[file] = _PATH * _measure_held(stem, rarities)
    weights: dict[Key, float] = {}
    for chunk in chunks:
        file, factor = chunk.doc_id, weigh_kind(chunk, query, mostly_code=mostly_code)
        gain = gains.get(file, 0.0)
        if file in code and not is_symbol:
            gain += _measure_defined(chunk, rarities)
        if factor < 1 and file not in code and not is_symbol:
            heading = chunk.heading_path[-1] if chunk.heading_path else chunk.title
            factor += (1 - factor) * _measure_held(heading, rarities)
        weights[chunk.key] = (scores[chunk.key] / best + gain) * factor
        weights[chunk.key] += _DEFINITION * factor * (chunk.key in definitions)
    if named is not None and not is_symbol:
        weights[named.key] += _DEFINITION
    return weights


def weigh_kind(chunk: StoredChunk, query: str, *, mostly_code: bool) -> float:
    """Return the factor of a passage by its kind and by that of its file, from 0 to 1.

    `mostly_code` says that most of what was found is code. Tests also stand beside other code, and
    above it its licence.
    """
    code = is_code(chunk.media)
    aside = (code or mostly_code) and re.search(_ASIDE_PATH, chunk.path) is not None
    if code and not aside:
        tests = (re.fullmatch(_TEST_NAME, name) for name in chunk.heading_path)
        aside = _TEST_MARK in chunk.text or any(tests)
    aside = aside and re.search(_ASIDE_WORDS, query) is None
    if re.search(_DOCUMENT_WORDS, query):
        return _ASIDE if aside else 1.0
    factor = _ASIDE if aside or is_licence(chunk) else 1.0
    return factor if code or not mostly_code else factor * _DOCUMENT


def is_licence(chunk: StoredChunk) -> bool:
    """Return whether a passage of code is the comment above it that names its licence."""
    if not is_code(chunk.media) or chunk.heading_path or not re.search(_LICENCE, chunk.text):
        return False
    lines = [line for line in chunk.text.split("\n") if line.strip()]
    return sum(bool(re.match(_COMMENT, line)) for line in lines) > _MOSTLY * len(lines)


def is_heading_in(chunk: StoredChunk, parsed: ParsedQuery) -> bool:
    """Return whether the symbol or the section of a passage has a word of the query as its name."""
    heading = chunk.heading_path[-1] if chunk.heading_path else ""
    names = {name.strip(_EDGES).casefold() for name in (heading, _split_parts(heading)[-1])}
    return any(word.strip(_EDGES).casefold() in names - {""} for word in parsed.words)


def is_definition(chunk: StoredChunk, symbols: Sequence[str]) -> bool:
    """Return whether a passage of code defines one of some symbols, functions in whatever case."""
    if not symbols:
        return False
    if not chunk.heading_path:
        return any(one["name"] in symbols for one in re.finditer(CONSTANT, chunk.text))
    own = _split_parts(chunk.heading_path[-1])[-1].casefold()
    return not chunk.context and own in map(str.casefold, symbols)


def _measure_defined(chunk: StoredChunk, rarities: Mapping[str, float]) -> float:
    """Return the weight of the query in the names of the symbols and constants of a passage."""
    constants = {one["name"] for one in re.finditer(CONSTANT, chunk.text)}
    held = _measure_held(" ".join((*chunk.heading_path, *constants)), rarities)
    names = {*chunk.heading_path[-1:], *constants} if held else ()
    best = max((_measure_held(name, rarities) for name in names), default=0.0)
    return _NAMED * best + _NAMES * held


def _split_parts(name: str) -> list[str]:
    return re.split(r"\.|::|#|->", name)


def _measure_held(name: str, rarities: Mapping[str, float]) -> float:
    """Return the share of the query, by rarity, that is in the name of a file or in a heading."""
    tokens = collect_tokens(name)
    begun = tuple(token for token in tokens if len(token) >= _LEAST_LETTERS)
    held = 0.0
    for term, weight in rarities.items():
        if term in tokens:
            held += weight
        elif term.startswith(begun):
            held += _ABBREVIATED * weight
        elif not tokens.isdisjoint(find_code_words(term)):
            held += _RELATED * weight
    return held / (sum(rarities.values()) or 1.0)


_MERGED = 20
"""How many of the best candidates are compared by their documents."""

_DAMPING = 10
"""A rank r counts 1 / (r + 10): reciprocal rank fusion (Cormack et al., SIGIR 2009)."""

_MANY_DOCUMENTS, _LONG = 100, 2
"""How many documents the candidates have at least, and how many candidates each has on average.

Of few documents a reader wants passages, and of short ones a rank says what the score says.
"""


def order_documents(
    ranked: Sequence[KeyedScore],
    channels: Sequence[Sequence[KeyedScore]],
    passages: PassageCache,
) -> dict[Key, float]:
    """Return the best candidates, where the first ones of the documents have changed places.

    A document gets the sum of its reciprocal ranks: by the best of its passages in the present
    order and in each channel. Nothing is returned where documents are few or short.
    """
    owners = passages.find_doc_numbers([key for key, _ in ranked])
    count = len({*owners.values()})
    if count < _MANY_DOCUMENTS or len(owners) < _LONG * count:
        return {}
    votes: defaultdict[DocNumber, float] = defaultdict(float)
    for found in (ranked, *channels):
        documents = dict.fromkeys(owners[key] for key, _ in found if key in owners)
        for rank, document in enumerate(documents, start=1):
            votes[document] += 1 / (_DAMPING + rank)
    best = [key for key, _ in ranked[:_MERGED]]
    firsts: dict[DocNumber, Key] = {}
    for key in best:
        firsts.setdefault(owners[key], key)
    leading = {*firsts.values()}
    order = iter(sorted(firsts, key=votes.__getitem__, reverse=True))
    moved = [firsts[next(order)] if key in leading else key for key in best]
    return dict(zip(moved, (score for _, score in ranked), strict=False))


def order_sections(
    ranked: Sequence[KeyedScore], words: Iterable[str], passages: PassageCache
) -> dict[Key, float]:
    """Return the first candidates, before them the section of a document about a name of the query.

    Sections that only use a name, such as that of an option, often have it more often.
    """
    names = {word.strip(_EDGES) for word in words if is_identifier(word.strip(_EDGES))}
    first = passages.load_chunks([key for key, _ in ranked[: _READ if names else 0]])
    headed = [one for one in first if one.heading_path and not is_code(one.media)]
    about = [one for one in headed if one.heading_path[-1].strip(_EDGES) in names]
    if not about or about[0] is first[0]:
        return {}
    same = (one for one in about if one.heading_path == about[0].heading_path)
    start = min((one for one in same if one.doc_id == about[0].doc_id), key=lambda one: one.ordinal)
    order = [start.key, *(one.key for one in first[: first.index(start)])]
    return dict(zip(order, (score for _, score in ranked), strict=False))


_BARE_LIMIT, _READ, _OTHERS = 300, 50, 8
"""How many candidates are compared, how many of the first are read, and how many others of the
document of a bare one."""

_is_heading = re.compile(r"[ \t]*(?:#{1,6}[ \t]|\[[^\]\n]+\]:)").match
"""A heading, or a definition of a link."""

_is_rule = re.compile(r"[=~^-]{3,}[ \t]*").fullmatch
"""The line below a heading."""

_LINK = re.compile(r"\[\[[^\[\]]*\]\]|!?\[[^\[\]]*\]\([^()]*\)")
_has_letter = re.compile(r"[^\W\d_]").search


def is_bare(chunk: StoredChunk) -> bool:
    """Return whether a passage has no text of its own."""
    if is_front_matter(chunk.ordinal, chunk.text):
        return True
    lines = chunk.text.split("\n")
    return not any(
        _has_letter(_LINK.sub("", line)) and not _is_heading(line) and not _is_rule(below)
        for line, below in zip(lines, (*lines[1:], ""), strict=True)
    )


def order_bare(
    ranked: Sequence[KeyedScore], parsed: ParsedQuery, passages: PassageCache
) -> dict[Key, float]:
    """Return the best candidates, where bare ones have changed places; nothing without any.

    A bare one gets the place and the score of the best later passage of its document that holds the
    same terms of the query.
    """
    best = list(ranked[:_BARE_LIMIT])
    bare = [one for one in passages.load_chunks([key for key, _ in best[:_READ]]) if is_bare(one)]
    if not bare:
        return {}
    places = {key: place for place, (key, _) in enumerate(best)}
    owners = passages.find_doc_numbers([*places])
    terms = {term.text for term in parsed.terms}
    for chunk in bare:
        place = places[chunk.key]
        later = [key for key, _ in best[place + 1 :] if owners.get(key) == owners.get(chunk.key)]
        held = passages.tokenize_passage(chunk) & terms
        for other in passages.load_chunks(later[:_OTHERS]):
            if not is_bare(other) and held <= passages.tokenize_passage(other):
                second = places[other.key]
                scores = best[place][1], best[second][1]
                best[place], best[second] = (other.key, scores[0]), (chunk.key, scores[1])
                places[chunk.key], places[other.key] = second, place
                break
    return dict(best)
