"""A golden question: what is asked, and what is right."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question. `lines` is first and last, inclusive; None means anywhere in `doc`."""

    id: str
    text: str
    doc: str | None = None
    lines: tuple[int, int] | None = None
    relevant: Mapping[str, int] = field(default_factory=dict)
    answerable: bool = True

    @property
    def documents(self) -> list[str]:
        """Every document that answers."""
        graded = [doc for doc, grade in self.relevant.items() if grade > 0]
        return graded if self.doc is None else [self.doc, *graded]
