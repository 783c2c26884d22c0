"""Pages of a review, with the findings of one rule in real files."""

from pathlib import Path
from typing import Any

from kebab.core.chunks import hash_content
from kebab.review.document import Finding
from kebab.review.items import build_document
from kebab.review.rules import build_items
from kebab.wire.review import AgentItem, AgentItems, ItemStats, ReviewedDocument
from tests.fakes.review_runs import TwiceRule

RUN = "4f1d2c3b"


def reviewed(file: Path, *, index: int = 0, of: int = 1) -> ReviewedDocument:
    """Return a file as it is now, as the document of a page."""
    return ReviewedDocument(
        doc_id=None,
        doc_path=file.name,
        file=str(file),
        media="text/markdown",
        lang="en",
        content_hash=hash_content(file.read_bytes()),
        index=index,
        of=of,
    )


def page(document: ReviewedDocument | None, *items: AgentItem, **changes: Any) -> AgentItems:
    """Return a page with these items."""
    known: dict[str, Any] = {
        "run_id": RUN,
        "chunk_id": f"chunk-{document.index if document else 0}",
        "tier": "quick",
        "model": None,
        "document": document,
        "latency_ms": 0.0,
        "prompt_tokens": 0,
        "completion_tokens": 0,
        "finish_reason": None,
        "truncated": False,
        "partial": False,
        "warnings": [],
        "degraded": [],
        "stats": ItemStats(item_count=len(items), avg_item_bytes=0.0),
        "items": list(items),
        "fail_on": "suggestion",
        "has_more": False,
        "next_cursor": None,
    }
    return AgentItems(**{**known, **changes})


def find_repeated_words(document: ReviewedDocument) -> list[AgentItem]:
    """Return the findings of the rule about repeated words."""
    raw = Path(document.file).read_bytes().decode()
    text = build_document(document, raw)
    return build_items(text, TwiceRule().check(text, None))


def item(document: ReviewedDocument, start: int, end: int, **changes: Any) -> AgentItem:
    """Return an item at code points of the text of a file."""
    raw = Path(document.file).read_bytes().decode()
    known: dict[str, Any] = {
        "kind": "spelling",
        "severity": "error",
        "reason": "the word is misspelled",
    }
    finding = Finding(start=start, end=end, **{**known, **changes})
    return build_items(build_document(document, raw), [finding])[0]
