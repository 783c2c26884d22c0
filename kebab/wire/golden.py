"""Golden questions: what is asked and what answers it, written by hand or made from the notes."""

from typing import Annotated

import msgspec
from msgspec import Meta

from kebab.wire.citation import Positive
from kebab.wire.evals import Count
from kebab.wire.record import Reply, Request


class GoldenQuery(
    Request,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=False,
    omit_defaults=True,
    tag="golden_query.v1",
):
    """A question with what answers it: a line of a golden set. Other members are passed over."""

    query: Annotated[str, Meta(min_length=1)]
    """The question."""
    id: str | int | None = None
    """Its name; the number of its line unless it is given."""
    doc: str | None = None
    """The document that answers, by its path below its source or by whole names at its end."""
    line_start: Positive | None = None
    """The first line that answers, 1-based; without it any passage of the document is right."""
    line_end: Positive | None = None
    """The last line that answers, inclusive; `line_start` unless it is given."""
    answers: list[str] = msgspec.field(default_factory=list)
    """What a right answer says. For readers; nothing is measured by it."""
    relevant: dict[str, int] = msgspec.field(default_factory=dict)
    """Grades by document; a document with a grade above 0 is right too."""
    answerable: bool = True
    """Whether anything answers it; where nothing does, finding nothing convincing is right."""
    kind: str | None = None
    """How it was made. For readers; nothing is measured by it."""


class EvalDraft(Reply, frozen=True, kw_only=True, tag="eval_draft.v1"):
    """A golden set made from the notes themselves."""

    path: str
    """Where it lies."""
    written: bool
    """Whether it was written; not when the notes gave no question."""
    wanted: Count
    """How many questions were asked for."""
    answerable: Count
    """How many the notes gave."""
    unanswerable: Count
    """How many made-up words ask for nothing that is there."""
    documents: Count
    """From how many documents they come."""
    by_language: dict[str, Count]
    """Answerable questions by the language of their document; `unknown` where it is not known."""
    by_kind: dict[str, Count]
    """Questions by how they were made."""
    seed: int
    """What was drawn by; the same notes and seed give the same questions."""
    corpus_revision: int
    """The state of the index that they come from."""
