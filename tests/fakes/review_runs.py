"""Runs over documents whose text says what their units find."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from kebab.core.progress import Cancel
from kebab.core.review import Finding, Fix, StoredRun, Surroundings, Unit, UnitResult, UnitUsage
from kebab.errors.catalog import IoError, ModelProtocol, ModelUnreachable
from kebab.review.document import ReviewDocument
from kebab.review.pages import PageOptions, RunPages
from kebab.review.worker import LoadResult, RunPorts
from kebab.store.sqlite.reviews import SqliteReviewStore
from kebab.wire.review import AgentItems, SeverityName
from kebab.wire.search import DegradedChannel
from kebab.wire.stream import ReviewEvent
from tests.fakes.review import make_document
from tests.fakes.review_store import make_item, make_run


class TwiceRule:
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

    A word is a number of items, `paged` an exhausted unit with one item, and `stop` asks for the
    end of the work. `sum` has as many items as all units before it. While `down`, units that need
    the model fail, and while `confused`, `odd` has no usable answer. Otherwise it has one item, and
    `paged` two.
    """

    full: bool = True
    down: bool = False
    confused: bool = True
    cancel: Cancel = field(default_factory=Cancel)
    worked: list[tuple[str, int]] = field(default_factory=list)

    @property
    def model(self) -> str | None:
        """The name of the model."""
        return "scripted" if self.full else None

    def plan(self, document: ReviewDocument) -> list[Unit]:
        """Return the units."""
        words = document.text.split()
        units = [
            Unit("rules" if not at else "proofread", (at, at + 1), at, at + 1)
            for at in range(len(words))
        ]
        return units if self.full else units[:1]

    def list_dependents(self, units: Sequence[Unit], index: int) -> list[int]:
        """Return no unit."""
        del units, index
        return []

    def work(
        self, document: ReviewDocument, units: Sequence[Unit], index: int, load: LoadResult
    ) -> UnitResult:
        """Return the items of a word; those of all units have different places."""
        assert units[index].sentences == (index, index + 1), "a unit got the index of another"
        if index and self.down:
            raise DOWN
        self.worked.append((document.source.doc_path, index))
        word = document.text.split()[index]
        if word == "stop":
            self.cancel.request()
        count = {"paged": 2 - self.confused, "stop": 1, "odd": 1 - self.confused}.get(word)
        if word == "sum":
            count = sum(len(load(before).items) for before in range(index))
        items = tuple(
            make_item(100 * index + at) for at in range(int(word) if count is None else count)
        )
        usage: dict[str, Any] = {"requests": 1, "finish": "stop"} if index else {}
        if word == "paged" and self.confused:
            usage |= {"policy": "paged", "truncated": True, "unanswered": True}
            usage["warnings"] = ("downshift_exhausted",)
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
    full: Any = field(default_factory=ScriptedWorker)
    required: Any = "never"
    events: list[Any] = field(default_factory=list)
    run: StoredRun = field(init=False)

    def __post_init__(self) -> None:
        files = tuple(self.texts)
        model = self.full.model if self.full else None
        self.run = make_run(files=files, page_items=self.page_items, model=model)
        self.store.add_run(self.run)

    def load(self, file: int) -> ReviewDocument:
        """Return a document; one without a text cannot be read."""
        path = self.run.files[file]
        if path not in self.texts:
            raise IoError(path=path, op="read", cause="no such file")
        text = self.texts[path]
        return ReviewDocument(replace(make_document(text, path=path).source, content_hash=text))

    def open(self, report: Callable[[ReviewEvent], None] | None = None) -> RunPages:
        """Return the pages, as a new request sees them."""
        ports = RunPorts(
            store=self.store,
            base=ScriptedWorker(full=False),
            full=self.full,
            load=self.load,
            report=report or self.events.append,
            cancel=self.full.cancel if self.full else Cancel(),
            build_failure=build_failure,
            required=self.required,
        )
        options = PageOptions("suggestion", self.is_stored, _describe, describe_unanswered)
        return RunPages(self.run, ports, options)

    def get(self, cursor: str | None = None, *, all_pages: bool = False) -> Any:
        """Return a page by a new request."""
        pages = self.open()
        return pages.build(pages.find_start(cursor), all_pages=all_pages)

    def get_all(self) -> list[Any]:
        """Return all pages, one request each."""
        found = [self.get()]
        while found[-1].has_more:
            found.append(self.get(found[-1].next_cursor))
        return found


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


def describe_unanswered(count: int) -> DegradedChannel:
    """Return that the model did not answer about so many texts."""
    return DegradedChannel(channel="llm", reason=f"no answer: {count}", hint=None)


def _describe(failure: Any) -> DegradedChannel:
    return DegradedChannel(channel="llm", reason=failure.format_message(), hint=None)
