import pytest

from kebab.core.documents import Metadata
from kebab.parse.metadata import (
    build_metadata,
    merge_metadata,
    read_front_matter,
    to_authors,
    to_tags,
)


@pytest.mark.parametrize(
    ("value", "tags"),
    [
        (["a", "#b/c", 2024], ("a", "b/c", "2024")),
        ("a, b c", ("a", "b c")),
        ("#a #b", ("a", "b")),
        ("[[a b]], #[[c d]], e", ("a b", "c d", "e")),
        ([{"label": "Guide", "permalink": "/guide"}], ("Guide",)),
        (["[[a]]"], ("a",)),
        (None, ()),
        (True, ()),
    ],
)
def test_tags_come_in_many_forms(value, tags):
    assert to_tags(value) == tags


@pytest.mark.parametrize(
    ("value", "authors"),
    [
        ("Jane Doe", ("Jane Doe",)),
        ("Doe, Jane", ("Doe, Jane",)),
        ("Jane Doe, John Smith", ("Jane Doe", "John Smith")),
        ("Jane Doe and John Smith; Kim", ("Jane Doe", "John Smith", "Kim")),
        (["Jane", {"name": "John", "url": "x"}], ("Jane", "John")),
        ({"name": "Jane"}, ("Jane",)),
        ("[[Jane Doe]]", ("Jane Doe",)),
        ("김철수", ("김철수",)),
        ([], ()),
        (None, ()),
    ],
)
def test_authors_come_in_many_forms(value, authors):
    assert to_authors(value) == authors


@pytest.mark.parametrize(
    ("fields", "date"),
    [
        ({"date": "2024-03-01"}, "2024-03-01"),
        ({"created": "2024-03-01", "updated": "2024-05-01"}, "2024-03-01"),
        ({"updated": "2024-05-01"}, "2024-05-01"),
        ({"date": "soon", "created": "2024-03-01"}, "2024-03-01"),
        ({"Date": "March 1, 2024"}, "2024-03-01"),
        ({"publishDate": "2024-03-01T10:00:00+09:00"}, "2024-03-01T01:00:00Z"),
        ({"created": 1709289000000}, "2024-03-01T10:30:00Z"),
        ({"date": ["2024-03-01"]}, "2024-03-01"),
        ({"date": None}, None),
        ({"date": True}, None),
    ],
)
def test_the_date_is_what_the_note_is_from_before_when_it_changed(fields, date):
    assert build_metadata(fields).date == date


@pytest.mark.parametrize(
    ("value", "aliases"),
    [
        (["A", "B, C"], ("A", "B, C")),
        ("A, B", ("A", "B")),
        (["/old/url/", "A"], ("A",)),
        ("", ()),
    ],
)
def test_aliases_are_names_and_no_addresses(value, aliases):
    assert build_metadata({"aliases": value}).aliases == aliases


HUGO = """+++
title = "T"
date = 2024-03-01
authors = ["J"]
aliases = ["/x", "X"]
[taxonomies]
tags = ["a", "b"]
+++
"""
JSON = """{"title": "T", "tags": "a, b", "author": {"name": "J"}, "date": "2024-03-01",
"aliases": ["X"]}
"""


@pytest.mark.parametrize(
    "text",
    [
        "---\ntitle: T\ntags: [a, b]\nauthor: J\ndate: 2024-03-01\naliases: [X]\n---\n",
        "---\ntitle: T\ntags:\n- a\n- b\nauthors:\n- name: J\ncreated: 2024-03-01\nalias: X\n---\n",
        HUGO,
        JSON,
    ],
    ids=["Obsidian", "Docusaurus", "Hugo", "JSON"],
)
def test_front_matter_of_every_flavour_says_the_same(text):
    assert read_front_matter(text).metadata == Metadata(
        "T", ("a", "b"), None, ("J",), "2024-03-01", ("X",)
    )


def test_korean_names_of_fields_are_known():
    text = "---\n제목: 회의\n태그: [가, 나]\n작성자: 김하늘\n날짜: 2024년 3월 4일\n---\n"
    assert read_front_matter(text).metadata == Metadata(
        "회의", ("가", "나"), authors=("김하늘",), date="2024-03-04"
    )


def test_fields_on_one_line_survive_damage():
    text = "---\ntitle: Notes: part 2\ntags: [a, 'b']\nauthor: Jane Doe\nx: [\n---\nbody"
    front = read_front_matter(text)
    assert front.metadata == Metadata("Notes: part 2", ("a", "b"), authors=("Jane Doe",))
    assert front.searched == 0


def test_tags_of_all_places_are_merged_and_front_matter_wins():
    front = Metadata("F", ("a",), date="2024-03-01")
    properties = Metadata("P", ("b",), "ko", ("J",), "2020-01-01", ("X",))
    assert merge_metadata(front, properties, ["a", "c"]) == Metadata(
        "F", ("a", "b", "c"), "ko", ("J",), "2024-03-01", ("X",)
    )
