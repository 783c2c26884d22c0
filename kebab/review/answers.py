"""Records what rules ask about the world around a document, and asks it again later.

The findings in a document stay what they were while its content and all answers do.
"""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import date
from hashlib import blake2b
from pathlib import Path
from typing import TypeAlias

import msgspec

from kebab.core.review import (
    FrontMatterUse,
    GlossaryTerm,
    Markup,
    ReviewText,
    SimilarParagraph,
    Site,
    Surroundings,
)

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

    @property
    def words(self) -> Collection[str]:
        """The words of the settings, which are part of the key of a result."""
        return self._surroundings.words

    @property
    def has_index(self) -> bool:
        """Whether there is an index."""
        self.questions["index",] = None
        return self._surroundings.has_index

    def exists(self, path: Path | str) -> bool:
        """Return whether a file or a folder exists."""
        self.questions["exists", str(path)] = None
        return self._surroundings.exists(path)

    def find_any_case(self, path: str) -> str | None:
        """Return the only existing path that differs from one in letter case at most."""
        self.questions["case", path] = None
        return self._surroundings.find_any_case(path)

    def find_original(self, file: Path) -> Path:
        """Return the file that a symbolic link leads to."""
        self.questions["original", str(file)] = None
        return self._surroundings.find_original(file)

    def is_built(self, path: str) -> bool:
        """Return whether a build writes a missing file."""
        self.questions["built", path] = None
        return self._surroundings.is_built(path)

    def find_site(self, file: Path) -> Site | None:
        """Return the site whose configuration is nearest above a file."""
        self.questions["site", str(file)] = None
        return self._surroundings.find_site(file)

    def list_routes(self, site: Site) -> frozenset[str]:
        """Return the last parts of the addresses that pages of a site declare."""
        self.questions["routes", site.root] = None
        return self._surroundings.list_routes(site)

    def list_anchors(self, path: Path) -> frozenset[str] | None:
        """Return the anchors of a file; whether it is the same file is asked later."""
        self.questions["file", str(path)] = None
        return self._surroundings.list_anchors(path)

    def has_heading(self, path: Path, key: str) -> bool:
        """Return whether a line of a file looks like a heading with a key."""
        self.questions["file", str(path)] = None
        return self._surroundings.has_heading(path, key)

    def find_heading(self, document: ReviewText, key: str) -> Path | None:
        """Return the only Markdown file of the same source with this heading."""
        self.questions["heading", key] = None
        return self._surroundings.find_heading(document, key)

    def count_documents(self, document: ReviewText, word: str) -> int:
        """Return in how many documents of the same folder a word stands."""
        self.questions["count", word] = None
        return self._surroundings.count_documents(document, word)

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
        front = document.markup.front_matter
        fields = msgspec.json.encode(front.fields).decode() if front else ""
        self.questions["fields", fields] = None
        return self._surroundings.list_usual_fields(document)

    def is_usual_fault(self, document: ReviewText, fault: str) -> bool:
        """Return whether the front matter of most files of the source has a fault."""
        self.questions["fault", fault] = None
        return self._surroundings.is_usual_fault(document, fault)

    def list_usual_jumps(self, document: ReviewText) -> frozenset[tuple[int, int]]:
        """Return the jumps of headings that most other files of the same folder have."""
        self.questions["jumps",] = None
        return self._surroundings.list_usual_jumps(document)

    def list_doubtful(self, document: ReviewText) -> frozenset[str]:
        """Return the rules about links whose findings in the source are probably no mistakes."""
        self.questions["doubtful",] = None
        return self._surroundings.list_doubtful(document)

    def find_similar(self, document: ReviewText, paragraph: str) -> SimilarParagraph | None:
        """Return the most similar passage of another note; it depends on the whole index."""
        self.questions["index",] = None
        return self._surroundings.find_similar(document, paragraph)


_ANSWERS: Mapping[str, Callable[[Surroundings, ReviewText, str], object]] = {
    "built": lambda around, _, path: around.is_built(path),
    "case": lambda around, _, path: around.find_any_case(path),
    "count": lambda around, document, word: around.count_documents(document, word),
    "doubtful": lambda around, document, _: sorted(around.list_doubtful(document)),
    "fault": lambda around, document, fault: around.is_usual_fault(document, fault),
    "fields": lambda around, document, fields: sorted(
        around.list_usual_fields(_add_fields(document, fields))
    ),
    "file": lambda _, __, path: _read_state(path),
    "heading": lambda around, document, key: around.find_heading(document, key),
    "jumps": lambda around, document, _: sorted(around.list_usual_jumps(document)),
    "namesakes": lambda around, document, name: [*around.list_namesakes(document, name)],
    "note": lambda around, document, target: around.find_note(document, target),
    "original": lambda around, _, path: str(around.find_original(Path(path))),
    "routes": lambda around, _, path: sorted(around.list_routes(Site("other", path))),
    "site": lambda around, _, path: around.find_site(Path(path)),
    "today": lambda around, _, __: around.today,
}


def answer_question(
    surroundings: Surroundings, document: ReviewText, question: Question, index_state: str
) -> str:
    """Return the answer to a recorded question as a short text that is equal for equal answers.

    The file, the root and the id of the document are used, not its text.
    """
    name, argument = (*question, "")[:2]
    if name == "exists":
        return "1" if surroundings.exists(argument) else "0"
    answer = index_state if name == "index" else _ANSWERS[name](surroundings, document, argument)
    return blake2b(repr(answer).encode(errors="replace"), digest_size=_DIGEST_BYTES).hexdigest()


def _add_fields(document: ReviewText, fields: str) -> ReviewText:
    """Return a document with this front matter; an empty text means none."""
    if not fields:
        return replace(document, markup=Markup())
    pairs = msgspec.json.decode(fields, type=tuple[tuple[str, str], ...])
    return replace(document, markup=Markup(front_matter=FrontMatterUse(0, 0, pairs)))


def _read_state(path: str) -> tuple[int, int, int] | None:
    """Return what changes with the content of a file; None when there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116 - far faster
    except (OSError, ValueError):
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
