"""Cuts few short texts by a Unigram vocabulary without loading all of its pieces.

A vocabulary of 250,000 pieces takes the library most of a second to load. A question touches some
hundred of them. They are looked up in a small database that installation writes, and the library
cuts the text by them alone. A text has no other pieces, so the tokens are the same.
"""

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

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

    There is none for another kind of vocabulary, or when the database cannot be written.
    """
    raw = json.loads(tokenizer_file.read_text(encoding="utf-8"))
    if not _is_supported(raw):
        return False
    vocabulary = [(piece, score) for piece, score in raw["model"]["vocab"]]
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


def _is_supported(raw: Mapping[str, Any]) -> bool:
    """Return whether the tokens of a text depend on nothing but the pieces inside it."""
    model = raw["model"]
    if model.get("type") != "Unigram" or model.get("unk_id") is None or model.get("byte_fallback"):
        return False
    pieces = {piece for piece, _ in model["vocab"]}
    return len(pieces) == len(model["vocab"])


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
    model = raw["model"] | {"vocab": [vocabulary[unknown]], "unk_id": 0}
    steps = {"version": "1.0", "model": model, "added_tokens": []}
    steps |= {name: raw.get(name) for name in ("normalizer", "pre_tokenizer")}
    return {
        "steps": json.dumps(steps, ensure_ascii=False),
        "unknown": unknown,
        "always": [(number, *vocabulary[number]) for number in {unknown, lowest}],
        "longest": max(len(piece) for piece, _ in vocabulary),
        "added": _list_added_tokens(raw, frame),
        "special": [ids[:1], ids[1:]],
    }


def _list_added_tokens(raw: Mapping[str, Any], tokenizer: Any) -> list[str]:
    """Return the tokens that the library cuts out before the model, also as normalised text."""
    contents = {token["content"] for token in raw.get("added_tokens", ())}
    if tokenizer.normalizer is not None:
        contents |= {tokenizer.normalizer.normalize_str(content) for content in contents}
    return sorted(contents - {""})


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
        clean = [self._normalise(text) for text in texts]
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

    def _normalise(self, text: str) -> str:
        normalizer = self._steps.normalizer
        return text if normalizer is None else str(normalizer.normalize_str(text))

    def _split_words(self, text: str) -> list[str]:
        """Return the words of a normalised text as the library passes them to its model."""
        splitter = self._steps.pre_tokenizer
        return [text] if splitter is None else [word for word, _ in splitter.pre_tokenize_str(text)]
