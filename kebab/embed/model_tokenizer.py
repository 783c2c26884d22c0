"""Turns text into token ids with the tokenizer of the model, without truncation."""

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from kebab.embed import model_directory
from kebab.errors.catalog import EmbeddingUnavailable
from kebab.errors.system import import_library

if TYPE_CHECKING:
    from pathlib import Path

    from kebab.embed.piece_file import PieceFile, Tokens
    from kebab.embed.registry import EmbeddingModel

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
        clean = [prefix + _replace_surrogates(text) for text in texts]
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
        clean = [_replace_surrogates(text) for text in texts]
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
        manifest = model_directory.read_manifest(self._directory)
        if manifest is None or model_directory.PIECES_FILE not in manifest.files:
            return 0
        from kebab.embed.piece_file import PieceFile

        self._import_library()
        with self._translate_errors():
            self._piece_file = PieceFile(self._verify_file(model_directory.PIECES_FILE))
        self._special = self._piece_file.special
        return _PIECEWISE_CHARS

    def _load(self) -> Any:
        """Return the tokenizer without the padding and truncation that its file may set."""
        with self._lock:
            if self._tokenizer is None:
                library = self._import_library()
                with self._translate_errors():
                    path = self._verify_file(model_directory.TOKENIZER_FILE)
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
        manifest = model_directory.read_manifest(self._directory)
        try:
            facts = model_directory.read_file_facts(path)
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


def _replace_surrogates(text: str) -> str:
    """Return the text with lone surrogates replaced; the tokenizer refuses them."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
