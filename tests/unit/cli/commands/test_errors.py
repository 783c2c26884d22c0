import pytest


@pytest.fixture
def failed(kebab):
    """The correlation ids of three faults, in order."""
    words = ("broken", "unindexed", "broken")
    return [kebab("search", word, "--json").fault["correlation_id"] for word in words]


def test_an_empty_log_has_no_errors(kebab, home):
    ran = kebab("errors", "--json")

    assert (ran.status, ran.reply["total"], ran.err) == (0, 0, "")
    assert not (home / "state").exists()


def test_what_is_counted_by_and_since_when_are_choices(kebab, failed):
    by_kind = kebab("errors", "--by", "kind", "--since", "1h", "--json").reply
    later = kebab("errors", "--since", "2999-01-01", "--json").reply

    assert [one["by"] for one in by_kind["groups"]] == ["kind"]
    assert (by_kind["total"], later["total"]) == (3, 0)


@pytest.mark.parametrize("more", [["--since", "1h"], ["--by", "kind"]])
def test_id_excludes_since_and_by(kebab, more):
    assert kebab("errors", "--id", "x", *more, "--json").fault["code"] == "usage_invalid"


def test_in_a_pipe_fields_are_separated_by_tabs(kebab, failed):
    first = kebab("errors", "--by", "code").out.splitlines()[0].split("\t")

    assert first[:4] == ["code", "store_corrupt", "2", "0.6667"]
    assert first[-1] == failed[2]
