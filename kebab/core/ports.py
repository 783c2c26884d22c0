"""Declares the ports: the protocols through which pipelines use adapters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

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
        Extent,
        KeyedScore,
        Matrix,
        ModelProfile,
        PassageHashes,
        PendingChunk,
        TokenVectors,
        Vector,
    )
    from kebab.core.documents import (
        ChunkChanges,
        DocumentRow,
        FileStamp,
        KnownDocument,
        Listing,
        MovedDocument,
        ParsedDocument,
        Source,
        SourcePlan,
        VectorRow,
    )
    from kebab.core.files import ScanResult, ScanRules, SeenFiles
    from kebab.core.ids import ChunkId, DocId, DocNumber, Key, Keys
    from kebab.core.members import Member
    from kebab.core.queries import Filters, NamedDocument, StoredChunk, VectorState


class Parser(Protocol):
    """Converts the bytes of one media type to text with blocks."""

    @property
    def version(self) -> str:
        """The label that is stored with parsed documents, e.g. `markdown-v1`."""

    def parse(self, data: bytes, path: str) -> ParsedDocument:
        """Return the document.

        Raises:
            ParseFailed: The bytes are not what the media type promises.
        """


def is_isolated(parser: Parser) -> bool:
    """Return whether a parser runs native code or expands its input, and so needs a worker."""
    return bool(getattr(parser, "isolated", False))


class ContainerReader(Protocol):
    """Reads the members of containers: mails, mailboxes, archives; it is picklable."""

    def list_members(self, absolute: str, span: tuple[int, int] = ...) -> Iterator[Member]:
        """Yield the members of a container, which may be a member itself.

        Raises:
            OSError: The file cannot be read.
            ParseFailed: It is damaged.
        """

    def read(self, absolute: str, span: tuple[int, int] = ...) -> bytes:
        """Return the bytes of a member.

        Raises:
            OSError: The file or the member is gone, or cannot be read.
            ParseFailed: The member is damaged, encrypted, or expands beyond the limits.
        """


class FileScanner(Protocol):
    """Finds the files of a source that can be documents."""

    def scan(
        self,
        root: str,
        rules: ScanRules,
        *,
        below: str = "",
        claimed: Mapping[str, str] | None = None,
        tick: Callable[[], None] = ...,
    ) -> ScanResult:
        """Return the files of the folder `below` in `root`, sorted by path.

        `claimed` gives, by absolute path, the reason for which a folder or file is skipped.
        `tick` is called once for each folder.

        Raises:
            OSError: The folder itself cannot be listed.
        """

    def scan_again(
        self,
        root: str,
        rules: ScanRules,
        seen: SeenFiles,
        *,
        claimed: Mapping[str, str],
        tick: Callable[[], None] = ...,
    ) -> ScanResult:
        """Return the files that were not seen in the changed folders and in new folders below.

        `tick` is called once for each folder. Folders that cannot be listed have no files.
        """

    def add_named_files(
        self, found: ScanResult, root: str, paths: Iterable[str], rules: ScanRules
    ) -> None:
        """Add files that the user named, or the reasons why they cannot be documents."""

    def find_skip_reason(
        self, root: str, rules: ScanRules, path: str, *, folder: bool
    ) -> str | None:
        """Return why the rules skip an entry below the root, or None."""


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

    @property
    def version(self) -> str:
        """Provider, model, dimension and version, e.g. `fastembed-minilml6-384-v1`."""
        return self.profile.version

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return self.profile.dimension

    @property
    def window(self) -> int:
        """The maximum number of tokens for one vector, without special tokens."""
        return self.profile.window

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
    ) -> Generator[tuple[int, Any], None, None]:
        """Yield the number and the result of each batch in their order, until told to stop.

        Each process calls the picklable `make_handler` once, with the path where it finds the files
        of `folder`. A batch is left out when its processes died again and again, or when its
        handler failed unexpectedly. `should_stop` is called several times a second.

        Raises:
            ClusterUnreachable: There is no cluster, or it failed.
            DependencyMissing: A library is missing on this machine.
            Signal: A handler raised it.
        """


class LibraryWriter(Protocol):
    """Write access to the database for ingest. Every method is one transaction."""

    def add_source(self, source: Source) -> None:
        """Register a source, or update its kind."""

    def list_sources(self) -> list[Source]:
        """Return the registered sources."""

    def load_known_documents(
        self, source: str, at: Collection[str] | None = None
    ) -> dict[str, KnownDocument]:
        """Return the documents of a source by path: all, or those at some paths and below them."""

    def list_children(self, source: str, folder: str) -> set[str]:
        """Return the documents, unread files and folders that are known directly in a folder."""

    def load_listing(self, source: str) -> Listing:
        """Return the rules of the last complete scan of a source, and its unread files."""

    def store_plans(self, plans: Sequence[SourcePlan]) -> None:
        """Store what a run is about to read, in place of what was known of its scopes."""

    def mark_failed(self, source: str, path: str, reason: str) -> None:
        """Store why a planned file could not be read."""

    def forget_unread(self, source: str, path: str) -> None:
        """Delete a planned file that is gone."""

    def commit_when_due(self) -> None:
        """Commit what was written a while ago, before the caller waits for something else."""

    def has_document(self, doc_id: DocId) -> bool:
        """Return whether a document has this id."""

    def put_document(self, document: DocumentRow) -> ChunkChanges:
        """Store a document with exactly its chunks; unchanged chunks keep key and vector.

        A known document may come from another path. Another document at its path is deleted. Its
        file is no longer unread.
        """

    def move_document(
        self, doc_id: DocId, source: str, path: str, stamp: FileStamp
    ) -> MovedDocument:
        """Store that the file of a document is at another path, with the same content.

        Another document at the path is deleted. The file is no longer unread.
        """

    def update_stamp(self, doc_id: DocId, stamp: FileStamp) -> None:
        """Update the stamp of a file whose content did not change."""

    def remove_documents(self, doc_ids: Sequence[DocId]) -> int:
        """Delete documents with their chunks; return how many chunks that were."""

    def list_pending(self, limit: int, first: Sequence[ChunkId] = ()) -> list[PendingChunk]:
        """Return up to `limit` chunks that lack a vector, of the document edited last first.

        The documents of the chunks `first` come before all others.
        """

    def count_pending(self) -> int:
        """Return how many chunks lack a vector."""

    def count_committed(self, doc_ids: Collection[DocId]) -> dict[DocId, int]:
        """Return how many chunks of each of these documents have a stored vector, 0 included."""

    def find_equal_embeddings(self, embed_hashes: Collection[str]) -> dict[str, Key]:
        """Return, by embed hash, a chunk whose vector is committed and can be copied."""

    def mark_vectors(self, keys: Collection[Key], state: VectorState, version: str) -> None:
        """Set the state of chunks; call it after their vectors are durable."""

    def replace_model(self, version: str, reason: str | None) -> None:
        """Store the embedding version and its reason, and make all chunks pending."""

    def get_revision(self) -> int:
        """Return the corpus revision, which rises with every change that search can see."""

    def measure_languages(self) -> dict[str, int]:
        """Return the bytes of the documents by language; an empty string where it is unknown."""

    def list_committed_keys(self) -> Keys:
        """Return the keys of all chunks whose vector is committed."""

    def get_value(self, name: str) -> str | None:
        """Return a stored value by name."""

    def set_value(self, name: str, value: str | None) -> None:
        """Store a value by name; None deletes it."""

    def record_run(self, scope: str, started: float, finished: float, changed: int) -> None:
        """Record a run; `last_ingest_at` is the finish of the last run that changed anything."""

    def checkpoint(self) -> None:
        """Merge the segments of the word index and move the write-ahead log into the database."""

    def sync(self) -> None:
        """Wait until the disk has every change so far: a power cut may undo later ones."""


class LibraryReader(Protocol):
    """Read-only access to the database for search: one snapshot from the first call to `close`."""

    def get_revision(self) -> int:
        """Return the corpus revision of the snapshot."""

    def get_value(self, name: str) -> str | None:
        """Return a stored value by name."""

    def count_chunks(self) -> int:
        """Return how many chunks the snapshot holds."""

    def search_lexical(self, match: str, filters: Filters, limit: int) -> list[KeyedScore]:
        """Return chunks that match an FTS5 expression under bm25; scores are positive.

        Filters apply before the limit.
        """

    def get_document_frequencies(self, terms: Collection[str]) -> dict[str, int]:
        """Return in how many chunks each term occurs."""

    def list_tokens(self, start: str) -> list[str]:
        """Return the tokens of the word index that begin with some letters."""

    def list_tokens_around(self, part: str) -> list[str]:
        """Return the tokens of the word index that hold some letters behind their first one."""

    def count_pending(self) -> int:
        """Return how many chunks of the snapshot lack a vector."""

    def list_allowed_keys(self, filters: Filters) -> Sequence[Key] | None:
        """Return the keys that pass the filters in rising order; None when every chunk does."""

    def find_committed_keys(self, keys: Collection[Key]) -> set[Key]:
        """Return which of these chunks are in the snapshot and have a committed vector."""

    def find_shared_keys(self, keys: Collection[Key], documents: int) -> set[Key]:
        """Return which of these chunks have the text of chunks of at least so many documents."""

    def load_chunks(self, keys: Sequence[Key]) -> list[StoredChunk]:
        """Return the chunks in the order of their keys; unknown keys are left out."""

    def list_extents(self, key: Key) -> list[Extent]:
        """Return a chunk with those around it in its document, in order."""

    def find_doc_ids(self, keys: Collection[Key]) -> dict[Key, DocId]:
        """Return the documents of these chunks; unknown keys are left out."""

    def find_doc_numbers(self, keys: Collection[Key]) -> dict[Key, DocNumber]:
        """Return document numbers of this snapshot by chunk; this is faster than `find_doc_ids`."""

    def find_named_documents(
        self, tokens: Collection[str], filters: Filters, limit: int
    ) -> list[NamedDocument]:
        """Return the documents with the rarest of some tokens in their names."""

    def list_similar_words(self, word: str) -> list[str]:
        """Return the words of names that may differ from a word in one place."""

    def list_passages(self, filters: Filters) -> PassageHashes:
        """Return the chunks that pass the filters, document by document, in order."""

    def load_texts(self, keys: Collection[Key]) -> dict[Key, str]:
        """Return the texts of chunks; unknown keys are left out."""

    def close(self) -> None:
        """End the snapshot."""


class AnswerCache(Protocol):
    """Caches small answers by namespace and question; it may drop any of them."""

    def get(self, namespace: str, question: str) -> bytes | None:
        """Return the cached answer, or None."""

    def put(self, namespace: str, question: str, answer: bytes) -> None:
        """Cache an answer if that is possible; never fail."""


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

    def prepare(self) -> None:
        """Start to load the libraries for writing in the background."""

    def append(self, rows: Sequence[VectorRow]) -> None:
        """Add rows in one commit and return when they are durable."""

    def delete(self, keys: Collection[Key]) -> None:
        """Delete the rows of these chunks in one commit."""

    def save(self) -> None:
        """Let readers see what was written; call it before the library marks the chunks."""

    def list_keys(self, *, verify: bool = False) -> Keys:
        """Return the key of every row in rising order; `verify` reads the table itself."""

    def rebuild(self) -> None:
        """Make a table that cannot be read anew from what readers see, or empty without it."""

    def delete_others(self) -> None:
        """Delete what belongs to other embedding versions, and drafts."""
