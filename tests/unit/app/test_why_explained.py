import pytest

from tests.unit.app.test_why import asked, fill


def test_the_parsed_query_is_reported(desk):
    fill(desk)

    read = asked(desk, 'the "new disk" -zebra tag:ops', "disk.md", since="1y").reading

    assert [(one.text, one.column) for one in read.required] == [("new disk", None)]
    assert not read.relaxed
    assert [(one.text, one.column) for one in read.excluded] == [("zebra", None)]
    assert [(one.name, one.origin) for one in read.filters] == [
        ("tag", "query"),
        ("since", "request"),
    ]
    assert ("the", "filler") in [(one.text, one.use) for one in read.terms]


def test_conditions_that_exclude_a_passage_are_reported(desk):
    fill(desk)

    found = asked(desk, "disk -buy", "disk.md", tag=["ops"])

    assert [one.filter for one in found.lifted] == ["tag"]
    told = [[each.kind for each in one.barriers] for one in found.passages]
    assert told == [["filter"], ["filter", "exclusion"]]
    assert found.passages[1].barriers[1].phrase.text == "buy"


def test_a_passage_has_its_ranks_and_boosts(desk):
    fill(desk)

    (first, *_) = asked(desk, "disk", "disk.md").passages

    assert first.citation.uri.startswith("disk.md#L1")
    assert first.lexical.candidate
    assert first.semantic.rank is None
    assert {one.reason for one in first.lifts} <= {"context", "spread", "name"}
    total = first.fused.score + sum(one.value for one in first.lifts)
    assert first.final.score == pytest.approx(total)
