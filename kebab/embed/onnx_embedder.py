"""Embeds with an installed model: passages with fastembed, questions and tokens without it.

fastembed runs one text at a time on one thread, and several texts run in parallel. On a CPU this is
faster than a padded batch, because no time goes into padding. It also makes a vector depend on its
text alone. Few passages are embedded like a question: the vectors are equal.
"""

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias

from kebab.core.chunks import TokenVectors
from kebab.embed.encoder import (
    MODEL_FILE,
    Encoder,
    ModelTokenizer,
    import_runtime,
    normalise,
    replace_surrogates,
    require_files,
    translate_model_errors,
)
from kebab.errors.catalog import EmbeddingUnavailable, TimedOut
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
