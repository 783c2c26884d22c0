import pytest

from kebab.wire.fetch import OutlineRequest


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ([], OutlineRequest()),
        (["docs"], OutlineRequest(name="docs")),
        (["docs", "--depth", "3", "-n", "5"], OutlineRequest(name="docs", depth=3, limit=5)),
        (["--all"], OutlineRequest(limit=None)),
    ],
)
def test_flags_reach_the_library(kebab, opened, arguments, wanted):
    assert kebab("outline", *arguments).status == 0
    assert opened[0].asked == [("outline", wanted)]


def test_all_and_a_limit_exclude_each_other(kebab):
    assert kebab("outline", "--all", "-n", "3", "--json").fault["code"] == "usage_invalid"
