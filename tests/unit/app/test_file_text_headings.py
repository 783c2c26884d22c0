import pytest

from kebab.app.file_text import (
    find_section,
    find_section_by_title,
    list_sections,
    make_anchor,
    parse_file,
)
from kebab.errors.catalog import ParseFailed
from kebab.parse.registry import PARSERS

TEXT = """---
title: T
---
intro

# One

text

## Two A

a

### Deep

d

## Two B

b


# Other
"""


@pytest.fixture
def sections():
    return list_sections(parse_file(TEXT.encode(), "a.md", PARSERS["text/markdown"]))


def test_a_section_ends_before_the_next_heading_of_its_level(sections):
    assert [(one.title, one.level, one.first, one.last) for one in sections] == [
        ("One", 1, 6, 20),
        ("Two A", 2, 10, 16),
        ("Deep", 3, 14, 16),
        ("Two B", 2, 18, 20),
        ("Other", 1, 23, 23),
    ]
    assert [one.path for one in sections][2] == ("One", "Two A", "Deep")


@pytest.mark.parametrize(
    ("first", "last", "title"),
    [
        (16, 16, "Deep"),
        (17, 17, "Deep"),
        (12, 16, "Two A"),
        (12, 20, "One"),
        (8, 8, "One"),
        (23, 23, "Other"),
        (4, 4, None),
        (20, 23, None),
    ],
)
def test_the_smallest_section_with_all_lines_is_found(sections, first, last, title):
    found = find_section(sections, first, last)

    assert (found.title if found else None) == title


@pytest.mark.parametrize("title", ["Two B", "two-b", "TWO  b", "two_b"])
def test_a_section_is_found_by_its_title_or_anchor(sections, title):
    found = find_section_by_title(sections, title)

    assert found is not None
    assert found.title == "Two B"
    assert find_section_by_title(sections, "three") is None


def test_an_anchor_keeps_letters_of_all_scripts():
    assert make_anchor("백업 (Restore), v2!") == "백업-restore-v2"


def test_plain_text_has_no_sections():
    assert list_sections(parse_file(b"# no heading\n", "a.txt", PARSERS["text/plain"])) == []


def test_binary_data_is_refused():
    with pytest.raises(ParseFailed):
        parse_file(b"\0\1\2\3" * 40, "a.md", PARSERS["text/markdown"])


def test_a_symbol_ends_where_code_of_the_outer_one_goes_on():
    text = b"class A:\n    def f(self):\n        return 1\n\n    x = 2\n\ny = 3\n"
    sections = list_sections(parse_file(text, "a.py", PARSERS["text/x-python"]))
    assert [(one.path, one.first, one.last) for one in sections] == [
        (("A",), 1, 5),
        (("A", "f"), 2, 3),
    ]


def test_a_section_is_found_by_the_titles_above_it(sections):
    assert find_section_by_title(sections, "One/Two B") == sections[3]
    assert find_section_by_title(sections, "two a deep") == sections[2]
    assert find_section_by_title(sections, "One/Tw…") == sections[1]
    assert find_section_by_title(sections, "…") is None
