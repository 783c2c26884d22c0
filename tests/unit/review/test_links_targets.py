"""What links mean is told by their path and by what exists."""

from pathlib import Path

import pytest

from kebab.core.review import LinkUse
from kebab.review.links import find_replacement, is_path, split_target
from tests.fakes.review import FakeSurroundings, make_document


def test_a_target_has_a_path_and_a_fragment() -> None:
    assert split_target("a/b.md?x=1#part") == ("a/b.md", "part")
    assert split_target("#part") == ("", "part")


@pytest.mark.parametrize("target", ["#a", "http://a.b", "{{ a }}", "<a>", "url", "-", "a|b"])
def test_what_is_no_path_is_told(target: str) -> None:
    assert not is_path(LinkUse(target, "inline", 0, 1, (0, 1)))


@pytest.mark.parametrize(
    ("target", "found", "replacement"),
    [
        ("old/z.md#p", "new/z.md", "new/z.md#p"),
        ("../z.md", "z.md", "z.md"),
        ("old/z%20y.md", "new/z y.md", "new/z%20y.md"),
        ("old/README.md", "README.md", None),
        ("old/CODE_OF_CONDUCT.md", "CODE_OF_CONDUCT.md", None),
        ("/old/z.md", "new/z.md", None),
        ("z", "new/z", None),
    ],
)
def test_the_path_of_a_namesake_replaces_the_path_alone(
    target: str, found: str, replacement: str | None
) -> None:
    name = Path(found).name
    surroundings = FakeSurroundings(namesakes={name: (Path("/notes", found),)})
    source = make_document("").source
    assert find_replacement(source, surroundings, target) == replacement
