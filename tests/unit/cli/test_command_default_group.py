import pytest


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (["a.md"], "fetch"),
        (["chunk", "x"], "fetch chunk"),
        (["--color", "never", "chunk", "x"], "fetch chunk"),
        (["./chunk"], "fetch"),
        (["--context", "3", "a.md", "chunk"], "fetch"),
        (["a.md", "chunk"], "fetch"),
    ],
)
def test_the_first_argument_selects_the_subcommand_or_the_default(kebab, arguments, command):
    assert kebab("fetch", *arguments, "--json").reply["command"] == command
