from kebab.core.review import Unit, UnitResult
from kebab.parse.text.markdown_parts import read_markup
from kebab.review.rules.registry import RULES as OWN
from kebab.review.selection import (
    FileRules,
    SelectingWorker,
    Selection,
)
from kebab.review.worker import RulesWorker
from tests.fakes.review import FakeSurroundings, make_document
from tests.fakes.review_runs import TwiceRule
from tests.fakes.review_store import make_item

RULES = (*OWN, TwiceRule())
NONE = UnitResult()


def select(text, **fields):
    """Return the result of all rules over a text."""
    document = make_document(text, read_markup(text))
    worker = SelectingWorker(RulesWorker(RULES, FakeSurroundings()), Selection(**fields))
    units = worker.plan(document)
    return document, worker.work(document, units, 0, lambda _: NONE)


def find(text, **fields):
    return [item.rule_id for item in select(text, **fields)[1].items]


def test_a_comment_ignores_what_it_names():
    text = "The the cat. <!-- kebab-ignore repeated-word: a name -->\n"
    assert find(text.replace("-ignore", "-other")) == ["repeated-word"]
    _, result = select(text)
    assert (result.items, result.ignored) == ((), 1)
    assert find(text.replace("repeated-word", "repetition")) == []
    assert find(text.replace(" repeated-word", "")) == []


def test_a_comment_that_names_another_rule_ignores_nothing():
    assert find("The the cat. <!-- kebab-ignore stale-date: no -->\n") == ["repeated-word"]


def test_findings_of_the_model_are_ignored_by_their_kind():
    text = "Teh cat. <!-- kebab-ignore spelling: a name -->\n"
    document = make_document(text, read_markup(text))
    items = (make_item(0, k="spelling", o=(0, 3)), make_item(0, k="grammar", o=(0, 3)))
    result = Selection().select(document, UnitResult(items=items, carried=items))
    assert [item.k for item in result.items] == ["grammar"]
    assert [item.k for item in result.carried] == ["grammar"]


def test_settings_switch_off_and_rate():
    text = "The the cat.\n"
    assert find(text, choose_rules=lambda _: FileRules(frozenset({"repetition"}))) == []
    _, result = select(
        text, choose_rules=lambda _: FileRules(severities={"repeated-word": "error"})
    )
    assert [item.s for item in result.items] == ["error"]


def test_only_changed_lines_count():
    text = "The the cat.\n\nThe the dog.\n"
    assert find(text, list_changed=lambda _: ((3, 3),)) == ["repeated-word"]
    assert find(text, list_changed=lambda _: ()) == []


def test_the_model_is_asked_about_changed_lines_only():
    document = make_document("One.\n\nTwo.\n")

    last = Unit("proofread", (1, 2), 6, 10)

    class Model(RulesWorker, frozen=True):
        def plan(self, document):
            del document
            return [Unit("rules", (0, 0), 0, 11), Unit("proofread", (0, 1), 0, 4), last]

    worker = SelectingWorker(
        Model((), FakeSurroundings()), Selection(list_changed=lambda _: ((3, 3),))
    )
    assert worker.plan(document)[1:] == [last]


def test_findings_about_links_that_a_build_may_mend_are_left_out_and_counted():
    links = "".join(f"[a](no{number}.md)\n" for number in range(5))
    text = f"The the cat.\n\n{links}\n[b](no.md) <!-- kebab-ignore broken-link: soon -->\n"
    document = make_document(text, read_markup(text))
    for keep, rules, count in (
        (False, ["repeated-word"], 5),
        (True, ["repeated-word", *["broken-link"] * 5], 0),
    ):
        selection = Selection(keep_doubtful=keep)
        worker = SelectingWorker(RulesWorker(RULES, FakeSurroundings()), selection)
        result = worker.work(document, worker.plan(document), 0, lambda _: NONE)
        assert [item.rule_id for item in result.items] == rules
        assert (len(result.doubtful), result.ignored) == (count, 1)
