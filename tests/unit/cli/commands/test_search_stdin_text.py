import pytest

from kebab.cli.commands.search import read_argument
from tests.fakes.console import standard_input


@pytest.mark.parametrize(
    ("words", "text"),
    [(("restore", "a backup"), "restore a backup"), ((), ""), (("-", "x"), "- x")],
)
def test_words_are_joined(words, text):
    with standard_input(b"other"):
        assert read_argument(words, 100) == text


@pytest.mark.parametrize(
    ("data", "text"), [(b"\xef\xbb\xbfrestore\na backup\n", "restore\na backup"), (b"", "")]
)
def test_a_minus_alone_stands_for_stdin(data, text):
    with standard_input(data):
        assert read_argument(("-",), 100) == text


def test_no_more_than_needed_is_read():
    with standard_input(b"x" * 50):
        assert read_argument(("-",), 10) == "x" * 11
