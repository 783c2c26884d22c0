"""Declares golden questions and generated golden sets as wire records."""

from typing import Annotated

import msgspec
from msgspec import Meta

from kebab.wire.citation import Count, Positive
from kebab.wire.record import Reply, Request


class GoldenQuery(
    Request,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=False,
    omit_defaults=True,
    tag="golden_query.v1",
):
    """A question with its right answers: a line of a golden set. Other members are ignored."""

    query: Annotated[str, Meta(min_length=1)]
    """The question."""
    id: str | int | None = None
    """The id of the question; by default the number of its line."""
    doc: str | None = None
    """The right document, by its path below its source or by the last components of that path."""
    line_start: Positive | None = None
    """The first right line, from 1; without it any passage of the document is right."""
    line_end: Positive | None = None
    """The last right line, inclusive; by default `line_start`."""
    answers: list[str] = msgspec.field(default_factory=list)
    """What a right answer says. For readers; not used to measure."""
    relevant: dict[str, int] = msgspec.field(default_factory=dict)
    """Grades by document; a document with a grade above 0 is right too."""
    answerable: bool = True
    """Whether the notes answer the question; if not, it is right to find nothing convincing."""
    kind: str | None = None
    """How the question was generated. For readers; not used to measure."""


class EvalDraft(Reply, frozen=True, kw_only=True, tag="eval_draft.v1"):
    """A golden set that was generated from the notes."""

    path: str
    """The path of the file."""
    written: bool
    """Whether the file was written; false when the notes gave no question."""
    wanted: Count
    """The requested number of questions."""
    answerable: Count
    """The number of questions that the notes gave."""
    unanswerable: Count
    """The number of questions of made-up words, which nothing answers."""
    documents: Count
    """The number of documents that the questions come from."""
    by_language: dict[str, Count]
    """Answerable questions by the language of their document; `unknown` where there is none."""
    by_kind: dict[str, Count]
    """Questions by how they were generated."""
    seed: int
    """The seed of the random choice; the same notes and seed give the same questions."""
    corpus_revision: int
    """The revision of the index that the questions come from."""
