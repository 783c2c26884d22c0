"""Orders the passages of source code by their files.

Passages of code share more words with each other than those of prose, so the first hits of a query
often come from one file, from its tests, or from the page that documents it. Where code is among
the best candidates, their order takes into account:

- the other passages of the file that match, and the words of its name;
- the kind of file: tests, examples, copies and generated files, and documents beside code;
- the symbol that a query names, whose definition comes before its uses;
- the passages of the same file that come before.

Passages of notes keep their order. `docs/notes/search-quality.md` has the figures.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import chain
from pathlib import PurePosixPath

from msgspec import Struct

from kebab.core.chunks import KeyedScore
from kebab.core.ids import DocId, Key
from kebab.core.media import is_code, is_prose
from kebab.core.queries import StoredChunk
from kebab.search.query_parser import ParsedQuery, is_identifier
from kebab.search.ranking import Scores
from kebab.search.snippet import PassageCache
from kebab.text.normalize import split_names
from kebab.text.tokenizer import collect_tokens

NAME = "code"
"""The name of the boost."""

_LIMIT, _SYMBOL_LIMIT = 100, 200
"""How many of the best candidates are ordered; many passages use a symbol."""

_SAMPLE = 30
"""Code is ordered when it is among so many of the best candidates."""

_FURTHER = 0.5
"""The weight of a passage is halved by every better one of its file."""

_MOST_HALVED = 6
"""More passages of a file lower the weight no further."""

_SUPPORT, _SUPPORTING = 0.2, 5
"""The weight of the best passages of a file together, and their number."""

_PATH, _FOLDER = 0.6, 0.5
"""The weight of the words of the query in the name of the file, and of one in its folder."""

_DEFINITION, _MENTIONED = 1.0, 0.3
"""What a definition gains when the query is its name, and when a sentence mentions it."""

_ASIDE, _EXPORTS = 0.3, 0.5
"""The weight of tests and their like, and of files that only hand on the names of others."""

_ASIDE_DEFINITION = 0.8
"""The weight of a definition in such a file when the query is its name."""

_NOTES, _DATA, _DOCUMENT, _NAMED = 0.3, 0.5, 0.7, 0.5
"""The weight of the history of a project, of data, of a document, and of one for a name.

They count where most of what was found is code.
"""

_MOSTLY = 0.5
_SYMBOL_WORDS, _JOINED_WORDS, _MOST_WORDS = 2, 4, 64
_LONGEST_NAME = 100
_KINDS = split_names(
    "class def enum fn func function interface macro method module protocol struct trait type"
)
_EDGES = ".,:;#>-()[]{}?!\"'`"
_OTHER_CASE, _INSIDE, _QUALIFIED = 0.9, 0.9, 1.2
"""The shares of a definition in another case, of one that is not the first symbol of its passage,
and of one in the class, module or file that the query names before the dot."""

_ASIDE_PATH = (
    r"(?:^|/)(?:tests?|specs?|t|e2e|testing|testdata|fixtures?|mocks?|__tests__|__mocks__|examples?"
    r"|samples?|demos?|bench(?:es|marks?)?|vendor|third_?party|node_modules|dist|generated)/"
    r"|(?:^|/)(?:test_[^/]*|conftest)\.\w+$"
    r"|(?:[._-](?:tests?|specs?|bench|pb2?|min|generated)|[a-z]Tests?)(?:\.\w+)+$"
)
_ASIDE_WORDS = (
    r"\b(?:tests?|testing|specs?|fixtures?|mocks?|examples?|samples?|demos?|bench(?:mark(?:s|ing)?)?"
    r"|vendor(?:ed)?|generated)\b"
)
_EXPORTS_PATH = r"(?:^|/)(?:__init__\.pyi?|index\.[cm]?[jt]sx?)$"
_NOTES_PATH = (
    r"(?:^|/)(?:change(?:s|log)|history|releas\w+|news|authors|contribut\w+|code_of_conduct|security"
    r"|licen[cs]e|copying|todo|upgrad\w+|migrat\w+)[^/]*$|(?:^|/)(?:changes|releases|changelogs?)/"
)
_DOCUMENT_WORDS = (
    r"\b(?:how (?:to|do (?:i|we|you)|can (?:i|we|you)|should)|can i|should i|what is|what are"
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
    not count here, because a further passage of a file has a lower weight. `is_named` says that the
    query is the name of the first document.
    """
    if not ranked or ranked[0][1] <= 0:
        return {}
    sample = passages.load_chunks([key for key, _ in ranked[:_SAMPLE]])
    if not any(is_code(chunk.media) for chunk in sample):
        return {}
    words = QueryWords(parsed)
    best = dict(ranked[: _SYMBOL_LIMIT if words.may_be_symbol else _LIMIT])
    chunks = passages.load_chunks([*best])
    scores = {chunk.key: best[chunk.key] - spread.get(chunk.key, 0.0) for chunk in chunks}
    named = sample[0] if is_named and not is_code(sample[0].media) else None
    weights = weigh_passages(chunks, scores, words, rarities, named)
    order = sorted(weights, key=weights.__getitem__, reverse=True)
    return dict(zip(order, (best[chunk.key] for chunk in chunks), strict=True))


def has_mostly_code(chunks: Sequence[StoredChunk]) -> bool:
    """Return whether more than half of some passages are code."""
    return sum(is_code(chunk.media) for chunk in chunks) > _MOSTLY * len(chunks)


class QueryWords(Struct, frozen=True, dict=True):
    """What the words of a query say about code."""

    parsed: ParsedQuery

    @cached_property
    def identifiers(self) -> tuple[tuple[str, ...], ...]:
        """The names in the query, each as its parts: `Router.get` is `Router` and `get`."""
        words = [word.strip(_EDGES) for word in self.parsed.plain.split(maxsplit=_MOST_WORDS)]
        if len(words) == _SYMBOL_WORDS:
            words = [word for word in words if word not in _KINDS] or words
        names = [
            tuple(filter(None, _split_parts(word)))
            for word in words[:_MOST_WORDS]
            if len(word) <= _LONGEST_NAME and (len(words) == 1 or is_identifier(word))
        ]
        return tuple(filter(None, names))

    @cached_property
    def may_be_symbol(self) -> bool:
        """Whether the query may be the name of a symbol: `Router.get`, `class Router`."""
        return bool(self.identifiers) and len(self.parsed.plain.split()) <= _SYMBOL_WORDS

    @cached_property
    def joined(self) -> str:
        """The words of a short query as one name: `parse markdown` may mean `parse_markdown`."""
        words = self.parsed.plain.split()
        return _fold_name("".join(words)) if 1 < len(words) <= _JOINED_WORDS else ""

    @cached_property
    def asks_for_aside(self) -> bool:
        """Whether the query asks for tests, examples or copies."""
        return re.search(_ASIDE_WORDS, self.parsed.plain, re.IGNORECASE) is not None

    @cached_property
    def asks_for_documents(self) -> bool:
        """Whether the query asks how to use something, or for a document."""
        return re.search(_DOCUMENT_WORDS, self.parsed.plain, re.IGNORECASE) is not None


def weigh_passages(
    chunks: Sequence[StoredChunk],
    scores: Scores,
    words: QueryWords,
    rarities: Mapping[str, float],
    named: StoredChunk | None = None,
) -> dict[Key, float]:
    """Return the weight of each passage, by which they are ordered.

    `rarities` are those of the terms of the query. `named` is a passage of the note whose name the
    query is. It gains what a definition does where the query names no symbol.
    """
    scores = {key: max(0.0, score) for key, score in scores.items()}
    best = max(scores.values()) or 1.0
    by_file: defaultdict[DocId, list[float]] = defaultdict(list)
    for chunk in chunks:
        by_file[chunk.doc_id].append(scores[chunk.key])
    files = {chunk.doc_id: chunk for chunk in chunks}
    code = {file for file, chunk in files.items() if is_code(chunk.media)}
    mostly_code = sum(sum(by_file[file]) for file in code) > _MOSTLY * sum(scores.values())
    ordered = files.keys() if mostly_code else code
    definitions = {
        chunk.key: gain
        for chunk in chunks
        if chunk.doc_id in code and (gain := measure_definition(chunk, words))
    }
    is_symbol = words.may_be_symbol and (bool(definitions) or is_identifier(words.parsed.plain))
    support = {file: sum(sorted(found)[-_SUPPORTING:]) for file, found in by_file.items()}
    most = max(support.values()) or 1.0
    gains = {file: _SUPPORT * support[file] / most for file in ordered}
    if not is_symbol:
        for file in ordered:
            gains[file] += _PATH * measure_path_match(files[file].path, rarities)
    document = 1.0 if not mostly_code else _NAMED if is_symbol else _DOCUMENT
    factors = {file: weigh_file(chunk, words, document) for file, chunk in files.items()}
    weights: dict[Key, float] = {}
    for chunk in chunks:
        file, factor = chunk.doc_id, factors[chunk.doc_id]
        if factor < 1 and file not in code and not is_symbol:
            factor += (1 - factor) * measure_heading_match(chunk, rarities)
        weights[chunk.key] = (scores[chunk.key] / best + gains.get(file, 0.0)) * factor
        if chunk.key in definitions:
            weight = (
                _DEFINITION * max(factor, _ASIDE_DEFINITION) if is_symbol else _MENTIONED * factor
            )
            weights[chunk.key] += weight * definitions[chunk.key]
    if named is not None and not is_symbol:
        weights[named.key] += _DEFINITION
    seen: Counter[DocId] = Counter()
    for chunk in sorted(chunks, key=lambda chunk: -weights[chunk.key]):
        if chunk.doc_id in ordered:
            weights[chunk.key] *= _FURTHER ** min(seen[chunk.doc_id], _MOST_HALVED)
            seen[chunk.doc_id] += 1
    return weights


def weigh_file(chunk: StoredChunk, words: QueryWords, document: float) -> float:
    """Return the factor of a passage by the kind of its file, from 0 to 1.

    `document` is the factor of a document, and 1 where most of what was found is no code.
    """
    code, mostly_code = is_code(chunk.media), document < 1
    factor = 1.0
    if (code or mostly_code) and not words.asks_for_aside and re.search(_ASIDE_PATH, chunk.path):
        factor = _ASIDE
    if code:
        return factor * (_EXPORTS if re.search(_EXPORTS_PATH, chunk.path) else 1.0)
    if not mostly_code or words.asks_for_documents:
        return factor
    if re.search(_NOTES_PATH, chunk.path, re.IGNORECASE):
        return factor * _NOTES
    return factor * (document if is_prose(chunk.media) else _DATA)


def measure_definition(chunk: StoredChunk, words: QueryWords) -> float:
    """Return how well a passage of code defines a name of the query: 0 when not, about 1 when."""
    if chunk.context:
        return 0.0
    own = _split_parts(chunk.heading_path[-1])[-1] if chunk.heading_path else ""
    gain = 0.0
    for *qualifiers, name in words.identifiers:
        if own == name:
            found = 1.0
        elif own.casefold() == name.casefold():
            found = _OTHER_CASE
        elif name in chunk.text and _build_definition_pattern(name).search(chunk.text):
            found = _INSIDE  # several short symbols share a passage
        else:
            continue
        found *= _QUALIFIED if _is_within(chunk, qualifiers) else 1.0
        gain = max(gain, found)
    if not gain and words.joined and _fold_name(own) == words.joined:
        gain = 1.0
    return gain


def _is_within(chunk: StoredChunk, qualifiers: Sequence[str]) -> bool:
    """Return whether a symbol is inside the class, module or file that qualifies its name."""
    if not qualifiers:
        return False
    path = PurePosixPath(chunk.path)
    outer = (
        *chain.from_iterable(map(_split_parts, chunk.heading_path)),
        path.stem,
        path.parent.name,
    )
    return qualifiers[-1].casefold() in map(str.casefold, outer)


def _split_parts(name: str) -> list[str]:
    return re.split(r"\.|::|#|->", name)


def _fold_name(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).casefold()


@lru_cache(maxsize=64)
def _build_definition_pattern(name: str) -> re.Pattern[str]:
    """Return what a definition looks like in a language without a grammar."""
    keywords = (
        "class|data|defmodule|defp?|enum|fn|func|function|interface|local|module|namespace|newtype"
        "|object|package|proc|protocol|record|struct|sub|trait|type|typealias"
    )
    escaped = re.escape(name)
    return re.compile(
        rf"^[^\S\n]*(?:\w+[^\S\n]+){{0,4}}(?:{keywords})[^\S\n]+(?:[\w.]*[.:])?{escaped}\b"
        rf"|^{escaped}[^\S\n]*(?:::|\(\)[^\S\n]*\{{)",
        re.MULTILINE,
    )


@lru_cache(maxsize=1 << 12)
def _tokenize_path(path: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the tokens of the name of a file and of its folder."""
    parts = PurePosixPath(path)
    return (collect_tokens(parts.name.partition(".")[0]), collect_tokens(parts.parent.name))


def measure_path_match(path: str, rarities: Mapping[str, float]) -> float:
    """Return the share of the query, by rarity, that is in the name of a file or its folder."""
    stem, folder = _tokenize_path(path)
    held = sum(
        weight * (1.0 if term in stem else _FOLDER)
        for term, weight in rarities.items()
        if term in stem or term in folder
    )
    return held / (sum(rarities.values()) or 1.0)


def measure_heading_match(chunk: StoredChunk, rarities: Mapping[str, float]) -> float:
    """Return the share of the query, by rarity, that is in the heading of a passage."""
    tokens = collect_tokens(chunk.heading_path[-1] if chunk.heading_path else chunk.title)
    held = sum(weight for term, weight in rarities.items() if term in tokens)
    return held / (sum(rarities.values()) or 1.0)
