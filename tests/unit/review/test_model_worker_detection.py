"""Whatever a language model answers, items are valid, in their place, and neither lost nor doubled.

What the model means is always the same: a few misspelled words, see `tests/fakes/hostile_model.py`.
"""

import json
import re
from collections.abc import Iterable

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kebab.core.review import UnitResult
from kebab.errors.catalog import ContextOverflow
from kebab.review.document import ReviewDocument, plan_units
from kebab.review.items import locate_item
from kebab.review.model_calls import ModelCalls
from kebab.review.model_worker import ModelWorker, UnitRequests
from kebab.review.prompts import ReviewTask
from kebab.review.worker import RulesWorker
from kebab.wire.review import AgentItem, ReviewTierName
from tests.fakes.evidence import stored
from tests.fakes.hostile_model import CUT, FAULTS, READABLE, UNREADABLE, Fault, HostileModel, cut_at
from tests.fakes.language_model import ScriptedModel
from tests.fakes.review import FakeSurroundings, make_document
from tools.misspelling_model import TYPOS

OLDER = {
    "key": "typo",
    "severity": "high",
    "message": "wrong",
    "evidence": "Teh",
    "suggestion": "The",
}


def write(*items):
    return json.dumps({"items": list(items)})


def entry(words, **fields):
    given = {"sentence": 1, "words": words, "kind": "spelling", "fix": "x", "reason": "wrong"}
    return {**given, "severity": "error", **fields}


def start(text, *steps, tier="quick", density=None):
    document = make_document(text)
    [unit] = plan_units(document, "detect")
    model = ScriptedModel(*steps)
    task = ReviewTask(tier, "en")
    return model, UnitRequests(document, task, ModelCalls(model), unit, density)


def quote(asked):
    return [asked.document.text[one.start : one.end] for one in asked.findings]


def test_more_items_than_the_limit_are_all_used():
    words = [f"word{number}" for number in range(40)]
    _, asked = start(f"{' '.join(words)}.", write(*map(entry, words)))

    asked.detect()

    assert quote(asked) == words
    assert asked.calls.build_usage().warnings == ("items_over_limit",)


def test_items_of_version_1_are_located_by_their_evidence():
    _, asked = start("Teh end.", write(OLDER, {**OLDER, "evidence": "no"}, {**OLDER, "message": 1}))

    asked.detect()

    [finding] = asked.findings
    assert (finding.kind, finding.severity, finding.start, finding.end) == (
        "spelling",
        "error",
        0,
        3,
    )
    assert asked.calls.dropped == 2


def test_a_deep_review_allows_style_and_takes_no_fix():
    answer = write(entry("end", kind="style"))
    _, quick = start("The end.", answer)
    model, deep = start("The end.", answer, tier="deep")

    quick.detect()
    deep.detect()

    assert quick.findings == []
    [finding] = deep.findings
    assert (finding.kind, finding.edit, finding.fix) == ("style", "note", None)
    assert model.told[0].max_tokens == 1400


def test_without_related_passages_nothing_is_compared():
    model, asked = start("The end.", tier="deep")

    asked.compare(lambda document, text: [])

    assert model.told == []


def test_a_contradiction_names_one_of_the_passages():
    found = {"sentence": 1, "words": "end", "passage": 2, "reason": "the note says start"}
    model, asked = start("The end.", write(found, {**found, "passage": 3}), tier="deep")
    chunks = [stored("One."), stored("Two.", 2)]

    asked.compare(lambda document, text: chunks)

    assert [(one.kind, one.cites) for one in asked.findings] == [("contradiction", chunks[1])]
    assert asked.calls.dropped == 1
    assert "[1] From note-1.md:\nOne.\n\n[2] From note-2.md:\nTwo." in model.told[0].text


def test_passages_that_do_not_fit_the_window_are_left_out():
    overflow = ContextOverflow(prompt_tokens=900, context_tokens=512)
    _, asked = start("The end.", overflow, tier="deep")

    asked.compare(lambda document, text: [stored("x")])

    usage = asked.calls.build_usage()
    assert usage.warnings == ("unit_incomplete",)
    assert not usage.truncated


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
    units = worker.plan(document)
    results: list[UnitResult] = []
    for index in range(len(units)):
        results.append(worker.work(document, units, index, results.__getitem__))
    return [item for result in results for item in result.items], results


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


@settings(max_examples=60, deadline=None)
@given(TEXTS, TIERS)
def test_an_honest_model_is_understood_at_once(text: str, tier: ReviewTierName) -> None:
    document, model = make_document(text), HostileModel()
    items, results = review(document, tier, model)
    check_items(document, items)
    assert [locate_item(document, item) for item in items] == list_typos(document)
    assert [bool(item.fix) for item in items] == [True] * len(items)
    assert len(model.told) <= len(results)


@settings(max_examples=150, deadline=None)
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


@settings(max_examples=150, deadline=None)
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
def test_items_of_version_1_are_placed_outside_code_one_after_the_other(
    tier: ReviewTierName,
) -> None:
    text = "Put teh dough in.\n\n```\nteh code\n```\n\nTurn teh oven on, teh big.\n"
    document = make_document(text)
    items, _ = review(document, tier, HostileModel(["older", "older", "honest"]))
    check_items(document, items)
    assert [locate_item(document, item) for item in items] == list_typos(document)


@pytest.mark.parametrize("name", list(UNREADABLE))
@pytest.mark.parametrize("tier", ["quick", "deep"])
def test_a_model_that_is_never_understood_finds_nothing_wrong(
    tier: ReviewTierName, name: str
) -> None:
    document, model = make_document("".join(PIECES)), HostileModel([name])
    items, _ = review(document, tier, model)
    check_items(document, items)


@pytest.mark.parametrize("tier", ["quick", "deep"])
def test_an_answer_may_be_cut_at_every_length(tier: ReviewTierName) -> None:
    document = make_document("We recieve teh bread, wich teh baker \U0001f600 made.\r\n")
    wanted, _ = review(document, tier, HostileModel())
    assert len(wanted) == 4
    for length in range(420):
        model = HostileModel([cut_at(length), "honest"])
        items, results = review(document, tier, model)
        assert items == wanted, length
        assert not any(result.usage.truncated for result in results)


@pytest.mark.parametrize("tier", ["quick", "deep"])
def test_a_model_that_always_cuts_gives_what_was_whole_and_says_so(tier: ReviewTierName) -> None:
    document = make_document("".join(PIECES))
    fault: Fault = cut_at(200)
    items, results = review(document, tier, HostileModel([fault]))
    check_items(document, items)
    exhausted = [result for result in results if result.usage.truncated]
    assert exhausted
    assert all("downshift_exhausted" in result.usage.warnings for result in exhausted)
