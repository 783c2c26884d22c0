"""Finds an installed model, and runs it with tokenizers and onnxruntime alone, a text at a time.

A fresh process embeds a question so, because fastembed takes half a second to import. The vectors
equal those of fastembed. One text at a time makes a vector depend on its text alone: int8 scales
activations over all texts of a run. Both libraries are imported on first use.

A vocabulary of 250,000 pieces takes tokenizers most of a second to load. A question touches some
hundred of them. They are looked up in a small database that installation writes, and the library
cuts the text by them alone. A text has no other pieces, so the tokens are the same.

`<models_dir>/<embedding_version>/` holds `model.onnx`, `tokenizer.json`, `tokenizer_config.json`
and `manifest.json`. The weights are in `model.onnx.data`, which the runtime maps into memory, and a
Unigram vocabulary also in `pieces.db`.
"""

import json
import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from hashlib import file_digest
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from msgspec import Struct

from kebab.config.settings import AUTO
from kebab.embed import registry
from kebab.embed.registry import EmbeddingModel
from kebab.errors.catalog import EmbeddingUnavailable
from kebab.errors.signal import Signal
from kebab.errors.system import import_library

if TYPE_CHECKING:
    from kebab.core.chunks import Matrix, Vector

MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"
TOKENIZER_CONFIG_FILE = "tokenizer_config.json"
WEIGHTS_FILE = "model.onnx.data"
PIECES_FILE = "pieces.db"
MANIFEST_FILE = "manifest.json"
FILES = (MODEL_FILE, TOKENIZER_FILE, TOKENIZER_CONFIG_FILE)
"""The files of every model; its manifest lists them and others."""


class FileFacts(Struct, frozen=True):
    """The hash and size of a file."""

    sha256: str
    size: int


class Manifest(Struct, frozen=True, kw_only=True):
    """The description of an installed model and of its download source."""

    embedding_version: str
    source: str
    files: dict[str, FileFacts]


def read_file_facts(path: Path) -> FileFacts:
    """Return the hash and size of a file on disk."""
    with path.open("rb") as file:
        digest = file_digest(file, "sha256").hexdigest()
    return FileFacts(sha256=digest, size=path.stat().st_size)


def write_manifest(directory: Path, manifest: Manifest) -> None:
    """Write the manifest into a model directory."""
    text = msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"
    (directory / MANIFEST_FILE).write_bytes(text)


def read_manifest(directory: Path) -> Manifest | None:
    """Return the manifest of a model directory, or None when there is no readable one.

    Fields of later releases are ignored.
    """
    try:
        return msgspec.json.decode((directory / MANIFEST_FILE).read_bytes(), type=Manifest)
    except (OSError, ValueError, msgspec.MsgspecError):
        return None


def find_installed(model: EmbeddingModel, models_dir: Path) -> Path | None:
    """Return the model's directory when all its files are there in full size, else None."""
    directory = models_dir / model.version
    return directory if is_complete(model, directory) else None


def is_complete(model: EmbeddingModel, directory: Path) -> bool:
    """Return whether a directory holds this model with all its files in full size."""
    manifest = read_manifest(directory)
    if manifest is None or manifest.embedding_version != model.version:
        return False
    if not manifest.files.keys() >= set(FILES):
        return False
    with suppress(OSError):
        return all(
            (directory / name).stat().st_size == facts.size
            for name, facts in manifest.files.items()
        )
    return False


def verify_files(directory: Path) -> list[str]:
    """Compare every byte of a model directory with its manifest; return the faults."""
    manifest = read_manifest(directory)
    if manifest is None:
        return [f"no readable {MANIFEST_FILE}"]
    paths = {name: directory / name for name in manifest.files}
    missing = [f"missing: {name}" for name, path in paths.items() if not path.is_file()]
    return missing or [
        f"changed: {name}"
        for name, path in paths.items()
        if read_file_facts(path) != manifest.files[name]
    ]


def find_stored_model(version: str | None, models_dir: Path) -> tuple[EmbeddingModel, Path]:
    """Return the model of the stored vectors and its directory; nothing is downloaded.

    Raises:
        EmbeddingUnavailable: No vector is stored, or the weights are not on this machine.
    """
    if version is None:
        raise EmbeddingUnavailable(model=AUTO, tried=[], cause="no model was chosen yet")
    model = registry.find_named(version)
    if model is None:
        cause = "the settings and this build do not have the model of the stored vectors"
        raise EmbeddingUnavailable(model=version, tried=[], cause=cause)
    ready = find_installed(model, models_dir)
    if ready is None:
        cause = "the model of the stored vectors is not installed"
        # The hint names the model: `auto` may install another, which cannot query these vectors.
        raise EmbeddingUnavailable(model=model.key, tried=[], cause=cause)
    return model, ready


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


def require_files(model: EmbeddingModel, directory: Path) -> None:
    """Check that all files of a model are there in full size.

    Raises:
        EmbeddingUnavailable: They are not.
    """
    if not is_complete(model, directory):
        cause = "the model's files are missing or incomplete"
        raise EmbeddingUnavailable(model=model.name, tried=[str(directory)], cause=cause)


class Encoder:
    """The model of an installed directory, loaded on first use."""

    def __init__(self, directory: Path, model: EmbeddingModel) -> None:
        self._directory = directory
        self._model = model
        self._lock = threading.Lock()
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
            threading.Thread(target=self._load_in_thread, name="model", daemon=True).start()

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


_SLICE = 256

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

    def __init__(self, directory: Path, model: EmbeddingModel) -> None:
        self._directory = directory
        self._model = model
        self._translate_errors = partial(translate_model_errors, model.name, directory)
        self._lock = threading.Lock()
        self._tokenizer: Any = None
        self._special: list[list[int]] = [[], []]
        """The special tokens before and after a sequence, known when a text was cut."""
        self._piece_file: PieceFile | None = None
        self._piecewise_chars = _PIECEWISE_CHARS

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, without special tokens."""
        clean = [replace_surrogates(text) for text in texts]
        slices = (clean[start : start + _SLICE] for start in range(0, len(clean), _SLICE))
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


_SCHEMA = """
CREATE TABLE pieces (piece TEXT PRIMARY KEY, id INTEGER, score REAL) WITHOUT ROWID;
CREATE TABLE settings (value TEXT);
"""
_FIND = "SELECT id, piece, score FROM pieces WHERE piece IN (SELECT value FROM json_each(?))"


class Tokens(NamedTuple):
    """The token ids of a text, and the [start, end) code points of each token."""

    ids: list[int]
    offsets: list[tuple[int, int]]


def write_piece_file(tokenizer_file: Path, library: Any, target: Path) -> None:
    """Write the pieces of a `tokenizer.json`, and all else that a text is cut by.

    `library` is the `Tokenizer` of the file, which takes a second to load. Nothing is written when
    the tokens of a text depend on more than the pieces inside it.
    """
    raw = json.loads(tokenizer_file.read_text(encoding="utf-8"))
    model = raw["model"]
    if model.get("type") != "Unigram" or model.get("unk_id") is None or model.get("byte_fallback"):
        return
    vocabulary, unknown = model["vocab"], model["unk_id"]
    # The lowest score decides what an unknown character costs.
    lowest = min(range(len(vocabulary)), key=lambda number: vocabulary[number][1])
    library.no_padding()
    ids = library.encode("").ids
    # The library cuts these out before the model, also where they are normalised text.
    added = {token["content"] for token in raw.get("added_tokens", ())}
    if library.normalizer is not None:
        added |= {library.normalizer.normalize_str(content) for content in added}
    steps = {"version": "1.0", "added_tokens": []}
    steps |= {name: raw.get(name) for name in ("normalizer", "pre_tokenizer")}
    steps["model"] = model | {"vocab": [vocabulary[unknown]], "unk_id": 0}
    settings = {
        "steps": json.dumps(steps, ensure_ascii=False),
        "unknown": unknown,
        "always": [(number, *vocabulary[number]) for number in {unknown, lowest}],
        "longest": max(len(piece) for piece, _ in vocabulary),
        "added": sorted(added - {""}),
        "special": [ids[:1], ids[1:]],
    }
    rows = sorted((piece, number, score) for number, (piece, score) in enumerate(vocabulary))
    with closing(sqlite3.connect(target)) as database:
        database.executescript(_SCHEMA)
        database.executemany("INSERT OR REPLACE INTO pieces VALUES (?, ?, ?)", rows)
        database.execute("INSERT INTO settings VALUES (?)", [json.dumps(settings)])
        database.commit()


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
