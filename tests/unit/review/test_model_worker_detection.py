import json

from kebab.errors.catalog import ContextOverflow
from kebab.review.document import plan_units
from kebab.review.model_calls import ModelCalls
from kebab.review.model_worker import UnitRequests
from kebab.review.prompts import ReviewTask
from tests.fakes.evidence import stored
from tests.fakes.language_model import ScriptedModel
from tests.fakes.review import make_document

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
