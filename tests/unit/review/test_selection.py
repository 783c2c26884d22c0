from kebab.core.review import Unit, UnitResult
from kebab.parse.text.markdown_parts import read_markup
from kebab.review.rules.registry import RULES
from kebab.review.selection import (
    FileRules,
    RuleNames,
    SelectingWorker,
    Selection,
)
from kebab.review.worker import RulesWorker
from tests.fakes.review import FakeSurroundings, make_document
from tests.fakes.review_store import make_item

NAMES = RuleNames(
    frozenset(rule.id for rule in RULES),
    frozenset({"spelling", *(name for rule in RULES for name in (rule.id, rule.kind))}),
)
NONE = UnitResult()


def select(text, **fields):
    """Return the result of all rules over a text."""
    document = make_document(text, read_markup(text))
    worker = SelectingWorker(
        RulesWorker(RULES, FakeSurroundings()), Selection(**{"names": NAMES, **fields})
    )
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
    assert find("The the cat. <!-- kebab-ignore todo: no -->\n") == [
        "repeated-word",
        "unused-ignore",
    ]


def test_an_unknown_name_has_a_finding_with_a_near_one():
    _, result = select("Cat. <!-- kebab-ignore repeated-wrod, nonsense, spelling -->\n")
    assert [item.r for item in result.items] == [
        "there is no such rule: repeated-wrod, did you mean `repeated-word`?",
        "there is no such rule: nonsense",
    ]


def test_a_comment_for_a_rule_that_was_not_applied_is_not_judged():
    text = "Cat. <!-- kebab-ignore todo: no -->\n"
    assert find(text) == ["unused-ignore"]
    names = NAMES._replace(applied=NAMES.applied - {"todo"})
    assert find(text, names=names) == []
    assert find(text, choose_rules=lambda _: FileRules(frozenset({"todo"}))) == []


def test_findings_about_comments_can_be_ignored():
    assert (
        find("<!-- kebab-ignore-file unused-ignore: old -->\n<!-- kebab-ignore todo -->\nx") == []
    )


def test_findings_of_the_model_are_ignored_by_their_kind():
    text = "Teh cat. <!-- kebab-ignore spelling: a name -->\n"
    document = make_document(text, read_markup(text))
    items = (make_item(0, k="spelling", o=(0, 3)), make_item(0, k="grammar", o=(0, 3)))
    result = Selection(names=NAMES).select(
        document, UnitResult(items=items, carried=items), rules=False
    )
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
        Model((), FakeSurroundings()), Selection(names=NAMES, list_changed=lambda _: ((3, 3),))
    )
    assert worker.plan(document)[1:] == [last]


def test_findings_about_links_that_a_build_may_mend_are_left_out_and_counted():
    text = (
        "See [a](no.md), and the the cat.\n\n[b](no.md) <!-- kebab-ignore broken-link: soon -->\n"
    )
    around = FakeSurroundings(
        doubtful=frozenset({"broken-link"}), files=frozenset({"/notes/LICENSE"})
    )
    document = make_document(text, read_markup(text))
    for keep, rules, count in (
        (False, ["repeated-word"], 1),
        (True, ["broken-link", "repeated-word"], 0),
    ):
        selection = Selection(names=NAMES, keep_doubtful=keep)
        worker = SelectingWorker(RulesWorker(RULES, around), selection)
        result = worker.work(document, worker.plan(document), 0, lambda _: NONE)
        assert [item.rule_id for item in result.items] == rules
        assert (len(result.doubtful), result.ignored) == (count, 1)
