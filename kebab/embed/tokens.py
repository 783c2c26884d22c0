"""Turns text into token ids, with the model's own tokenizer and without ever cutting a tail off."""

import os
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kebab.embed import layout
from kebab.embed.faults import Tokenizing
from kebab.errors.catalog import EmbeddingUnavailable
from kebab.errors.dependency import needed

if TYPE_CHECKING:
    from pathlib import Path

    from kebab.embed.models import EmbeddingModel

_SLICE = 256


class Tokens:
    """The tokenizer of an installed model, loaded when it is first needed."""

    def __init__(self, directory: "Path", model: "EmbeddingModel") -> None:
        self._directory = directory
        self._model = model
        self._lock = threading.Lock()
        self._tokenizer: Any = None
        self._frame: tuple[list[int], list[int]] = ([], [])
        """The special tokens before and after a sequence, once the tokenizer is loaded."""

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return how many tokens each text is, special tokens left out."""
        return [len(ids) for ids in self._ids(texts)]

    def windows(self, texts: Sequence[str], prefix: str) -> list[list[list[int]]]:
        """Return, for each text, the sequences that the model has to see, special tokens included.

        That is one sequence, or several of at most `model.window` tokens of content each.
        """
        self._load()
        head, tail = self._frame
        found = []
        for text, ids in zip(texts, self._ids([prefix + text for text in texts]), strict=True):
            if len(head) + len(ids) + len(tail) <= self._model.positions:
                found.append([[*head, *ids, *tail]])
            else:
                start = [*head, *self._ids([prefix.strip()])[0]]
                (content,) = self._ids([text])
                size = self._model.window
                cuts = range(0, len(content), size)
                found.append([[*start, *content[cut : cut + size], *tail] for cut in cuts])
        return found

    def _ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each text, special tokens left out."""
        tokenizer = self._load()
        found: list[list[int]] = []
        with self._translated():
            for start in range(0, len(texts), _SLICE):
                clean = [_encodable(text) for text in texts[start : start + _SLICE]]
                encodings = tokenizer.encode_batch_fast(clean, add_special_tokens=False)
                found.extend(encoding.ids for encoding in encodings)
        return found

    def _load(self) -> Any:
        """Return the tokenizer, without the padding and cutting that its file may ask for."""
        with self._lock:
            if self._tokenizer is None:
                # Unset, a fork after parallel work makes the library write a warning to stderr.
                os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
                with needed("embedding", "tokenizers"):
                    from tokenizers import Tokenizer

                with self._translated():
                    tokenizer = Tokenizer.from_file(str(self._proven_file()))
                    tokenizer.no_padding()
                    tokenizer.no_truncation()
                    frame: list[int] = tokenizer.encode("").ids
                self._frame = frame[:1], frame[1:]
                self._tokenizer = tokenizer
            return self._tokenizer

    def _translated(self) -> Tokenizing:
        return Tokenizing(self._model.name, str(self._directory))

    def _proven_file(self) -> "Path":
        """Return the tokenizer's file after comparing its hash with the manifest.

        The library raises a bare `Exception` for a damaged file; the hash tells it beforehand.
        """
        path = self._directory / layout.TOKENIZER_FILE
        manifest = layout.read_manifest(self._directory)
        try:
            whole = manifest is not None and manifest.files[path.name] == layout.facts(path)
        except (OSError, KeyError):
            whole = False
        if not whole:
            raise EmbeddingUnavailable(
                model=self._model.name,
                tried=[str(self._directory)],
                cause=f"{path.name} is missing or damaged",
            )
        return path


def _encodable(text: str) -> str:
    """Return the text with lone surrogates replaced, which the tokenizer would refuse."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
