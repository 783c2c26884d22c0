"""Declares the ports: the protocols through which pipelines use adapters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import (
        Callable,
        Collection,
        Generator,
        Iterable,
        Iterator,
        Mapping,
        Sequence,
    )

    from kebab.core.chunks import (
        CosineBackground,
        Key,
        KeyedScore,
        Keys,
        Matrix,
        ModelProfile,
        TokenVectors,
        Vector,
    )
    from kebab.core.documents import ParsedDocument, VectorRow
    from kebab.errors.signal import Signal


class Parser(Protocol):
    """Converts the bytes of one media type to text with blocks."""

    @property
    def version(self) -> str:
        """The label that is stored with parsed documents, e.g. `markdown-v1`."""

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document.

        The parsers of `kebab.parse` raise the same, and do not repeat it.

        Raises:
            ParseFailed: The file is damaged, encrypted, too large, of another kind, or has no text.
            DependencyMissing: The libraries of the parser are not installed.
        """


def is_isolated(parser: object) -> bool:
    """Return whether a parser runs native code or expands its input, and so needs a worker."""
    return bool(getattr(parser, "isolated", False))


class Clock(Protocol):
    """Returns the time."""

    def now(self) -> float:
        """Return seconds since the epoch."""

    def monotonic(self) -> float:
        """Return seconds of a clock that never goes back."""


class Embedder(Protocol):
    """Converts text to unit vectors."""

    @property
    def profile(self) -> ModelProfile:
        """The facts about the model."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, without special tokens."""

    def supports(self, text: str) -> bool:
        """Return whether the model knows the script of most letters of the text."""

    def prepare(self) -> None:
        """Start to load the model in the background.

        Raises:
            DependencyMissing: A library cannot be loaded.
        """

    def embed_query(self, text: str) -> Vector:
        """Return the unit vector of the start of a question, shape (dimension,), float32."""

    def embed_passages(self, texts: Sequence[str]) -> Iterator[tuple[list[int], Matrix]]:
        """Yield (indexes into texts, unit vectors of shape (len(indexes), dimension)).

        Batches come in the cheapest order, each index exactly once. Of a text that is longer than
        the window only its start counts.
        """

    def embed_tokens(self, texts: Sequence[str], *, as_query: bool = False) -> list[TokenVectors]:
        """Return the token vectors of each text; only the first window of a text is read."""


class Cluster(Protocol):
    """Runs work in the processes of several machines."""

    def map_batches(
        self,
        make_handler: Callable[[str | None], Callable[[Any], Any]],
        batches: Iterable[Any],
        should_stop: Callable[[], bool],
        *,
        folder: str | None = None,
    ) -> Generator[Any, None, None]:
        """Yield the result of each batch in their order, until told to stop.

        Each process calls the picklable `make_handler` once, with the path where it finds the files
        of `folder`. A result is None when its processes died again and again, or when its
        handler failed unexpectedly. `should_stop` is called several times a second.

        Raises:
            ClusterUnreachable: There is no cluster, or it failed.
            DependencyMissing: A library is missing on this machine.
            Signal: A handler raised it.
        """


class Vectors(Protocol):
    """The vector index of one embedding version, with unit vectors; cosines are exact."""

    def find_nearest(
        self, query: Vector, limit: int, allowed: Sequence[Key] | None = None
    ) -> list[KeyedScore]:
        """Return the chunks of highest cosine; filters apply before the limit.

        Raises:
            StoreCorrupt: The table cannot be read.
        """

    def compute_cosines(self, query: Vector, keys: Collection[Key]) -> dict[Key, float]:
        """Return the cosine of those of these chunks that have a vector."""

    def measure_background(self, query: Vector) -> CosineBackground:
        """Return the mean and the deviation of the cosines of evenly spaced chunks."""

    def get(self, keys: Collection[Key]) -> Mapping[Key, Vector]:
        """Return the stored vectors of those of these chunks that have one."""

    def count(self) -> int:
        """Return how many rows the index holds."""


class VectorWriter(Protocol):
    """The vectors of one embedding version under the writer lock."""

    def get(self, keys: Collection[Key]) -> Mapping[Key, Vector]:
        """Return the saved vectors of those of these chunks that have one."""

    def append(self, rows: Sequence[VectorRow]) -> None:
        """Add rows with the next `save`."""

    def delete(self, keys: Collection[Key]) -> None:
        """Delete the rows of these chunks with the next `save`."""

    def save(self) -> None:
        """Write, make it durable, and let readers see it; then the library marks it."""

    def list_keys(self, *, verify: bool = False) -> Keys:
        """Return the key of every row in rising order; `verify` reads the table itself."""

    def rebuild(self) -> None:
        """Make a table that cannot be read anew from what readers see, or empty without it."""

    def delete_others(self) -> None:
        """Delete what belongs to other embedding versions, and drafts."""


PictureTask: TypeAlias = Literal["ocr", "caption"]


class PictureAnswer(NamedTuple):
    """What a model wrote about a page of a picture, empty without text; or why it wrote nothing.

    `is_cut` means that it reached the limit of its answer.
    """

    text: str = ""
    is_cut: bool = False
    failure: Signal | None = None


class PictureReader(Protocol):
    """Reads pictures through a model; it is picklable and hashable.

    `name` is that of the model, `tasks` are what it is asked for, and `deadline_s` is the time
    limit of one answer in seconds; 0 means none.
    """

    name: str
    tasks: tuple[PictureTask, ...]
    deadline_s: float

    def __hash__(self) -> int: ...

    @property
    def recipe(self) -> str:
        """What decides the text of a document besides the parser."""

    def read(self, task: PictureTask, data: bytes, path: str) -> list[PictureAnswer]:
        """Return what the model writes about each page of a picture; a caption is of the first.

        Raises:
            ParseFailed: It cannot be read as a picture.
            DependencyMissing: A library is not installed.
        """


_ORIGINS: dict[PictureTask, str] = {"ocr": "text read by", "caption": "caption by"}


def format_origin(task: PictureTask, model: str) -> str:
    """Return the words that mark the text of a model, because it may be wrong."""
    return f"{_ORIGINS[task]} {model}"


def list_failures(answers: Iterable[PictureAnswer]) -> tuple[Signal, ...]:
    """Return why a model wrote nothing, each reason once."""
    faults = (answer.failure for answer in answers if answer.failure is not None)
    return tuple({fault.format_message(): fault for fault in faults}.values())


def describe_answers(answers: Sequence[PictureAnswer]) -> list[str]:
    """Return the warnings about what a model did not write."""
    faults = [fault.format_message() for fault in list_failures(answers)]
    cut = any(answer.is_cut for answer in answers)
    return [
        *(f"a picture is not searched, the next ingest asks again: {fault}" for fault in faults),
        *(["text of a picture was cut: the answer of the model was too long"] if cut else []),
    ]
