"""Documents under review, and their surroundings in memory."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from kebab.core.review import Markup, SimilarParagraph
from kebab.review.document import ReviewDocument, ReviewText
from kebab.review.rules import Surroundings

NO_MARKUP = Markup()


def make_document(
    raw: str,
    markup: Markup = NO_MARKUP,
    *,
    path: str = "a.md",
    lang: str | None = "en",
    media: str = "text/markdown",
) -> ReviewDocument:
    """Return a document with this text; its markup is what is given."""
    text = raw.replace("\r\n", "\n").replace("\r", "\n")
    root = Path("/notes")
    return ReviewDocument(
        ReviewText(
            doc_path=path,
            file=root / path,
            root=root,
            media=media,
            raw=raw,
            text=text,
            content_hash="0",
            lang=lang,
            markup=markup,
        )
    )


@dataclass
class FakeSurroundings(Surroundings):
    """Surroundings over sets of names."""

    today: date = date(2026, 1, 15)
    stale_days: int = 730
    files: frozenset[str] = frozenset()
    anchors: Mapping[str, frozenset[str]] = field(default_factory=dict)
    notes: Mapping[str, Path] = field(default_factory=dict)
    namesakes: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)
    headings: Mapping[str, Path] = field(default_factory=dict)
    similar: Mapping[str, SimilarParagraph] = field(default_factory=dict)
    has_index: bool = True

    def exists(self, path: Path | str) -> bool:
        return any(name == str(path) or name.startswith(f"{path}/") for name in self.files)

    def list_anchors(self, path: Path) -> frozenset[str] | None:
        return self.anchors.get(str(path))

    def find_heading(self, document: ReviewText, key: str) -> Path | None:
        del document
        return self.headings.get(key)

    def find_note(self, document: ReviewText, target: str) -> Path | None:
        del document
        return self.notes.get(target)

    def list_namesakes(self, document: ReviewText, name: str) -> list[Path]:
        del document
        return [*self.namesakes.get(name, ())]

    def find_similar(self, document: ReviewText, paragraph: str) -> SimilarParagraph | None:
        del document
        return self.similar.get(paragraph)
