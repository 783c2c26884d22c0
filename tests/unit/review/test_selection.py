from kebab.core.review import Unit, UnitResult
from kebab.parse.text.markdown_parts import read_markup
from kebab.review.selection import RulesWorker, SelectingWorker
from tests.fakes.review import FakeSurroundings, make_document
from tests.fakes.review_runs import TwiceRule
from tests.fakes.review_store import make_item

WHOLE = Unit("rules", (0, 0), 0, 99)


class Fixed(RulesWorker, frozen=True):
    """A worker with one result."""

    result: UnitResult = UnitResult()

    def plan(self, document):
        del document
        return [WHOLE, Unit("proofread", (0, 1), 0, 4), Unit("proofread", (1, 2), 6, 10)]

    def work(self, document, unit):
        del document, unit
        return self.result


def select(text, **fields):
    """Return the result of a rule over a text."""
    document = make_document(text, read_markup(text))
    inner = RulesWorker((TwiceRule(),), FakeSurroundings())
    return SelectingWorker(inner=inner, **fields).work(document, WHOLE)


def find(text, **fields):
    return [item.rule_id for item in select(text, **fields).items]


def select_items(text, result, **fields):
    document = make_document(text, read_markup(text))
    worker = SelectingWorker(inner=Fixed((), FakeSurroundings(), result=result), **fields)
    return worker.work(document, WHOLE)


def test_a_comment_ignores_what_it_names():
    text = "The the cat. <!-- kebab-ignore repeated-word: a name -->\n"
    assert find(text.replace("-ignore", "-other")) == ["repeated-word"]
    result = select(text)
    assert (result.items, result.ignored) == ((), 1)
    assert find(text.replace("repeated-word", "repetition")) == []
    assert find(text.replace(" repeated-word", "")) == []


def test_a_comment_that_names_another_rule_ignores_nothing():
    assert find("The the cat. <!-- kebab-ignore stale-date: no -->\n") == ["repeated-word"]


def test_findings_of_the_model_are_ignored_by_their_kind():
    items = (make_item(0, k="spelling", o=(0, 3)), make_item(0, k="grammar", o=(0, 3)))
    text = "Teh cat. <!-- kebab-ignore spelling: a name -->\n"

    assert [item.k for item in select_items(text, UnitResult(items=items)).items] == ["grammar"]


def test_only_changed_lines_count():
    text = "The the cat.\n\nThe the dog.\n"
    assert find(text, list_changed=lambda _: ((3, 3),)) == ["repeated-word"]
    assert find(text, list_changed=lambda _: ()) == []


def test_the_model_is_asked_about_changed_lines_only():
    worker = SelectingWorker(inner=Fixed((), FakeSurroundings()), list_changed=lambda _: ((3, 3),))
    units = worker.plan(make_document("One.\n\nTwo.\n"))
    assert [(unit.kind, unit.start) for unit in units] == [("rules", 0), ("proofread", 6)]


def test_doubtful_findings_are_left_out_and_counted():
    result = UnitResult(items=(make_item(0), make_item(1)), doubtful=(make_item(1).uid,))

    kept = select_items("A text.\n", result)
    assert ([item.o for item in kept.items], len(kept.doubtful)) == ([(0, 2)], 1)
    kept = select_items("A text.\n", result, keep_doubtful=True)
    assert (len(kept.items), kept.doubtful) == (2, ())
