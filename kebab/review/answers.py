"""Records what rules ask about the world around a document, and asks it again later.

The findings in a document stay what they were while its content and all answers do.
"""

import os
from collections.abc import Sequence
from datetime import date
from hashlib import blake2b
from pathlib import Path
from typing import TypeAlias

from kebab.core.review import GlossaryTerm, ReviewText, SimilarParagraph, Surroundings

Question: TypeAlias = tuple[str, ...]
"""The name of what was asked for, and its argument if there is one."""

_DIGEST_BYTES = 8


class RecordedSurroundings:
    """The port `Surroundings` over another one; it keeps the questions about one document."""

    def __init__(self, surroundings: Surroundings) -> None:
        self._surroundings = surroundings
        self.questions: dict[Question, None] = {}

    @property
    def today(self) -> date:
        """The date of the review."""
        self.questions["today",] = None
        return self._surroundings.today

    @property
    def glossary(self) -> Sequence[GlossaryTerm]:
        """The terms of the settings, which are part of the key of a result."""
        return self._surroundings.glossary

    @property
    def stale_days(self) -> int:
        """After how many days a statement is stale, which is part of the key of a result."""
        return self._surroundings.stale_days

    def exists(self, path: Path | str) -> bool:
        """Return whether a file or a folder exists."""
        self.questions["exists", str(path)] = None
        return self._surroundings.exists(path)

    def list_anchors(self, path: Path) -> frozenset[str] | None:
        """Return the anchors of a file; whether it is the same file is asked later."""
        self.questions["file", str(path)] = None
        return self._surroundings.list_anchors(path)

    def find_note(self, document: ReviewText, target: str) -> Path | None:
        """Return the file of the same source with this path, name, title or alias."""
        self.questions["note", target] = None
        return self._surroundings.find_note(document, target)

    def list_namesakes(self, document: ReviewText, name: str) -> Sequence[Path]:
        """Return the files of the same source whose name is this one."""
        self.questions["namesakes", name] = None
        return self._surroundings.list_namesakes(document, name)

    def list_usual_fields(self, document: ReviewText) -> frozenset[str]:
        """Return the front matter fields that nearly all notes of the same folder have."""
        self.questions["fields",] = None
        return self._surroundings.list_usual_fields(document)

    def find_similar(self, document: ReviewText, paragraph: str) -> SimilarParagraph | None:
        """Return the most similar passage of another note; it depends on the whole index."""
        self.questions["index",] = None
        return self._surroundings.find_similar(document, paragraph)


def answer_question(
    surroundings: Surroundings, document: ReviewText, question: Question, index_state: str
) -> str:
    """Return the answer to a recorded question as a short text that is equal for equal answers.

    Only the file and the root of the document are used.
    """
    answer: object
    match question:
        case ("exists", path):
            return "1" if surroundings.exists(path) else "0"
        case ("file", path):
            answer = _read_state(path)
        case ("note", target):
            answer = surroundings.find_note(document, target)
        case ("namesakes", name):
            answer = [*surroundings.list_namesakes(document, name)]
        case ("fields",):
            answer = sorted(surroundings.list_usual_fields(document))
        case ("index",):
            answer = index_state
        case _:
            answer = surroundings.today
    return blake2b(repr(answer).encode(errors="replace"), digest_size=_DIGEST_BYTES).hexdigest()


def _read_state(path: str) -> tuple[int, int, int] | None:
    """Return what changes with the content of a file; None when there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116 - far faster
    except (OSError, ValueError):
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
