import pytest

from kebab.cli.channels import OutputChannel
from kebab.cli.commands import rank

LINES = b"first\n  second\xff\n\nlast"


def test_a_pipe_gets_every_line_unchanged(kebab, opened, tmp_path):
    ran = kebab("rank", "who", "barks", stdin=b"a\n\tb  \nc\n")

    assert ran.out == "c\n\tb  \na\n"
    assert opened[0].asked[0][1].query == "who barks"
    assert opened[0].asked[0][1].limit is None


def test_a_limit_is_noted_beside_the_lines(kebab):
    ran = kebab("rank", "x", "-n", "1", stdin=b"a\nb\n")

    assert ran.out == "b\n"
    assert ran.err == "1 of 2 lines, all of them: --limit N\n"


def test_a_terminal_gets_ten_lines_without_control_characters(kebab, opened, monkeypatch):
    monkeypatch.setattr(OutputChannel, "is_terminal", True)

    ran = kebab("rank", "x", stdin=b"a\x1b[2J\n")

    assert opened[0].asked[0][1].limit == 10
    assert "\x1b[2J" not in ran.out


def test_no_lines_are_no_result(kebab):
    ran = kebab("rank", "x")

    assert (ran.status, ran.out, ran.err) == (1, "", "no lines\n")


def test_an_empty_query_is_invalid_input(kebab):
    assert kebab("rank", "", "--json", stdin=b"a\n").fault["code"] == "invalid_input"


def test_too_many_bytes_are_refused(kebab, monkeypatch):
    monkeypatch.setattr(rank, "MAX_BYTES", 3)

    assert kebab("rank", "x", "--json", stdin=b"abcd").fault["code"] == "too_large"


@pytest.mark.parametrize("data", [LINES])
def test_bytes_that_are_not_utf8_reach_the_knowledge_base_readable(kebab, opened, data):
    kebab("rank", "x", "--json", stdin=data)

    assert opened[0].asked[0][1].lines == ["first", "  second\ufffd", "", "last"]
