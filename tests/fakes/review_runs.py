"""Runs over documents whose text says what their units find."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from kebab.core.progress import Cancel
from kebab.core.review import StoredRun, Unit, UnitResult, UnitUsage
from kebab.errors.catalog import IoError, ModelProtocol, ModelUnreachable
from kebab.review.document import Finding, Fix, ReviewDocument
from kebab.review.pages import RunPages
from kebab.review.rules import Rule, Surroundings
from kebab.review.run import RunPorts
from kebab.store.sqlite.reviews import SqliteReviewStore
from kebab.wire.review import AgentItems, SeverityName
from tests.fakes.review import make_document
from tests.fakes.review_store import make_item, make_run


class TwiceRule(Rule):
    """A word is repeated."""

    id: ClassVar[str] = "repeated-word"
    kind: ClassVar[str] = "repetition"
    severity: ClassVar[SeverityName] = "warning"
    example: ClassVar[str] = "It is is here."

    def check(
        self, document: ReviewDocument, surroundings: Surroundings | None
    ) -> Iterator[Finding]:
        """Yield the second one of two words that are the same."""
        del surroundings
        for found in re.finditer(r"\b(\w+)( \1)\b", document.text, re.IGNORECASE):
            start, end = found.span(2)
            yield Finding(
                kind=self.kind,
                severity="warning",
                reason=f"the word is repeated: {found[1].lower()}",
                start=start,
                end=end,
                edit="delete",
                rule_id=self.id,
                fix=Fix("", safe=True),
            )


DOWN = ModelUnreachable(endpoint="http://127.0.0.1:9", operation="review", cause="refused")


@dataclass
class ScriptedWorker:
    """Plans a unit for each word of a text; the first needs no model.

    A word is a number of items, `cut` an exhausted unit with one item, and `stop` asks for the end
    of the work. While `down`, units that need the model fail, while `left`, the user interrupts
    them, and while `confused`, `odd` has no
    usable answer. Otherwise it has one item, and `cut` two.
    """

    down: bool = False
    left: bool = False
    confused: bool = True
    cancel: Cancel = field(default_factory=Cancel)
    worked: list[tuple[str, int]] = field(default_factory=list)

    def plan(self, document: ReviewDocument) -> list[Unit]:
        """Return the units."""
        return [
            Unit("rules" if not at else "proofread", (at, at + 1), at, at + 1)
            for at in range(len(document.text.split()))
        ]

    def work(self, document: ReviewDocument, unit: Unit) -> UnitResult:
        """Return the items of a word; those of all units have different places."""
        index = unit.start
        if index and (self.down or self.left):
            raise DOWN if self.down else KeyboardInterrupt
        self.worked.append((document.source.doc_path, index))
        word = document.text.split()[index]
        if word == "stop":
            self.cancel.request()
        count = {"cut": 2 - self.confused, "stop": 1, "odd": 1 - self.confused}.get(word)
        items = tuple(
            make_item(100 * index + at) for at in range(int(word) if count is None else count)
        )
        usage: dict[str, Any] = {"requests": 1, "finish": "stop"} if index else {}
        if word == "cut" and self.confused:
            usage |= {"truncated": True, "unanswered": True, "warnings": ("downshift_exhausted",)}
        if word == "odd" and self.confused:
            usage |= {"unanswered": True, "unusable": True}
        return UnitResult(items=items, usage=UnitUsage(**usage))


@dataclass
class Desk:
    """Documents, a store and a run over them."""

    texts: dict[str, str]
    store: Any = field(default_factory=lambda: SqliteReviewStore(None))
    page_items: int = 3
    is_stored: bool = True
    worker: Any = field(default_factory=ScriptedWorker)
    asks_model: bool = True
    required: bool = False
    events: list[Any] = field(default_factory=list)
    run: StoredRun = field(init=False)

    def __post_init__(self) -> None:
        self.run = make_run(files=tuple(self.texts), page_items=self.page_items, model="scripted")
        self.store.add_run(self.run)

    def load(self, file: int) -> ReviewDocument:
        """Return a document; one without a text cannot be read."""
        path = self.run.files[file]
        if path not in self.texts:
            raise IoError(path=path, op="read", cause="no such file")
        text = self.texts[path]
        return ReviewDocument(replace(make_document(text, path=path).source, content_hash=text))

    def open(self) -> RunPages:
        """Return the pages, as a new request sees them."""
        ports = RunPorts(
            store=self.store,
            worker=self.worker,
            asks_model=self.asks_model,
            load=self.load,
            report=self.events.append,
            cancel=self.worker.cancel,
            build_failure=build_failure,
            fail_on="suggestion",
            required=self.required,
            is_stored=self.is_stored,
        )
        return RunPages(self.run, ports)

    def get(self, cursor: str | None = None, *, all_pages: bool = False) -> Any:
        """Return a page by a new request."""
        return self.open().build(cursor, all_pages=all_pages)

    def get_all(self) -> list[Any]:
        """Return all pages, one request each."""
        found = [self.get()]
        while found[-1].has_more:
            found.append(self.get(found[-1].next_cursor))
        return found

    def list_pages(self) -> list[Any]:
        """Return the pages that were reported."""
        return [event.data for event in self.events if event.type == "items"]


def list_places(*pages: AgentItems) -> list[tuple[str, int]]:
    """Return the document and the place of each item of pages."""
    return [
        (page.document.doc_path, item.o[0])
        for page in pages
        if page.document
        for item in page.items
    ]


def build_failure(count: int) -> ModelProtocol:
    """Return the failure of a model without a usable answer."""
    cause = f"no usable answer to {count}"
    return ModelProtocol(endpoint="http://127.0.0.1:9", operation="review", cause=cause)
