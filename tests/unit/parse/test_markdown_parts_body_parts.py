"""Tests for the parts of a body in bytes."""

from kebab.parse.markdown_parts import read_body_parts


def test_offsets_are_bytes_of_the_utf8_of_the_body() -> None:
    (link,) = read_body_parts("한 [a](b.md)").links
    assert (link.start, link.target_span) == (4, (8, 12))


def test_targets_and_tags_are_marks_but_code_and_comments_are_code() -> None:
    found = read_body_parts("`c` <b> <!-- d --> [e](f)\n")
    assert found.code == [(0, 3), (8, 18)]
    assert found.marks == [(4, 7), (23, 24)]
