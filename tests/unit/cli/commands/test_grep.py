import pytest

from kebab.wire.fetch import GrepRequest


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["cat"], GrepRequest(pattern="cat")),
        (["cat", "a.md", "deep"], GrepRequest(pattern="cat", paths=["a.md", "deep"])),
        (["-l", "cat"], GrepRequest(pattern="cat", files_only=True)),
        (["-rnE", "cat", "deep"], GrepRequest(pattern="cat", paths=["deep"])),
        (["-c", "cat"], GrepRequest(pattern="cat", count_only=True)),
        (["--path", "a/**", "--", "-x"], GrepRequest(pattern="-x", path_glob="a/**")),
    ],
)
def test_flags_reach_the_library(kebab, opened, arguments, wanted):
    assert kebab("grep", *arguments).status == 0
    assert opened[0].asked == [("grep", wanted)]
