import pytest

from kebab.core.spelling import find_nearest
from kebab.text.filters import find_nearest_globs

PATHS = (
    "docs/dapr/intro.md",
    "docs/dapr/deep/state.md",
    "docs/other/dapr/x.md",
    "docs/nodes.md",
    "ops/[1]/backup.md",
    "readme.txt",
)


@pytest.mark.parametrize(
    ("value", "nearest"),
    [
        ("op", ["Ops"]),
        ("operations", []),
        ("cookng", ["cooking"]),
        ("ops/db", ["Ops"]),
        ("zzz", []),
        ("", ["Ops", "cooking"]),
    ],
)
def test_the_nearest_values_begin_alike_or_are_spelled_alike(value, nearest):
    assert find_nearest(value, ["Ops", "cooking"]) == nearest


@pytest.mark.parametrize(
    ("pattern", "nearest"),
    [
        ("dapr/**", ["**/dapr/**"]),
        ("/dapr/**", ["**/dapr/**"]),
        ("docs/dpr/**", ["docs/dapr/**", "docs/other/dapr/**"]),
        ("node.md", ["docs/nodes.md"]),
        ("backpu.md", ["ops/[[]1]/backup.md"]),
        ("*.rst", ["*.md", "*.txt"]),
        ("zzz", []),
        ("", []),
    ],
)
def test_the_nearest_globs_match_something(pattern, nearest):
    assert find_nearest_globs(pattern, PATHS)[: len(nearest) or None] == nearest


def test_nothing_is_near_in_an_empty_library():
    assert find_nearest("a", []) == find_nearest_globs("a/**", []) == []
