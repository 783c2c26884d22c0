"""Edits notes while they are searched, and says what a search must and must not find."""

import random
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_LETTERS = "bcdfghjkmnpqrtvwxz"
_WORD_CHARS = 12


@dataclass(frozen=True, slots=True)
class Edit:
    """The last edit of a note: the word that it has now, that of the edit before, and the time."""

    path: str
    word: str
    old: str | None
    written: float


class EditedNotes:
    """Notes of which each holds one word that is nowhere else; an edit replaces it.

    Args:
        folder: The folder of the notes, inside of the indexed one.
        root: The indexed folder.
        count: The number of notes.
        seed: The seed of the words.
    """

    def __init__(self, folder: Path, root: Path, count: int, seed: int) -> None:
        self._folder = folder
        self._root = root
        self._chance = random.Random(seed)  # noqa: S311 - the same seed makes the same words
        self._lock = threading.Lock()
        self._edits: dict[str, Edit] = {}
        folder.mkdir(parents=True)
        for number in range(count):
            self._write(folder / f"note-{number}.md")

    def edit(self) -> Edit:
        """Replace the word of one note as editors do, by a new file under its name."""
        with self._lock:
            path = self._root / self._chance.choice([*self._edits])
        return self._write(path)

    def list_settled(self, seconds: float) -> list[Edit]:
        """Return the edits that are at least this old."""
        before = time.monotonic() - seconds
        with self._lock:
            return [one for one in self._edits.values() if one.written < before]

    def is_last(self, edit: Edit) -> bool:
        """Return whether a note was not edited again."""
        with self._lock:
            return self._edits[edit.path] is edit

    def _write(self, path: Path) -> Edit:
        word = "".join(self._chance.choices(_LETTERS, k=_WORD_CHARS))
        name = str(path.relative_to(self._root))
        draft = path.with_name(f".{path.name}.draft")
        draft.write_text(
            f"# Note {path.stem}\n\nThe word of this note is {word}, and it is in no other.\n",
            encoding="utf-8",
        )
        draft.replace(path)
        with self._lock:
            before = self._edits.get(name)
            edit = Edit(name, word, before.word if before else None, time.monotonic())
            self._edits[name] = edit
        return edit


def find_faults(reply: Mapping[str, object], edit: Edit) -> Iterator[str]:
    """Yield what is wrong with the answer to a search for the word of an edit."""
    paths = [hit["doc_path"] for hit in _list_hits(reply)]
    if paths[:1] != [edit.path]:
        yield f"{edit.path} has {edit.word}, and the hits are {paths}"


def find_old_faults(reply: Mapping[str, object], edit: Edit) -> Iterator[str]:
    """Yield what is wrong with the answer to a search for the word that an edit removed.

    With vectors any word has hits, so the answer must say that the word occurs nowhere. The tool of
    MCP returns no such list.
    """
    absent = reply.get("absent_terms")
    if isinstance(absent, list) and edit.old not in absent:
        yield f"{edit.path} had {edit.old} before, and only these are absent: {absent}"


def _list_hits(reply: Mapping[str, object]) -> list[dict[str, object]]:
    hits = reply["hits"]
    assert isinstance(hits, list)
    return hits
