"""Embeds with an installed model: passages with fastembed, questions and tokens without it.

fastembed runs one text at a time on one thread, and several texts run in parallel. On a CPU this is
faster than a padded batch, because no time goes into padding. It also makes a vector depend on its
text alone: int8 scales activations over all texts of a run.

A fresh process embeds a question with tokenizers and onnxruntime alone, because fastembed takes
half a second to import. The vectors equal those of fastembed, so few passages are embedded like a
question. Both libraries are imported on first use.

A vocabulary of 250,000 pieces takes tokenizers most of a second to load. A question touches some
hundred of them. They are looked up in a small database that installation writes, and the library
cuts the text by them alone. A text has no other pieces, so the tokens are the same.
"""

import json
import os
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from kebab.core.chunks import TokenVectors
from kebab.embed.registry import MODEL_FILE, PIECES_FILE, TOKENIZER_FILE, is_complete
from kebab.errors.catalog import EmbeddingUnavailable, TimedOut
from kebab.errors.signal import Signal
from kebab.errors.system import import_library, translate_import_errors
from kebab.platform import count_cores
from kebab.text.language import is_written_in

if TYPE_CHECKING:
    from kebab.core.chunks import Matrix, Vector
    from kebab.embed.registry import EmbeddingModel

SLICE = 32  # texts that are returned together: less than a second of work

TOKEN_CHARS = 16
"""More characters than the tokens of prose have, so that no more of a text is cut into tokens."""

FEW = 32
"""How many passages are embedded without fastembed, which takes .5 to 1.7 s to load."""


_Run: TypeAlias = "list[Future[tuple[Any, float]]]"
"""The results of a batch of texts in their order, each with its seconds of processor time."""


class TextThreads:
    """Embeds texts on several threads, and ends a batch that takes too long.

    A busy machine lets a batch wait for other programs, so its limit counts the processor time of
    its texts, between one text and the next. A batch that hangs ends after `WALL_FACTOR` times the
    limit by the clock.
    """

    def __init__(self, threads: int, deadline_ms: int) -> None:
        """Take the number of threads and the limit; 0 milliseconds mean none."""
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="embed")
        self._deadline_ms = deadline_ms

    def start(self, embed: Callable[[Any], Any], texts: Sequence[Any]) -> _Run:
        """Start to embed texts; their results can be waited for."""
        return [self._pool.submit(_measure_time, embed, text) for text in texts]

    def wait(self, run: _Run) -> list[Any]:
        """Return the results of a run.

        Raises:
            TimedOut: The run took too long, or hangs; `elapsed_ms` is the time that was too long.
        """
        from kebab.limits.deadline import WALL_FACTOR

        limit, started = self._deadline_ms / 1000, time.monotonic()
        results, spent = [], 0.0
        try:
            for job in run:
                if limit and spent > limit:
                    raise self._build_timeout(spent)
                left = started + limit * WALL_FACTOR - time.monotonic() if limit else None
                result, seconds = job.result(left)
                results.append(result)
                spent += seconds
        except TimeoutError as error:
            raise self._build_timeout(time.monotonic() - started) from error
        finally:
            self.stop(run)
        return results

    def stop(self, run: _Run) -> None:
        """Leave out the texts of a run that have not begun."""
        for job in run:
            job.cancel()

    def _build_timeout(self, seconds: float) -> TimedOut:
        return TimedOut(
            operation="embedding a batch",
            elapsed_ms=int(seconds * 1000),
            deadline_ms=self._deadline_ms,
            setting="models.embedding.deadline_s",
        )


def _measure_time(embed: Callable[[Any], Any], text: Any) -> tuple[Any, float]:
    """Return the result for a text and the processor time that it took."""
    began = time.thread_time()
    return embed(text), time.thread_time() - began


class OnnxEmbedder:
    """Embeds with an installed model directory; implements `kebab.core.ports.Embedder`."""

    def __init__(
        self,
        directory: Path | str,
        model: "EmbeddingModel",
        *,
        threads: int | None = None,
        deadline_ms: int = 0,
    ) -> None:
        """Take the directory of an installed model; nothing is read before the first call.

        `threads` texts run in parallel (by default one per core, at most 4). `deadline_ms` limits
        every slice of texts; 0 means no limit.
        """
        self._model = model
        self.directory = Path(directory)
        self._tokenizer = ModelTokenizer(self.directory, model)
        self._encoder = Encoder(self.directory, model)
        self._threads = TextThreads(threads or min(count_cores(), 4), deadline_ms)
        self._lock = Lock()
        self._fastembed: Any = None

    @property
    def profile(self) -> "EmbeddingModel":
        """The registry row of the model."""
        return self._model

    def supports(self, text: str) -> bool:
        """Return whether the model knows the script of most letters of the text."""
        return is_written_in(text, self._model.scripts)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, without special tokens; no model is loaded."""
        return self._tokenizer.count_tokens(texts)

    def prepare(self) -> None:
        """Start to load the model for a question in the background."""
        self._encoder.prepare()

    def embed_query(self, text: str) -> "Vector":
        """Return the unit vector of a question, shape (dimension,), float32."""
        return self._embed_start(self._model.query_prefix, text)

    def _embed_start(self, prefix: str, text: str) -> "Vector":
        (sequence,) = self._tokenizer.encode([text[: self._model.window * TOKEN_CHARS]], prefix)
        return self._encoder.embed(sequence.ids)

    def embed_passages(self, texts: Sequence[str]) -> "Iterator[tuple[list[int], Matrix]]":
        """Yield (indexes into texts, unit vectors of shape (len(indexes), dimension))."""
        embed = partial(self._embed_start, self._model.passage_prefix)
        if len(texts) > FEW or self._fastembed is not None:
            embed = partial(self._embed_passage, self._load_fastembed())
        with translate_import_errors("embedding", "numpy"):
            import numpy as np

        started: deque[_Run] = deque()
        done = 0
        try:
            # The model runs one slice while the caller handles the slice before it.
            for start in range(0, len(texts) + SLICE, SLICE):
                if part := texts[start : start + SLICE]:
                    started.append(self._threads.start(embed, part))
                if start and started:
                    vectors = self._threads.wait(started.popleft())
                    yield list(range(done, done + len(vectors))), np.stack(vectors)
                    done += len(vectors)
        finally:
            for run in started:
                self._threads.stop(run)

    def embed_tokens(self, texts: Sequence[str], *, as_query: bool = False) -> list[TokenVectors]:
        """Return the token vectors of each text; only the first window of a text is read."""
        prefix = self._model.query_prefix if as_query else self._model.passage_prefix
        starts = [text[: self._model.window * TOKEN_CHARS] for text in texts]
        sequences = self._tokenizer.encode(starts, prefix)
        self._encoder.load()
        run = self._threads.start(self._encoder.embed_tokens, [one.ids for one in sequences])
        return [
            TokenVectors(vectors[list(one.spans)], list(one.spans.values()))
            for one, vectors in zip(sequences, self._threads.wait(run), strict=True)
        ]

    def _embed_passage(self, engine: Any, text: str) -> "Vector":
        whole = self._model.passage_prefix + replace_surrogates(text)
        with translate_model_errors(self._model.name, self.directory):
            (vector,) = engine.embed([whole], batch_size=1)
            return normalise(vector)

    def _load_fastembed(self) -> Any:
        """Return fastembed's model, loading it on the first call."""
        name, where = self._model.name, str(self.directory)
        with self._lock:
            if self._fastembed is None:
                require_files(self._model, self.directory)
                import_runtime()
                library = import_library("fastembed", "embedding", "fastembed")
                try:
                    with translate_model_errors(name, self.directory):
                        self._fastembed = library.TextEmbedding(
                            _register_model(self._model),
                            threads=1,
                            providers=["CPUExecutionProvider"],
                            specific_model_path=where,
                            local_files_only=True,
                        )
                except (OSError, ValueError) as fault:  # a file lacks what fastembed needs
                    cause = f"fastembed: {fault}"
                    raise EmbeddingUnavailable(model=name, tried=[where], cause=cause) from fault
            return self._fastembed


@cache
def _register_model(model: "EmbeddingModel") -> str:
    """Add a model to those of fastembed, and return its name there; kebab adds the prefixes."""
    with translate_import_errors("embedding", "fastembed"):
        from fastembed import TextEmbedding
        from fastembed.common.model_description import ModelSource, PoolingType

    name = f"kebab/{model.version}"
    TextEmbedding.add_custom_model(
        name,
        pooling=PoolingType.MEAN,
        normalization=True,
        sources=ModelSource(hf=model.repo),
        dim=model.dimension,
        model_file=MODEL_FILE,
    )
    return name


_ROUNDING = 1e-3
_FATAL = 4  # the severity below which onnxruntime stays silent; failures are raised anyway


@contextmanager
def translate_model_errors(model: str, directory: Path) -> Iterator[None]:
    """Turn the exceptions of onnxruntime and tokenizers into `EmbeddingUnavailable`.

    tokenizers raises plain `Exception`. A C++ exception that the binding of onnxruntime does not
    know becomes a Python `RuntimeError`. Subclasses of both are errors of others.
    """
    try:
        yield
    except MemoryError as error:
        cause = "out of memory"
        raise EmbeddingUnavailable(model=model, tried=[str(directory)], cause=cause) from error
    except Exception as error:
        kind = type(error)
        is_runtime = kind.__module__.startswith("onnxruntime.")
        if kind not in {Exception, RuntimeError, FloatingPointError} and not is_runtime:
            raise
        cause = f"the {'tokenizer' if kind is Exception else 'runtime'} failed; {error}"
        raise EmbeddingUnavailable(model=model, tried=[str(directory)], cause=cause) from error


def import_runtime() -> Any:
    """Return onnxruntime, which writes no log from now on."""
    runtime = import_library("onnxruntime", "embedding", "onnxruntime")
    runtime.set_default_logger_severity(_FATAL)
    return runtime


def require_files(model: "EmbeddingModel", directory: Path) -> None:
    """Check that all files of a model are there in full size.

    Raises:
        EmbeddingUnavailable: They are not.
    """
    if not is_complete(model, directory):
        cause = "the model's files are missing or incomplete"
        raise EmbeddingUnavailable(model=model.name, tried=[str(directory)], cause=cause)


class Encoder:
    """The model of an installed directory, loaded on first use."""

    def __init__(self, directory: Path, model: "EmbeddingModel") -> None:
        self._directory = directory
        self._model = model
        self._lock = Lock()
        self._session: Any = None

    def prepare(self) -> None:
        """Start loading in a thread; a later call waits for it and raises its errors.

        The library is imported here, because the import holds the interpreter lock in any thread.
        Opening the model does not.
        """
        if self._session is not None:
            return
        import_runtime()
        with suppress(RuntimeError):  # the system has no thread left
            Thread(target=self._load_in_thread, name="model", daemon=True).start()

    def _load_in_thread(self) -> None:
        with suppress(Signal):  # the next caller of `load` gets it
            self.load()

    def load(self) -> Any:
        """Return the runtime's session, loading it on the first call.

        Raises:
            EmbeddingUnavailable: The model cannot be loaded.
        """
        with self._lock:
            if self._session is None:
                require_files(self._model, self._directory)
                runtime = import_runtime()
                options = runtime.SessionOptions()
                options.intra_op_num_threads = 1
                options.inter_op_num_threads = 1
                path = str(self._directory / MODEL_FILE)
                with translate_model_errors(self._model.name, self._directory):
                    self._session = runtime.InferenceSession(
                        path, options, providers=["CPUExecutionProvider"]
                    )
            return self._session

    def embed(self, ids: Sequence[int]) -> "Vector":
        """Return the unit vector of a sequence, shape (dimension,), float32.

        Raises:
            EmbeddingUnavailable: The model cannot be loaded, or fails.
        """
        import numpy as np

        hidden = self._compute_hidden_states(ids)
        with translate_model_errors(self._model.name, self._directory):
            return normalise(hidden.mean(axis=0, dtype=np.float64))

    def embed_tokens(self, ids: Sequence[int]) -> "Matrix":
        """Return the unit vector of each token of a sequence, shape (tokens, dimension), float32.

        Raises:
            EmbeddingUnavailable: The model cannot be loaded, or fails.
        """
        hidden = self._compute_hidden_states(ids)
        with translate_model_errors(self._model.name, self._directory):
            return normalise(hidden)

    def _compute_hidden_states(self, ids: Sequence[int]) -> "Matrix":
        """Return the output of the last layer, shape (tokens, dimension)."""
        session = self.load()
        import numpy as np

        tokens = np.array([ids], dtype=np.int64)
        inputs = {
            "input_ids": tokens,
            "attention_mask": np.ones_like(tokens),
            "token_type_ids": np.zeros_like(tokens),
        }
        feed = {entry.name: inputs[entry.name] for entry in session.get_inputs()}
        with translate_model_errors(self._model.name, self._directory):
            hidden: Matrix = session.run(None, feed)[0][0]
        return hidden


def normalise(vectors: Any) -> "Vector":
    """Return a vector, or each row of a matrix, scaled to length 1, as float32.

    Raises:
        FloatingPointError: A vector is zero or not a number; the model is broken.
    """
    import numpy as np

    lengths = np.linalg.norm(np.asarray(vectors, np.float64), axis=-1, keepdims=True)
    scaled: Vector = (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)
    if not (np.abs(np.linalg.norm(scaled, axis=-1) - 1.0) < _ROUNDING).all():
        raise FloatingPointError("a vector has no direction")
    return scaled


_COUNTED = 256  # texts whose tokens are counted together

_PIECEWISE_CHARS = 20_000
"""How many characters are cut by the piece file before the library is loaded.

They cost .1 s, in scripts without spaces .5 s. Loading 250,000 pieces takes .65 s.
"""


class TokenSequence(NamedTuple):
    """One input sequence, and the [start, end) code points of its tokens by their position.

    Special tokens and those of the prefix have no span.
    """

    ids: list[int]
    spans: dict[int, tuple[int, int]]


class ModelTokenizer:
    """The tokenizer of an installed model, loaded on first use."""

    def __init__(self, directory: Path, model: "EmbeddingModel") -> None:
        self._directory = directory
        self._model = model
        self._translate_errors = partial(translate_model_errors, model.name, directory)
        self._lock = Lock()
        self._tokenizer: Any = None
        self._special: list[list[int]] = [[], []]
        """The special tokens before and after a sequence, known when a text was cut."""
        self._piece_file: PieceFile | None = None
        self._piecewise_chars = _PIECEWISE_CHARS

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, without special tokens."""
        clean = [replace_surrogates(text) for text in texts]
        slices = (clean[start : start + _COUNTED] for start in range(0, len(clean), _COUNTED))
        return [len(one.ids) for part in slices for one in self._cut(part, with_spans=False)]

    def encode(self, texts: Sequence[str], prefix: str) -> list[TokenSequence]:
        """Return the first window of each text, with the prefix and special tokens."""
        encodings = self._cut([prefix + replace_surrogates(text) for text in texts])
        head, tail = self._special
        shift, size = len(prefix), self._model.positions - len(head) - len(tail)
        return [
            TokenSequence(
                [*head, *one.ids[:size], *tail],
                {
                    position: (max(start - shift, 0), end - shift)
                    for position, (start, end) in enumerate(one.offsets[:size], start=len(head))
                    if end > max(start, shift)
                },
            )
            for one in encodings
        ]

    def _cut(self, texts: Sequence[str], *, with_spans: bool = True) -> Sequence[Any]:
        """Return the tokens of texts, as the library or the piece file gives them."""
        # Otherwise a fork after parallel work makes the library write a warning.
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
        library = import_library("tokenizers", "embedding", "tokenizers")
        with self._lock, self._translate_errors():
            if self._tokenizer is None:
                if (found := self._cut_piecewise(texts)) is not None:
                    return found
                self._load(library)
        encode = self._tokenizer.encode_batch if with_spans else self._tokenizer.encode_batch_fast
        with self._translate_errors():
            encodings: Sequence[Any] = encode(texts, add_special_tokens=False)
        return encodings

    def _cut_piecewise(self, texts: Sequence[str]) -> "list[Tokens] | None":
        """Return the tokens of few short texts, None when the library has to cut them."""
        path = self._directory / PIECES_FILE
        self._piecewise_chars -= sum(map(len, texts))
        if self._piecewise_chars < 0 or not path.is_file():
            return None
        with suppress(sqlite3.Error, ValueError):  # the library can do without the file
            self._piece_file = self._piece_file or PieceFile(path)
            self._special = self._piece_file.special
            return self._piece_file.encode(texts)
        return None

    def _load(self, library: Any) -> None:
        """Load the tokenizer without the padding and truncation that its file may set."""
        tokenizer = library.Tokenizer.from_file(str(self._directory / TOKENIZER_FILE))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        ids: list[int] = tokenizer.encode("").ids
        self._special = [ids[:1], ids[1:]]
        self._tokenizer = tokenizer


def replace_surrogates(text: str) -> str:
    """Return the text with lone surrogates replaced; the tokenizer refuses them."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


_FIND = "SELECT id, piece, score FROM pieces WHERE piece IN (SELECT value FROM json_each(?))"


class Tokens(NamedTuple):
    """The token ids of a text, and the [start, end) code points of each token."""

    ids: list[int]
    offsets: list[tuple[int, int]]


class PieceFile:
    """The file of an installed model; it is opened anew for each call.

    Every method raises `sqlite3.Error` when the file is missing or damaged.
    """

    def __init__(self, path: Path) -> None:
        """Read the settings of a file."""
        from tokenizers import Tokenizer

        self._uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
        with closing(sqlite3.connect(self._uri, uri=True)) as database:
            ((text,),) = database.execute("SELECT value FROM settings")
        self._settings: dict[str, Any] = json.loads(text)
        self._steps: Any = Tokenizer.from_str(self._settings["steps"])
        self.special: list[list[int]] = self._settings["special"]
        """The special tokens before and after a sequence."""

    def encode(self, texts: Sequence[str]) -> list[Tokens] | None:
        """Return the tokens of texts without lone surrogates; no special tokens are added.

        Return None when a text holds an added token of the tokenizer.
        """
        from tokenizers import Tokenizer, models

        clean = list(texts)
        if (normalizer := self._steps.normalizer) is not None:
            clean = [str(normalizer.normalize_str(text)) for text in texts]
        if any(token in text for text in (*texts, *clean) for token in self._settings["added"]):
            return None
        pieces = self._find_pieces(clean)
        ids = [number for number, _, _ in pieces]
        unknown = ids.index(self._settings["unknown"])
        tokenizer = Tokenizer(models.Unigram([(piece, by) for _, piece, by in pieces], unknown))
        tokenizer.normalizer = self._steps.normalizer
        tokenizer.pre_tokenizer = self._steps.pre_tokenizer
        found = (tokenizer.encode(text, add_special_tokens=False) for text in texts)
        return [Tokens([ids[number] for number in one.ids], one.offsets) for one in found]

    def _find_pieces(self, texts: Sequence[str]) -> list[tuple[int, str, float]]:
        """Return (id, piece, score) of each piece that is inside a text, by id."""
        splitter, longest = self._steps.pre_tokenizer, self._settings["longest"]
        words = set(texts)
        if splitter is not None:  # a piece does not cross the words that the library splits
            words = {word for text in texts for word, _ in splitter.pre_tokenize_str(text)}
        wanted = {
            word[start:end]
            for word in words
            for start in range(len(word))
            for end in range(start + 1, min(start + longest, len(word)) + 1)
        }
        found = {number: (number, piece, by) for number, piece, by in self._settings["always"]}
        with closing(sqlite3.connect(self._uri, uri=True)) as database:
            found |= {row[0]: row for row in database.execute(_FIND, [json.dumps(list(wanted))])}
        return [found[number] for number in sorted(found)]
