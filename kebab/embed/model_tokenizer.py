"""Turns text into token ids with the tokenizer of an installed model."""

import os
import sqlite3
import threading
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from kebab.embed import install
from kebab.embed.encoder import translate_model_errors
from kebab.embed.piece_file import PieceFile, Tokens
from kebab.errors.system import import_library

if TYPE_CHECKING:
    from kebab.embed.registry import EmbeddingModel

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

    def __init__(self, directory: Path, model: "EmbeddingModel") -> None:
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

    def _cut_piecewise(self, texts: Sequence[str]) -> list[Tokens] | None:
        """Return the tokens of few short texts, None when the library has to cut them."""
        path = self._directory / install.PIECES_FILE
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
        tokenizer = library.Tokenizer.from_file(str(self._directory / install.TOKENIZER_FILE))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        ids: list[int] = tokenizer.encode("").ids
        self._special = [ids[:1], ids[1:]]
        self._tokenizer = tokenizer


def replace_surrogates(text: str) -> str:
    """Return the text with lone surrogates replaced; the tokenizer refuses them."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
