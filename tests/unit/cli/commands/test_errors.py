import pytest


@pytest.fixture
def failed(kebab):
    """The correlation ids of three faults, in order."""
    words = ("broken", "unindexed", "broken")
    return [kebab("search", word, "--json").fault["correlation_id"] for word in words]


@pytest.mark.parametrize("more", [["--since", "1h"], ["--by", "kind"]])
def test_id_excludes_since_and_by(kebab, more):
    assert kebab("errors", "--id", "x", *more, "--json").fault["code"] == "usage_invalid"
