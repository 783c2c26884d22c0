"""Cuts short texts into the tokens of a large vocabulary without loading it.

A vocabulary of 250,000 pieces takes tokenizers most of a second to load. A question touches some
hundred of them. They are looked up in a small database that installation writes, and the library
cuts the text by them alone. A text has no other pieces, so the tokens are the same.
"""

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

_SCHEMA = """
CREATE TABLE pieces (piece TEXT PRIMARY KEY, id INTEGER, score REAL) WITHOUT ROWID;
CREATE TABLE settings (value TEXT);
"""
_FIND = "SELECT id, piece, score FROM pieces WHERE piece IN (SELECT value FROM json_each(?))"


class Tokens(NamedTuple):
    """The token ids of a text, and the [start, end) code points of each token."""

    ids: list[int]
    offsets: list[tuple[int, int]]


def write_piece_file(tokenizer_file: Path, target: Path) -> None:
    """Write the pieces of a `tokenizer.json`, and all else that a text is cut by.

    Nothing is written when the tokens of a text depend on more than the pieces inside it.
    """
    from tokenizers import Tokenizer

    raw = json.loads(tokenizer_file.read_text(encoding="utf-8"))
    model = raw["model"]
    if model.get("type") != "Unigram" or model.get("unk_id") is None or model.get("byte_fallback"):
        return
    vocabulary, unknown = model["vocab"], model["unk_id"]
    # The lowest score decides what an unknown character costs.
    lowest = min(range(len(vocabulary)), key=lambda number: vocabulary[number][1])
    library = Tokenizer.from_file(str(tokenizer_file))
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
