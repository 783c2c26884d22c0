"""Documents under review, and their surroundings in memory."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from kebab.core.review import GlossaryTerm, Markup, ReviewText, SimilarParagraph, Site
from kebab.review.document import ReviewDocument

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
class FakeSurroundings:
    """The port `Surroundings` over sets of names."""

    today: date = date(2026, 1, 15)
    glossary: tuple[GlossaryTerm, ...] = ()
    stale_days: int = 730
    files: frozenset[str] = frozenset()
    anchors: Mapping[str, frozenset[str]] = field(default_factory=dict)
    notes: Mapping[str, Path] = field(default_factory=dict)
    namesakes: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)
    usual_fields: frozenset[str] = frozenset()
    headings: Mapping[str, Path] = field(default_factory=dict)
    words: frozenset[str] = frozenset()
    counts: Mapping[str, int] = field(default_factory=dict)
    similar: Mapping[str, SimilarParagraph] = field(default_factory=dict)
    originals: Mapping[str, Path] = field(default_factory=dict)
    jumps: frozenset[tuple[int, int]] = frozenset()
    doubtful: frozenset[str] = frozenset()
    built: frozenset[str] = frozenset()
    site: Site | None = None
    routes: frozenset[str] = frozenset()
    has_index: bool = True
    faults: frozenset[str] = frozenset()

    def exists(self, path: Path | str) -> bool:
        return any(name == str(path) or name.startswith(f"{path}/") for name in self.files)

    def find_any_case(self, path: str) -> str | None:
        found = [one for one in self.files if one.casefold() == path.casefold()]
        return found[0] if len(found) == 1 else None

    def find_original(self, file: Path) -> Path:
        return self.originals.get(str(file), file)

    def is_built(self, path: str) -> bool:
        return path in self.built

    def find_site(self, file: Path) -> Site | None:
        del file
        return self.site

    def list_routes(self, site: Site) -> frozenset[str]:
        del site
        return self.routes

    def list_anchors(self, path: Path) -> frozenset[str] | None:
        return self.anchors.get(str(path))

    def has_heading(self, path: Path, key: str) -> bool:
        return key in (self.anchors.get(str(path)) or ())

    def find_heading(self, document: ReviewText, key: str) -> Path | None:
        del document
        return self.headings.get(key)

    def find_note(self, document: ReviewText, target: str) -> Path | None:
        del document
        return self.notes.get(target)

    def list_namesakes(self, document: ReviewText, name: str) -> tuple[Path, ...]:
        del document
        return self.namesakes.get(name, ())

    def list_usual_fields(self, document: ReviewText) -> frozenset[str]:
        del document
        return self.usual_fields

    def is_usual_fault(self, document: ReviewText, fault: str) -> bool:
        del document
        return fault in self.faults

    def list_usual_jumps(self, document: ReviewText) -> frozenset[tuple[int, int]]:
        del document
        return self.jumps

    def list_doubtful(self, document: ReviewText) -> frozenset[str]:
        del document
        return self.doubtful

    def count_documents(self, document: ReviewText, word: str) -> int:
        del document
        return self.counts.get(word, 1)

    def find_similar(self, document: ReviewText, paragraph: str) -> SimilarParagraph | None:
        del document
        return self.similar.get(paragraph)
