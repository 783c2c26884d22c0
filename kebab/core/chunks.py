"""Declares ids and keys, chunks, vectors, and the facts about an embedding model.

Ids are stable: they are derived from what they name. Large sets of keys are sorted arrays.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from hashlib import blake2b, file_digest
from itertools import pairwise
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, NewType, TypeAlias

from msgspec import Struct

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector: TypeAlias = NDArray[np.float32]
    """One unit vector, shape (dimension,)."""
    Matrix: TypeAlias = NDArray[np.float32]
    """Unit vectors in rows, shape (count, dimension)."""

DocId = NewType("DocId", str)
ChunkId = NewType("ChunkId", str)
Key = NewType("Key", int)
"""The integer that identifies a chunk in both stores."""

DocNumber = NewType("DocNumber", int)
"""The integer that identifies a document in one snapshot."""

_ID_BYTES = 16


def compute_digest(*parts: str, size: int = _ID_BYTES) -> str:
    """Return `size` bytes of BLAKE2b over the parts, in hex; lengths separate the parts."""
    state = blake2b(digest_size=size)
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass")
        state.update(len(raw).to_bytes(8, "big"))
        state.update(raw)
    return state.hexdigest()


def hash_content(data: bytes) -> str:
    """Return the hash of a file's bytes, 64 hex digits."""
    return blake2b(data, digest_size=32).hexdigest()


def hash_file(file: BinaryIO) -> str:
    """Return the hash of the bytes of a file, as `hash_content` does, without holding them."""
    return file_digest(file, partial(blake2b, digest_size=32)).hexdigest()  # type: ignore[arg-type]


def compute_named_hash(size: int, mtime_ns: int) -> str:
    """Return what tells a file from others that is not read; it stays when the file is moved."""
    return compute_digest("named", str(size), str(mtime_ns))


def make_doc_id(source: str, path: str, occurrence: int = 0) -> DocId:
    """Return the id of a document that is first indexed at `path` of `source`.

    `occurrence` is above 0 only when an earlier document from that path has moved away and
    still holds the id.
    """
    return DocId(compute_digest("doc", source, path, str(occurrence)))


def make_chunk_id(doc: DocId, chunker: str, text_hash: str, occurrence: int) -> ChunkId:
    """Return the id of the `occurrence`-th chunk with this text in a document."""
    return ChunkId(compute_digest("chunk", doc, chunker, text_hash, str(occurrence)))


Keys: TypeAlias = "array[int]"
"""Keys in rising order; a key may be repeated."""

_PART = 65_536


def sort_keys(keys: Iterable[int]) -> Keys:
    """Sort keys."""
    return array("q", sorted(keys))


def find_missing_keys(wanted: Keys, held: Keys) -> list[Key]:
    """Return the wanted keys that are not among the held ones, in rising order."""
    missing: list[Key] = []
    for start in range(0, len(wanted), _PART):
        part = wanted[start : start + _PART]
        inside = held[bisect_left(held, part[0]) : bisect_right(held, part[-1])]
        if part != inside:
            found = set(inside)
            missing += [Key(key) for key in part if key not in found]
    return missing


def find_repeated_keys(keys: Keys) -> set[Key]:
    """Return the keys that occur more than once."""
    return {Key(key) for key, following in pairwise(keys) if key == following}


class TokenVectors(NamedTuple):
    """The unit vectors of the tokens of a text, in rows, each computed in its context.

    `spans` holds the [start, end) code points of each token. Special tokens and prefixes of the
    model have no row.
    """

    vectors: "Matrix"
    spans: Sequence[tuple[int, int]]


class CosineBackground(NamedTuple):
    """The cosines of a query with the stored vectors: their number, mean and deviation."""

    size: int
    mean: float
    deviation: float


NO_BACKGROUND = CosineBackground(0, 0.0, 0.0)
"""The background of an index without vectors."""


class Place(NamedTuple):
    """A part of a file that a citation names: a page, a slide, a cell, or rows of a sheet.

    It begins at the offset `start` of the text and ends where the next place begins. `number`
    counts pages and slides from 1, and the cells of a notebook from 0. `of` is the number of pages.
    A sheet has its name as `label`, the columns of its cells as `columns` (`A:F`), and the row of
    its first line as `row`; each further line of the text is the next row. `origin` says that a
    model wrote the text, e.g. `caption by llava`; it is empty for the text of the file.
    """

    start: int
    number: int
    of: int = 0
    label: str = ""
    row: int = 0
    columns: str = ""
    origin: str = ""


class Chunk(NamedTuple):
    """A slice of a document's text that fits the embedder's window.

    `text` is what a reader sees of `document.text[start:end]`, in code points; `start_line` and
    `end_line` are the lines of the file that hold it, 1-based and inclusive. `heading_path` lists
    the headings above the chunk, outermost first; a heading that opens the chunk is its last
    element. `context` is text from elsewhere in the document without which the chunk cannot be
    understood, such as the header row of its table. `place` is the place of the chunk in a format
    that is not cited by lines; its `start` is that of the chunk, and its `row` that of the chunk's
    first line.
    """

    ordinal: int
    text: str
    start: int
    end: int
    start_line: int
    end_line: int
    heading_path: tuple[str, ...] = ()
    context: str = ""
    place: Place | None = None


def is_front_matter(ordinal: int, text: str) -> bool:
    """Return whether a chunk is front matter: the first one, with its closing line."""
    return not ordinal and text.endswith(("\n---", "\n+++"))


class ChunkRow(NamedTuple):
    """A chunk with its ids and hashes, ready to be stored.

    `embed_hash` is the hash of the text that is embedded (see `build_embed_text`), by which equal
    passages share one vector. `headings` and `words` are the tokens of the headings with the
    context, and of the text, joined by blanks; None where nobody has cut them yet.
    """

    chunk: Chunk
    chunk_id: ChunkId
    text_hash: str
    embed_hash: str
    headings: str | None = None
    words: str | None = None


def add_tokens(rows: Iterable[ChunkRow], join_tokens: Callable[[str], str]) -> tuple[ChunkRow, ...]:
    """Return chunks with their tokens; those below the same headings share these tokens."""
    join_parts = cache(lambda *parts: " ".join(map(join_tokens, filter(None, parts))))
    return tuple(
        row
        if row.words is not None
        else ChunkRow(
            *(row.chunk, row.chunk_id, row.text_hash, row.embed_hash),
            headings=join_parts(*row.chunk.heading_path, row.chunk.context),
            words=join_tokens(row.chunk.text),
        )
        for row in rows
    )


class PendingChunk(NamedTuple):
    """A stored chunk without a vector."""

    key: Key
    chunk_id: ChunkId
    doc_id: DocId
    title: str
    heading_path: tuple[str, ...]
    text: str
    embed_hash: str
    context: str = ""


class Extent(NamedTuple):
    """The lines of a stored chunk, and the headings or symbols that lead to it."""

    key: Key
    start_line: int
    end_line: int
    heading_path: tuple[str, ...]


class PassageHashes(NamedTuple):
    """Stored chunks, those of a document one after the other: each field has a value for each."""

    keys: Sequence[Key]
    documents: Sequence[DocNumber]
    contents: Sequence[str]
    """The hash of the bytes of the document."""
    hashes: Sequence[str]
    """The hash of the text."""


KeyedScore: TypeAlias = tuple[Key, float]
"""A chunk and its score; lists are sorted by falling score, then by rising key."""


def build_embed_text(
    title: str, heading_path: tuple[str, ...], text: str, context: str = ""
) -> str:
    """Return the text to embed for a chunk: its title and headings on one line, then its text.

    A heading path that begins with the title does not repeat it. `context` stands before the text.
    """
    path = heading_path[1:] if heading_path[:1] == (title,) else heading_path
    headings = " > ".join(part for part in (title, *path) if part)
    return "\n".join([*filter(None, (headings, context)), text])


class CosineScale(Struct, frozen=True):
    """The useful range of cosines: `low` for unrelated text, `high` for equal text."""

    low: float
    high: float

    def normalise(self, cosine: float) -> float:
        """Normalise a cosine to evidence between 0 and 1."""
        return min(1.0, max(0.0, (cosine - self.low) / (self.high - self.low)))

    def normalise_all(self, cosines: Mapping[Key, float]) -> dict[Key, float]:
        """Normalise many cosines; a thousand calls of `normalise` would take a millisecond."""
        low, width = self.low, self.high - self.low
        return {
            key: 0.0 if (part := (cosine - low) / width) < 0.0 else min(part, 1.0)
            for key, cosine in cosines.items()
        }


class LanguageTrust(Struct, frozen=True):
    """The weight of the model's vectors, from 0 to 1, by the language of the passages.

    Search tells English passages from all others (`kebab.search.ranking`), so there are two values.
    """

    english: float
    other: float


class AnswerabilityCurve(Struct, frozen=True, kw_only=True):
    """The weights of a logistic curve: the probability that a passage found answers.

    For one passage, `words` weighs the share of the query's keywords that it holds, `cosine` its
    scaled cosine, `place` its rank by words, and `lacks` counts when it has not all names and
    numbers of the query. The best passage counts, because one passage has to hold the words and be
    near in meaning. `margin` weighs how far the highest cosine is above the usual ones, `evidence`
    the fused score of the first hit, `length` the logarithm of the number of terms, and `match` how
    far the tokens of the first passages match those of the query. `start` is the constant.
    """

    start: float
    words: float = 0.0
    cosine: float = 0.0
    place: float = 0.0
    lacks: float = 0.0
    evidence: float = 0.0
    length: float = 0.0
    margin: float = 0.0
    match: float = 0.0


class Answerability(Struct, frozen=True):
    """The curves of a model.

    `hybrid` is for evidence of both channels, and `vector` for vectors alone. `foreign` is for
    vectors alone where query and passages are in different languages, `matched` where token vectors
    were compared too; they are None when the model cannot compare languages.
    """

    hybrid: AnswerabilityCurve
    vector: AnswerabilityCurve
    foreign: AnswerabilityCurve | None = None
    matched: AnswerabilityCurve | None = None


class ProbePair(Struct, frozen=True, kw_only=True):
    """Two sentences with a known cosine, which identifies the model within a tolerance."""

    first: str = "A man is eating food."
    second: str = "A man is eating a piece of bread."
    cosine: float
    tolerance: float

    def accepts(self, cosine: float) -> bool:
        """Return whether a cosine is within the tolerance; NaN never is."""
        return abs(cosine - self.cosine) <= self.tolerance


class ModelProfile(Struct, frozen=True, kw_only=True):
    """The facts about one embedding model that search, ingest and doctor use.

    A model's `version` identifies weights, pooling, prefixes and dimension. A change of any of them
    needs another version. `window` counts content tokens, without special tokens and prefix.
    `languages` describes the languages to people. `lexical_share` is the share of lexical evidence
    beside these vectors. `scripts` is None when the model knows all, and `alternative` is the
    name of a model that knows more. `has_tokens` is whether it gives the vectors of tokens.
    """

    version: str
    dimension: int
    window: int
    languages: str
    scripts: frozenset[str] | None
    language_trust: LanguageTrust
    lexical_share: float
    cosine_scale: CosineScale
    answerability: Answerability
    probe: ProbePair
    alternative: str | None = None
    has_tokens: bool = True

    def load_language_axes(self) -> "Matrix | None":
        """Return the orthonormal directions, in rows, in which vectors differ by language alone.

        It is None for a model that does not relate languages, or whose directions nobody measured.
        """
        return None

    def load_prose_mean(self) -> "Vector | None":
        """Return the mean vector of the tokens of prose; None when nobody measured it."""
        return None


def remove_language(vectors: "Matrix", axes: "Matrix | None") -> "Matrix":
    """Return a unit vector, or unit vectors in rows, without what tells only the language.

    Without axes they stay as they are. What is left has length 1 again.
    """
    if axes is None:
        return vectors
    rest = vectors - (vectors @ axes.T) @ axes
    scaled: Matrix = rest / (rest * rest).sum(axis=-1, keepdims=True) ** 0.5
    return scaled
