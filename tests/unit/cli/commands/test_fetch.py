import pytest

from kebab.wire.fetch import FetchRequest


def test_a_pipe_gets_the_lines_and_nothing_else(kebab):
    assert kebab("fetch", "chunk", "x").out == "before\nStop the writer,\nthen restore.\nafter\n"


@pytest.mark.parametrize("arguments", [["span", "x"], ["span", "x", "0"], ["span", "x", "one"]])
def test_lines_begin_at_one(kebab, arguments):
    assert kebab("fetch", *arguments).status == 2


@pytest.mark.parametrize("arguments", [["-"], []])
def test_references_are_read_from_stdin(kebab, opened, arguments):
    ran = kebab("fetch", *arguments, stdin="a b.md:1\r\n\n메모.md\n".encode())

    assert ran.status == 0
    assert opened[0].asked == [("fetch", FetchRequest(refs=["a b.md:1", "메모.md"]))]


def test_stdin_takes_the_place_of_its_sign(kebab, opened):
    kebab("fetch", "a.md", "-", "z.md", stdin=b"b.md\n")

    assert opened[0].asked[0][1].refs == ["a.md", "b.md", "z.md"]


def test_no_reference_is_a_usage_error(kebab):
    assert kebab("fetch", "--json").fault["code"] == "usage_invalid"
    assert kebab("fetch", "-", "--json", stdin=b"\n").fault["code"] == "usage_invalid"


def test_one_reference_in_a_pipe_prints_its_lines_and_nothing_else(kebab):
    ran = kebab("fetch", "a.md")

    assert (ran.out, ran.err) == ("before\nStop the writer,\nthen restore.\nafter\n", "")
