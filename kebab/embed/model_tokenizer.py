"""Turns text into token ids with the tokenizer of the model, without truncation.

A vocabulary of 250,000 pieces takes the library most of a second to load. A question touches some
hundred of them. They are looked up in a small database that installation writes, and the library
cuts the text by them alone. A text has no other pieces, so the tokens are the same.
"""

import json
import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from kebab.embed import install
from kebab.errors.catalog import EmbeddingUnavailable
from kebab.errors.system import import_library

if TYPE_CHECKING:
    from kebab.embed.registry import EmbeddingModel

_SCHEMA = """
CREATE TABLE pieces (piece TEXT PRIMARY KEY, id INTEGER, score REAL) WITHOUT ROWID;
CREATE TABLE settings (value TEXT);
"""
_BATCH = 500  # pieces that one statement looks up


class Tokens(NamedTuple):
    """The token ids of a text, and the [start, end) code points of each token."""

    ids: list[int]
    offsets: list[tuple[int, int]]


def write_piece_file(tokenizer_file: Path, target: Path) -> bool:
    """Write the pieces of a `tokenizer.json`; return whether there is a file now.

    There is none when the tokens of a text depend on more than the pieces inside it, or when the
    database cannot be written.
    """
    raw = json.loads(tokenizer_file.read_text(encoding="utf-8"))
    model = raw["model"]
    if model.get("type") != "Unigram" or model.get("unk_id") is None or model.get("byte_fallback"):
        return False
    if len({piece for piece, _ in model["vocab"]}) != len(model["vocab"]):
        return False
    vocabulary = [(piece, score) for piece, score in model["vocab"]]
    settings = json.dumps(_read_settings(raw, vocabulary, tokenizer_file))
    rows = [(piece, number, score) for number, (piece, score) in enumerate(vocabulary)]
    try:
        with closing(sqlite3.connect(target)) as database:
            database.executescript(_SCHEMA)
            database.executemany("INSERT INTO pieces VALUES (?, ?, ?)", sorted(rows))
            database.execute("INSERT INTO settings VALUES (?)", [settings])
            database.commit()
    except sqlite3.Error:
        target.unlink(missing_ok=True)
        return False
    return True


def _read_settings(
    raw: Mapping[str, Any], vocabulary: Sequence[tuple[str, float]], tokenizer_file: Path
) -> dict[str, Any]:
    """Return all that a text is cut by, except the pieces.

    The lowest score of the vocabulary decides what an unknown character costs.
    """
    from tokenizers import Tokenizer

    unknown = raw["model"]["unk_id"]
    lowest = min(range(len(vocabulary)), key=lambda number: vocabulary[number][1])
    frame = Tokenizer.from_file(str(tokenizer_file))
    frame.no_padding()
    frame.no_truncation()
    ids = frame.encode("").ids
    # The library cuts these out before the model, also where they are normalised text.
    added = {token["content"] for token in raw.get("added_tokens", ())}
    if frame.normalizer is not None:
        added |= {frame.normalizer.normalize_str(content) for content in added}
    model = raw["model"] | {"vocab": [vocabulary[unknown]], "unk_id": 0}
    steps = {"version": "1.0", "model": model, "added_tokens": []}
    steps |= {name: raw.get(name) for name in ("normalizer", "pre_tokenizer")}
    return {
        "steps": json.dumps(steps, ensure_ascii=False),
        "unknown": unknown,
        "always": [(number, *vocabulary[number]) for number in {unknown, lowest}],
        "longest": max(len(piece) for piece, _ in vocabulary),
        "added": sorted(added - {""}),
        "special": [ids[:1], ids[1:]],
    }


class PieceFile:
    """The file of an installed model; it is opened anew for each call."""

    def __init__(self, path: Path) -> None:
        self._uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
        with closing(sqlite3.connect(self._uri, uri=True)) as database:
            ((text,),) = database.execute("SELECT value FROM settings")
        self._settings: dict[str, Any] = json.loads(text)
        self._steps: Any = None

    @property
    def special(self) -> tuple[list[int], list[int]]:
        """The special tokens before and after a sequence."""
        before, after = self._settings["special"]
        return before, after

    def encode(self, texts: Sequence[str]) -> list[Tokens] | None:
        """Return the tokens of texts without lone surrogates; no special tokens are added.

        Return None when the file has gone, or when a text holds an added token of the tokenizer.
        """
        from tokenizers import Tokenizer, models

        if self._steps is None:
            self._steps = Tokenizer.from_str(self._settings["steps"])
        clean = list(texts)
        if (normalizer := self._steps.normalizer) is not None:
            clean = [str(normalizer.normalize_str(text)) for text in texts]
        added = self._settings["added"]
        if any(token in text for text in (*texts, *clean) for token in added):
            return None
        try:
            pieces = self._find_pieces(clean)
        except sqlite3.Error:
            return None
        ids = [number for number, _, _ in pieces]
        unknown = ids.index(self._settings["unknown"])
        tokenizer = Tokenizer(models.Unigram([(piece, by) for _, piece, by in pieces], unknown))
        tokenizer.normalizer = self._steps.normalizer
        tokenizer.pre_tokenizer = self._steps.pre_tokenizer
        found = (tokenizer.encode(text, add_special_tokens=False) for text in texts)
        return [Tokens([ids[number] for number in one.ids], one.offsets) for one in found]

    def _find_pieces(self, texts: Sequence[str]) -> list[tuple[int, str, float]]:
        """Return (id, piece, score) of each piece that is inside a text, by id."""
        found = {number: (number, piece, by) for number, piece, by in self._settings["always"]}
        wanted = sorted(self._list_substrings(texts))
        with closing(sqlite3.connect(self._uri, uri=True)) as database:
            for start in range(0, len(wanted), _BATCH):
                batch = wanted[start : start + _BATCH]
                marks = ",".join("?" * len(batch))
                query = f"SELECT id, piece, score FROM pieces WHERE piece IN ({marks})"  # noqa: S608
                found |= {row[0]: row for row in database.execute(query, batch)}
        return [found[number] for number in sorted(found)]

    def _list_substrings(self, texts: Iterable[str]) -> set[str]:
        """Return every substring of the words of texts that is not longer than any piece."""
        longest = self._settings["longest"]
        return {
            word[start:end]
            for word in {word for text in texts for word in self._split_words(text)}
            for start in range(len(word))
            for end in range(start + 1, min(start + longest, len(word)) + 1)
        }

    def _split_words(self, text: str) -> list[str]:
        """Return the words of a normalised text as the library passes them to its model."""
        splitter = self._steps.pre_tokenizer
        return [text] if splitter is None else [word for word, _ in splitter.pre_tokenize_str(text)]


_SLICE = 256

_PIECEWISE_CHARS = 20_000
"""How many characters are cut by the piece file before the library is loaded.

They cost .1 s, in scripts without spaces .5 s; loading 250,000 pieces takes .65 s.
"""


@contextmanager
def translate_tokenizer_errors(model: str, directory: str) -> Iterator[None]:
    """Turn the exceptions of tokenizers into `EmbeddingUnavailable`.

    The library raises plain `Exception`, so only that exact class is translated.
    """
    try:
        yield
    except MemoryError as error:
        raise EmbeddingUnavailable(model=model, tried=[directory], cause="out of memory") from error
    except Exception as error:
        if type(error) is not Exception:
            raise
        cause = f"the tokenizer failed; {error}"
        raise EmbeddingUnavailable(model=model, tried=[directory], cause=cause) from error


class TokenSequence(NamedTuple):
    """One input sequence, and the [start, end) code points of its tokens by their position.

    Special tokens and those of the prefix have no span.
    """

    ids: list[int]
    spans: dict[int, tuple[int, int]]


class ModelTokenizer:
    """The tokenizer of an installed model, loaded on first use."""

    def __init__(self, directory: "Path", model: "EmbeddingModel") -> None:
        self._directory = directory
        self._model = model
        self._lock = threading.Lock()
        self._tokenizer: Any = None
        self._special: tuple[list[int], list[int]] = ([], [])
        """The special tokens before and after a sequence, known when a file is loaded."""
        self._piece_file: PieceFile | None = None
        self._piecewise_chars: int | None = None
        """How many more characters the piece file may cut; None before it is looked for."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, without special tokens."""
        return [len(ids) for ids in self._encode(texts)]

    def split_windows(self, texts: Sequence[str], prefix: str) -> list[list[list[int]]]:
        """Return the input sequences of each text, with special tokens.

        A text is one sequence, or several of at most `model.window` content tokens each.
        """
        encoded = self._encode([prefix + text for text in texts])
        head, tail = self._special
        windows = []
        for text, ids in zip(texts, encoded, strict=True):
            if len(head) + len(ids) + len(tail) <= self._model.positions:
                windows.append([[*head, *ids, *tail]])
            else:
                start = [*head, *self._encode([prefix.strip()])[0]]
                (content,) = self._encode([text])
                size = self._model.window
                offsets = range(0, len(content), size)
                windows.append(
                    [[*start, *content[offset : offset + size], *tail] for offset in offsets]
                )
        return windows

    def encode_starts(self, texts: Sequence[str], prefix: str) -> list[TokenSequence]:
        """Return the first window of each text, with the prefix and special tokens."""
        clean = [prefix + replace_surrogates(text) for text in texts]
        encodings: Any = self._encode_piecewise(clean)
        if encodings is None:
            tokenizer = self._load()
            with self._translate_errors():
                encodings = tokenizer.encode_batch(clean, add_special_tokens=False)
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

    def _encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each text, without special tokens."""
        clean = [replace_surrogates(text) for text in texts]
        if (found := self._encode_piecewise(clean)) is not None:
            return [one.ids for one in found]
        tokenizer = self._load()
        token_ids: list[list[int]] = []
        with self._translate_errors():
            for start in range(0, len(clean), _SLICE):
                part = clean[start : start + _SLICE]
                encodings = tokenizer.encode_batch_fast(part, add_special_tokens=False)
                token_ids.extend(encoding.ids for encoding in encodings)
        return token_ids

    def _encode_piecewise(self, texts: Sequence[str]) -> "list[Tokens] | None":
        """Return the tokens of few short texts, or None when the library has to be loaded."""
        with self._lock:
            if self._piecewise_chars is None:
                self._piecewise_chars = self._open_piece_file()
            left = self._piecewise_chars - sum(map(len, texts))
            if self._piece_file is None or self._tokenizer is not None or left < 0:
                return None
            self._piecewise_chars = left
        with self._translate_errors():
            return self._piece_file.encode(texts)

    def _open_piece_file(self) -> int:
        """Open the piece file, if the model has one; return how many characters it may cut."""
        manifest = install.read_manifest(self._directory)
        if manifest is None or install.PIECES_FILE not in manifest.files:
            return 0

        self._import_library()
        with self._translate_errors():
            self._piece_file = PieceFile(self._verify_file(install.PIECES_FILE))
        self._special = self._piece_file.special
        return _PIECEWISE_CHARS

    def _load(self) -> Any:
        """Return the tokenizer without the padding and truncation that its file may set."""
        with self._lock:
            if self._tokenizer is None:
                library = self._import_library()
                with self._translate_errors():
                    path = self._verify_file(install.TOKENIZER_FILE)
                    tokenizer = library.Tokenizer.from_file(str(path))
                    tokenizer.no_padding()
                    tokenizer.no_truncation()
                    special: list[int] = tokenizer.encode("").ids
                self._special = special[:1], special[1:]
                self._tokenizer = tokenizer
            return self._tokenizer

    def _import_library(self) -> Any:
        # Otherwise a fork after parallel work makes the library write a warning.
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
        import_library("tokenizers", "embedding", "tokenizers")
        import tokenizers

        return tokenizers

    def _translate_errors(self) -> AbstractContextManager[None]:
        return translate_tokenizer_errors(self._model.name, str(self._directory))

    def _verify_file(self, name: str) -> "Path":
        """Return a file of the tokenizer after comparing its hash with the manifest.

        The library raises a bare `Exception` for a damaged file, so the hash is checked first.
        """
        path = self._directory / name
        manifest = install.read_manifest(self._directory)
        try:
            facts = install.read_file_facts(path)
            is_intact = manifest is not None and manifest.files[path.name] == facts
        except (OSError, KeyError):
            is_intact = False
        if not is_intact:
            raise EmbeddingUnavailable(
                model=self._model.name,
                tried=[str(self._directory)],
                cause=f"{path.name} is missing or damaged",
            )
        return path


def replace_surrogates(text: str) -> str:
    """Return the text with lone surrogates replaced; the tokenizer refuses them."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
