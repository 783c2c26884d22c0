import pytest

from kebab.app.references import Lines, Reading, read_reference


@pytest.mark.parametrize(
    ("text", "name", "lines"),
    [
        ("a.md#L5", "a.md", (5, 5)),
        ("a.md#12", "a.md", (12, 12)),
        ("a.md:5", "a.md", (5, 5)),
        ("my%20note.md#L1-L3", "my note.md", (1, 3)),
        ("my%20note.md:3", "my note.md", (3, 3)),
        ("file:///home/ada/my%20note.md#L2", "/home/ada/my note.md", (2, 2)),
        ("a:12:5", "a:12", (5, 5)),
        ("C#.md:1", "C#.md", (1, 1)),
    ],
)
def test_lines_are_read_in_every_form(text, name, lines):
    assert (name, Lines(*lines)) in [(one.name, one.lines) for one in read_reference(text)]


@pytest.mark.parametrize(
    ("text", "bare"),
    [("a:5", True), ("a#2024", True), ("a#L5", False), ("a:L5", False)],
)
def test_numbers_without_a_letter_may_be_pages(text, bare):
    assert read_reference(text)[1].bare is bare


@pytest.mark.parametrize(
    "text", ["a.md", "a:12", "notes#L5.md", "a.md#L5", "", "#L5", ":5", "100%.md", "%zz", "%ff"]
)
def test_the_whole_text_is_a_name_first(text):
    assert read_reference(text)[0] == Reading(text)


def test_a_fragment_without_numbers_is_a_place():
    assert Reading("a.md", place="page=3") in read_reference("a.md#page=3")
    assert Reading("a.md", place="how to") in read_reference("a.md#how%20to")
