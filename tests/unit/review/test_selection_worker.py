import typing

import pytest

from kebab.core.review import Unit, UnitKind
from kebab.review.document import Finding
from kebab.review.run import needs_model
from kebab.review.selection import RulesWorker
from tests.fakes.review import FakeSurroundings, make_document
from tests.fakes.review_runs import TwiceRule


@pytest.mark.parametrize("kind", typing.get_args(UnitKind))
def test_rules_and_what_cannot_be_read_need_no_model(kind):
    assert needs_model(Unit(kind, (0, 0), 0, 0)) == (kind not in {"rules", "unread"})


class Backwards:
    """A rule with findings in the opposite order, one of them twice."""

    def check(self, document, surroundings):
        """Yield a finding at each of three places."""
        del document, surroundings
        for at in (9, 4, 0, 4):
            yield Finding(
                kind="test", severity="error", reason="r", start=at, end=at + 2, rule_id="back"
            )


def work(text, *rules):
    document = make_document(text)
    worker = RulesWorker(rules, FakeSurroundings())
    (unit,) = worker.plan(document)
    return worker.work(document, unit)


def test_the_findings_of_all_rules_are_sorted_by_place_without_repetitions():
    result = work("one two the the three.", Backwards(), TwiceRule())

    assert [(one.rule_id, one.o[0]) for one in result.items] == [
        ("back", 0),
        ("back", 4),
        ("back", 9),
        ("repeated-word", 11),
    ]
