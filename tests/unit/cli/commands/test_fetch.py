import pytest

from kebab.wire.fetch import FetchRequest


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
