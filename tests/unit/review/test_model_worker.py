import json
import re

from kebab.core.answers import Completion
from kebab.review.model_worker import ModelWorker
from kebab.review.selection import RulesWorker
from tests.fakes.language_model import ScriptedModel
from tests.fakes.review import FakeSurroundings, make_document
from tests.fakes.review_runs import TwiceRule

TEXT = (
    "Teh first line is here. The second line is fine. The third lien is odd. "
    "The fourth line is here. The fifth line is teh last one. And it ends."
)
NONE = '{"items": []}'


def write(*items):
    return json.dumps({"items": list(items)})


def entry(words, fix="x", sentence=1, kind="spelling", **fields):
    fixed = {} if fix is None else {"fix": fix}
    return {
        "sentence": sentence,
        "words": words,
        "kind": kind,
        **fixed,
        "reason": "wrong",
        "severity": "error",
        **fields,
    }


def read_sentences(told):
    """Return the numbered sentences of the last request."""
    return re.findall(r"^\[\d+\] (.+)$", told.messages[-1].content.split("<text-")[1], re.MULTILINE)


def correct(told):
    """Answer like a model that knows three mistakes."""
    known = {"Teh": "The", "teh": "the", "lien": "line"}
    return write(
        *(
            entry(word, fix, number)
            for number, sentence in enumerate(read_sentences(told), 1)
            for word, fix in known.items()
            if re.search(rf"\b{word}\b", sentence)
        )
    )


def build(model, tier="quick", **fields):
    rules = RulesWorker([TwiceRule()], FakeSurroundings())
    return ModelWorker(llm=model, tier=tier, rules=rules, **fields)


def review(worker, document):
    """Return the results of all units, worked on in order."""
    units = worker.plan(document)
    return units, [worker.work(document, unit) for unit in units]


def quote(document, item):
    return document.source.raw.encode("utf-16-le")[item.o[0] * 2 : item.o[1] * 2].decode(
        "utf-16-le"
    )


def list_items(results):
    return [item for result in results for item in result.items]


def test_a_review_proofreads_each_unit_after_the_rules():
    document = make_document(TEXT)
    model = ScriptedModel(correct, correct)
    worker = build(model)

    units, results = review(worker, document)

    assert [unit.kind for unit in units] == ["rules", "proofread", "proofread"]
    items = list_items(results)
    assert [(quote(document, item), item.fix.text) for item in items] == [
        ("Teh", "The"),
        ("lien", "line"),
        ("teh", "the"),
    ]
    assert all(item.t == "replace" and item.k == "spelling" for item in items)
    assert [result.usage.requests for result in results] == [0, 1, 1]


def test_items_without_a_place_are_dropped_and_counted():
    answer = write(entry("invented"), entry("Teh", "Teh"), entry("Teh", "The"), {"words": "Teh"})

    _, results = review(build(ScriptedModel(answer)), make_document("Teh end."))

    assert [item.fix.text for item in list_items(results)] == ["The"]
    assert results[1].usage.warnings == ("items_dropped",)


def test_a_cut_off_response_is_asked_again_with_lower_limits_and_keeps_what_is_complete():
    cut = Completion(text=write(entry("Teh", "The"), entry("end"))[:-20], finish="length")
    model = ScriptedModel(cut, cut, write(entry("end", "END")))

    _, results = review(build(model), make_document("Teh end. It is."))

    assert [item.fix.text for item in list_items(results)] == ["The", "END"]
    assert [told.max_tokens for told in model.told] == [1200, 840, 580]
    assert not results[1].usage.truncated


def test_a_unit_is_split_by_sentences_before_it_is_given_up():
    def answer(told):
        sentences = read_sentences(told)
        cut = len(sentences) > 1 or "never" in sentences[0]
        text = write(entry(sentences[0].split()[0], "X"))
        return Completion(text=text[:-2] if cut else text, finish="length" if cut else "stop")

    model = ScriptedModel(*[answer] * 9)
    document = make_document("One is here. Two is never. Three is here. Four is here.")

    _, results = review(build(model), document)

    assert [quote(document, item) for item in list_items(results)] == [
        "One",
        "Two",
        "Three",
        "Four",
    ]
    usage = results[1].usage
    assert (usage.requests, usage.truncated, usage.finish) == (9, True, "length")
    assert set(usage.warnings) == {"downshift_exhausted", "unit_incomplete"}


def test_a_unit_without_a_usable_answer_costs_one_request():
    model = ScriptedModel("All is well.")

    _, results = review(build(model), make_document("The end. It is."))

    usage = results[1].usage
    assert (usage.requests, usage.finish) == (1, "stop")
    assert (usage.unanswered, usage.unusable, usage.truncated) == (True, True, False)


def test_a_broken_answer_keeps_what_is_complete_and_is_asked_in_halves():
    broken = write(entry("Teh", "The"), entry("is"))[:-20]
    model = ScriptedModel(broken, NONE, write(entry("is", "was")))

    _, results = review(build(model), make_document("Teh end. It is."))

    assert [item.fix.text for item in list_items(results)] == ["The", "was"]
    assert not results[1].usage.unanswered
