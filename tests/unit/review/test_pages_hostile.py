"""Pages are valid and complete, whatever the language model answers and however it fails."""

import re
from collections.abc import Sequence
from dataclasses import replace

import jsonschema
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kebab.core.progress import Cancel
from kebab.errors.catalog import Cancelled, ModelProtocol, ModelUnreachable, TimedOut
from kebab.review.document import ReviewDocument
from kebab.review.model_worker import ModelWorker
from kebab.review.pages import RunPages
from kebab.review.run import RunPorts
from kebab.review.selection import RulesWorker
from kebab.store.sqlite.reviews import SqliteReviewStore
from kebab.wire.json_schema import build_schemas
from kebab.wire.record import add_envelope, encode_json
from kebab.wire.review import AgentItems, ReviewTierName
from tests.fakes.hostile_model import CUT, FAULTS, READABLE, TYPOS, HostileModel, Step
from tests.fakes.review import FakeSurroundings, make_document
from tests.fakes.review_runs import TwiceRule, build_failure
from tests.fakes.review_store import make_run

PAGE = jsonschema.Draft202012Validator(build_schemas()["agent_items.v2"])
PIECES = (
    "Put teh dough in. ",
    "All is well here. ",
    "We recieve teh bread, wich teh baker made. ",
    "It saw the the \U0001f469\u200d\U0001f467 teh \U0001f600 sea! ",
    "\r\n\r\n",
    "\r\n\r\n```\r\nteh code\r\n```\r\n\r\n",
)
TEXTS = st.lists(st.lists(st.sampled_from(PIECES), max_size=8).map("".join), min_size=1, max_size=3)
TIERS = st.sampled_from(["quick", "deep"])
LIMITS = st.sampled_from([1, 2, 5, 100])
FAILURES: tuple[Step, ...] = (
    ModelUnreachable(endpoint="http://127.0.0.1:9", operation="review", cause="refused"),
    ModelProtocol(endpoint="http://127.0.0.1:9", operation="review", cause="cut"),
    TimedOut(operation="review", elapsed_ms=2, deadline_ms=1),
)
_TYPO = re.compile("|".join(TYPOS))
_REPEATED = re.compile(r"(?<=saw the) the")
_CODE = re.compile(r"```.*?```", re.DOTALL)
MOST_REQUESTS = 300


class Desk:
    """A run over some texts, each request of which asks a model with the next script."""

    def __init__(
        self, texts: Sequence[str], tier: ReviewTierName, limit: int, scripts: list[list[Step]]
    ) -> None:
        self.documents = [
            ReviewDocument(replace(make_document(text, path=f"{at}.md").source, content_hash=text))
            for at, text in enumerate(texts)
        ]
        files = tuple(document.source.doc_path for document in self.documents)
        self._tier = tier
        self._scripts = scripts
        self._store = SqliteReviewStore(None)
        self.run = make_run(files=files, page_items=limit, tier=tier)
        self._store.add_run(self.run)

    def get(self, cursor: str | None) -> AgentItems:
        """Return a page by a new request."""
        script = [*(self._scripts.pop(0) if self._scripts else []), "honest"]
        rules = RulesWorker((TwiceRule(),), FakeSurroundings())
        ports = RunPorts(
            store=self._store,
            worker=ModelWorker(llm=HostileModel(script), tier=self._tier, rules=rules),
            asks_model=True,
            load=self.documents.__getitem__,
            report=lambda _: None,
            cancel=Cancel(),
            build_failure=build_failure,
            fail_on="suggestion",
        )
        pages = RunPages(self.run, ports)
        return pages.build(cursor, all_pages=False)

    def list_wanted(self) -> list[tuple[str, int, int]]:
        """Return the places of everything that is wrong in the texts."""
        wanted = []
        for document in self.documents:
            prose = _CODE.sub(lambda found: " " * len(found[0]), document.text)
            spans = [one.span() for one in (*_TYPO.finditer(prose), *_REPEATED.finditer(prose))]
            wanted += [(document.source.doc_path, *span) for span in spans]
        return sorted(wanted)


def read_pages(desk: Desk) -> list[AgentItems]:
    """Return all pages, each requested again until it comes, and hold them to their schema."""
    pages: list[AgentItems] = []
    cursor = None
    for _ in range(MOST_REQUESTS):
        try:
            page = desk.get(cursor)
        except Cancelled:
            continue
        whole = add_envelope(page, command="review", timestamp="2026-01-01T00:00:00Z", exit_code=1)
        PAGE.validate(msgspec.json.decode(encode_json(whole)))
        assert len(page.items) <= desk.run.page_items
        check_repetition(desk, cursor, page)
        pages.append(page)
        cursor = page.next_cursor
        assert page.has_more == (cursor is not None)
        if cursor is None:
            return pages
    raise AssertionError("the pages do not end")


def check_repetition(desk: Desk, cursor: str | None, page: AgentItems) -> None:
    """Request a page again; once the model is back, it may have a next one."""
    try:
        again = desk.get(cursor)
    except Cancelled:
        return
    assert again.items == page.items
    assert again.next_cursor == page.next_cursor or (page.degraded and page.next_cursor is None)


def list_found(desk: Desk, pages: Sequence[AgentItems]) -> list[tuple[str, int, int]]:
    """Return the documents and places of all items."""
    found = []
    for page in pages:
        if page.document is not None:
            document = desk.documents[page.document.index]
            spans = [document.from_utf16(*item.o) for item in page.items]
            found += [(page.document.doc_path, *span) for span in spans]
    return found


@settings(max_examples=40)
@given(TEXTS, TIERS, LIMITS, st.data())
def test_nothing_is_lost_or_doubled(
    texts: list[str], tier: ReviewTierName, limit: int, data: st.DataObject
) -> None:
    steps = st.sampled_from([*READABLE, *CUT, *FAILURES, KeyboardInterrupt()])
    scripts = data.draw(st.lists(st.lists(steps, max_size=6), max_size=8))
    desk = Desk(texts, tier, limit, scripts)
    pages = read_pages(desk)
    found = list_found(desk, pages)
    assert len(found) == len(set(found))
    if any(page.degraded for page in pages[-1:]):
        assert set(found) <= set(desk.list_wanted())
    else:
        assert sorted(found) == desk.list_wanted()


@pytest.mark.parametrize("tier", ["quick", "deep"])
@pytest.mark.parametrize("position", range(4))
def test_what_one_unit_did_not_answer_is_found_later(tier: ReviewTierName, position: int) -> None:
    text = "".join(PIECES) * 3
    script: list[Step] = [*["honest"] * position, "prose", "honest"]
    desk = Desk([text], tier, 100, [script])
    first = desk.get(None)
    pages = read_pages(desk)

    assert sorted(list_found(desk, pages)) == desk.list_wanted()
    assert first.partial
    assert (pages[-1].partial, pages[-1].unanswered_count) == (False, 0)


@settings(max_examples=40)
@given(TEXTS, TIERS, LIMITS, st.lists(st.sampled_from([*FAULTS, *FAILURES]), min_size=1))
def test_pages_are_valid_and_end_whatever_is_answered(
    texts: list[str], tier: ReviewTierName, limit: int, script: list[Step]
) -> None:
    desk = Desk(texts, tier, limit, [script] * MOST_REQUESTS)
    found = list_found(desk, read_pages(desk))
    assert len(found) == len(set(found))
    assert set(found) <= set(desk.list_wanted())
