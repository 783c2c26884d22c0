"""Whatever a language model answers, items are valid, in their place, and neither lost nor doubled.

What the model means is always the same: a few misspelled words, see `tests/fakes/hostile_model.py`.
"""

import re
from collections.abc import Iterable

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kebab.core.review import UnitResult
from kebab.review.document import ReviewDocument
from kebab.review.model_worker import ModelWorker
from kebab.review.rules import locate_item
from kebab.review.selection import RulesWorker
from kebab.wire.review import AgentItem, ReviewTierName
from tests.fakes.hostile_model import CUT, FAULTS, READABLE, TYPOS, Fault, HostileModel, cut_at
from tests.fakes.review import FakeSurroundings, make_document

PIECES = (
    "Put teh dough in. ",
    "All is well here. ",
    "We recieve teh bread, wich teh baker made. ",
    "\U0001f469\u200d\U0001f467 saw teh \U0001f600 sea! ",
    "\u1112\u1161\u11ab국은 안되요. ",
    "\u05e9\u05dc\u05d5\u05dd teh \u05e2\u05d5\u05dc\u05dd. ",
    "Cafe\u0301 teh latte. ",
    "\r\n\r\n",
    "\n\n# Heading of teh part\n\n",
    "\r\n\r\n```\r\nteh code\r\n```\r\n\r\n",
    "- an item with teh word\n",
    "> quoted teh words are\r\n> wrapped wich is fine.\r\n\r\n",
)
FRONTS = ("", "---\r\ntitle: An \U0001f600\r\n---\r\n")
TEXTS = st.builds(
    lambda front, pieces: front + "".join(pieces),
    st.sampled_from(FRONTS),
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=14),
)
TIERS = st.sampled_from(["quick", "deep"])
CODE = re.compile(r"```.*?```", re.DOTALL)
MOST_PARTS = 12
"""The most sentences or findings of a unit."""


def review(
    document: ReviewDocument, tier: ReviewTierName, model: HostileModel
) -> tuple[list[AgentItem], list[UnitResult]]:
    """Return the items of a document and the results of its units."""
    rules = RulesWorker((), FakeSurroundings())
    worker = ModelWorker(llm=model, tier=tier, rules=rules)
    results = [worker.work(document, unit) for unit in worker.plan(document)]
    # Units share a sentence, and a run leaves out what its document has already.
    items = {item.uid: item for result in results for item in result.items}
    return sorted(items.values(), key=lambda item: item.o), results


def check_items(document: ReviewDocument, items: Iterable[AgentItem]) -> None:
    """Hold every item to its schema, and its place to the misspelled words."""
    uids = [item.uid for item in items]
    assert len(uids) == len(set(uids))
    raw = document.source.raw.encode("utf-16-le")
    for item in items:
        assert msgspec.json.decode(msgspec.json.encode(item), type=AgentItem) == item
        start, end = locate_item(document, item)
        word = document.text[start:end]
        assert word in TYPOS
        assert raw[2 * item.o[0] : 2 * item.o[1]].decode("utf-16-le") == word
        first, last = item.i
        assert document.sentences[first].start <= start
        assert end <= document.sentences[last].end
        if item.fix:
            assert item.fix.text == TYPOS[word]


def list_typos(document: ReviewDocument) -> list[tuple[int, int]]:
    """Return the places of all misspelled words outside code."""
    prose = CODE.sub(lambda found: " " * len(found[0]), document.text)
    return [found.span() for found in re.finditer("|".join(TYPOS), prose)]


@settings(max_examples=60)
@given(TEXTS, TIERS, st.lists(st.sampled_from([*READABLE, *CUT]), max_size=12), st.integers(0, 99))
def test_what_can_be_read_is_not_lost(
    text: str, tier: ReviewTierName, script: list[str], seed: int
) -> None:
    document = make_document(text)
    items, results = review(document, tier, HostileModel([*script, "honest"], seed))
    check_items(document, items)
    found = [locate_item(document, item) for item in items]
    if not any(result.usage.truncated for result in results):
        assert found == list_typos(document)
    assert set(found) <= set(list_typos(document))


@settings(max_examples=60)
@given(TEXTS, TIERS, st.lists(st.sampled_from(list(FAULTS)), min_size=1), st.integers(0, 99))
def test_items_are_valid_and_the_requests_are_bounded_whatever_is_answered(
    text: str, tier: ReviewTierName, script: list[str], seed: int
) -> None:
    document, model = make_document(text), HostileModel(script, seed)
    items, results = review(document, tier, model)
    check_items(document, items)
    assert len(model.told) <= len(results) * (3 + 2 * MOST_PARTS)
    assert sum(result.usage.requests for result in results) == len(model.told)
    assert {locate_item(document, item) for item in items} <= set(list_typos(document))


@pytest.mark.parametrize("tier", ["quick", "deep"])
def test_a_model_that_always_cuts_gives_what_was_whole_and_says_so(tier: ReviewTierName) -> None:
    document = make_document("".join(PIECES))
    fault: Fault = cut_at(200)
    items, results = review(document, tier, HostileModel([fault]))
    check_items(document, items)
    exhausted = [result for result in results if result.usage.truncated]
    assert exhausted
    assert all("downshift_exhausted" in result.usage.warnings for result in exhausted)
