import pytest

from kebab.app.review import list_rules
from kebab.review.rules.registry import LINTERS, RULES
from kebab.wire.record import NotFound
from kebab.wire.review import (
    ReviewRules,
    ReviewRulesRequest,
)


@pytest.fixture
def context(desk):
    return desk.context(review__keep_days=7)


def describe(context, rule=None):
    reply = list_rules(context, ReviewRulesRequest(rule=rule))
    assert isinstance(reply, ReviewRules)
    return reply.rules


def test_all_rules_are_described_with_their_switches(desk):
    context = desk.context(review__disable=[RULES[0].id])
    rules = describe(context)

    known = [*(rule.id for rule in RULES), *(rule.id for rule in LINTERS)]
    assert [rule.id for rule in rules] == known
    assert [rule.enabled for rule in rules] == [False, *([True] * (len(known) - 1))]


def test_one_rule_is_described(context):
    (rule,) = describe(context, "broken-link")

    assert (rule.id, rule.enabled) == ("broken-link", True)


def test_an_unknown_rule_gives_the_nearest(context):
    for name, nearest in (("brokn-link", ["broken-link"]), ("x" * 40, [])):
        missing = list_rules(context, ReviewRulesRequest(rule=name))

        assert isinstance(missing, NotFound)
        assert missing.error.candidates == nearest
