import pytest

from kebab.core.documents import Metadata
from kebab.parse.metadata import (
    build_metadata,
    merge_metadata,
    read_front_matter,
    read_inline_metadata,
    read_properties,
    to_authors,
)


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
    [(["A", "B, C"], ("A", "B, C")), ("A, B", ("A", "B")), (["/old/url/", "A"], ("A",)), ("", ())],
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
    assert read_front_matter(text).metadata._replace(properties=()) == Metadata(
        "T", ("a", "b"), None, ("J",), "2024-03-01", ("X",)
    )


def test_korean_names_of_fields_are_known():
    text = "---\n제목: 회의\n태그: [가, 나]\n작성자: 김하늘\n날짜: 2024년 3월 4일\n---\n"
    assert read_front_matter(text).metadata._replace(properties=()) == Metadata(
        "회의", ("가", "나"), authors=("김하늘",), date="2024-03-04"
    )


def test_fields_on_one_line_survive_damage():
    text = "---\ntitle: Notes: part 2\ntags: [a, 'b']\nauthor: Jane Doe\nx: [\n---\nbody"
    front = read_front_matter(text)
    assert front.metadata._replace(properties=()) == Metadata(
        "Notes: part 2", ("a", "b"), authors=("Jane Doe",)
    )
    assert front.searched == 0


def test_properties_have_every_depth_and_type():
    fields = {
        "Status": "done",
        "rating": 4.5,
        "draft": False,
        "project": {"client": "Okonjo Ltd", "people": [{"name": "Ann"}, {"name": "Bob"}]},
        "up": [["Target"]],
        "none": None,
    }
    assert build_metadata(fields).properties == (
        ("status", "done"),
        ("rating", "4.5"),
        ("draft", "false"),
        ("project.client", "Okonjo Ltd"),
        ("project.people.name", "Ann"),
        ("project.people.name", "Bob"),
        ("up", "Target"),
    )


def test_authors_and_tags_of_every_format_are_properties():
    metadata = Metadata(tags=("a",), authors=("Ann",), properties=(("isbn", "1"), ("tags", "a")))
    assert metadata.list_properties() == (("isbn", "1"), ("tags", "a"), ("author", "Ann"))


def test_tags_of_all_places_are_merged_and_front_matter_wins():
    front = Metadata("F", ("a",), date="2024-03-01")
    properties = Metadata("P", ("b",), "ko", ("J",), "2020-01-01", ("X",))
    assert merge_metadata(front, properties, ["a", "c"]) == Metadata(
        "F", ("a", "b", "c"), "ko", ("J",), "2024-03-01", ("X",)
    )


def body_of(text):
    return text[read_front_matter(text).body :]


@pytest.mark.parametrize(
    "text",
    [
        "---\ntitle: T\n---\nbody",
        "---\ntitle: T\n...\nbody",
        "---  \ntitle: 'T'\n--- \nbody",
        "---\n# a comment\nTitle: T\n---\nbody",
        '+++\ntitle = "T"\n+++\nbody',
        '{"title": "T"}\nbody',
        '{\n "title": "T"\n}\nbody',
    ],
)
def test_the_title_is_read_and_the_body_follows(text):
    front = read_front_matter(text)
    assert front.metadata.title == "T"
    assert text[front.body :] == "body"
    assert front.searched == front.body
    assert front.warnings == ()


@pytest.mark.parametrize(
    ("value", "title"),
    [
        ("2024-01-02", "2024-01-02"),
        ("42", "42"),
        ("'null'", "null"),
        ("", None),
        ("~", None),
        ("[1, {a: 2}]", None),
        ("{a: b}", None),
        ("a\n  b", "a b"),
        ("*known", "1"),
    ],
)
def test_a_title_of_any_type_is_text_or_ignored(value, title):
    front = read_front_matter(f"---\nx: &known 1\ntitle: {value}\n---\n")
    assert front.metadata.title == title
    assert front.warnings == ()


@pytest.mark.parametrize(
    ("line", "tags"),
    [
        ("tags: [a, b/c, '#d']", ("a", "b/c", "d")),
        ("tags:\n  - a\n  - a\n  - 2024", ("a", "2024")),
        ("tags: a, b c", ("a", "b c")),
        ("tags: '#a #b'", ("a", "b")),
        ("tag: a", ("a",)),
        ("tags:", ()),
        ("tags: {a: b}", ()),
        ("tags: [[a], {b: c}, d]", ("d",)),
    ],
)
def test_tags_come_as_lists_or_strings(line, tags):
    assert read_front_matter(f"---\n{line}\n---\n").metadata.tags == tags


@pytest.mark.parametrize(
    ("line", "lang"),
    [("lang: ko", "ko"), ("language: en-US", "en"), ("lang: Klingon!", None), ("lang: [a]", None)],
)
def test_the_language_is_its_primary_subtag(line, lang):
    assert read_front_matter(f"---\n{line}\n---\n").metadata.lang == lang


@pytest.mark.parametrize(
    "text",
    [
        "---\n\nA rule, then prose: with a colon\n\n---\n\nmore",
        "---\nSome prose between rules, which matters: a lot\n---\n",
        "---\njust a string\n---\n",
        "---\n- a\n- b\n---\n",
        "text\n---\ntitle: T\n---\n",
        "{{< shortcode >}}\ntext",
        '{"a": 1} and prose',
        "----\ntitle: T\n----\n",
        "",
    ],
)
def test_what_is_no_mapping_stays_in_the_body(text):
    front = read_front_matter(text)
    assert (front.body, front.searched, front.warnings) == (0, 0, ())


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("---\ntitle: a\n\nbody", "front matter is not closed, read as text"),
        ("---\na: b\nx: [1\n---\nbody", "front matter is not valid YAML at line 4, read as text"),
        ("+++\na = \n+++\nbody", "front matter is not valid TOML, read as text"),
        ('{"a": [}\nbody', "front matter is not valid JSON, read as text"),
    ],
)
def test_damaged_front_matter_is_a_warning_and_is_searched(text, warning):
    front = read_front_matter(text)
    assert front.warnings == (warning,)
    assert front.searched == 0


@pytest.mark.processor_s(20)
@pytest.mark.parametrize(
    "inner",
    [
        "x: " + "[" * 50_000,
        "x: " + "[{" * 30_000,
        "x:\n  " + "- " * 30_000,
        "a: &a [x,x]\n"
        + "".join(f"{b}: &{b} [*{a},*{a}]\n" for a, b in zip("abcd", "bcde", strict=True)),
        "".join(f"k{n}: value {n}\n" for n in range(6_000)),
        "<<: [*a, *a]\nb: 1",
    ],
    ids=["flow", "flow maps", "sequences", "laughs", "huge", "merge"],
)
def test_hostile_front_matter_takes_linear_time(inner):
    text = f"---\ntitle: T\n{inner}\n---\nbody"
    assert read_front_matter(text).metadata.title == "T"
    assert body_of(text) == "body"


@pytest.mark.parametrize("text", ["+++\na = " + "[" * 50_000 + "\n+++\n", '{"a":' + "[" * 100_000])
def test_depth_in_other_formats_is_refused(text):
    assert read_front_matter(text).searched == 0


def test_a_tag_is_never_run(tmp_path):
    front = read_front_matter(f"---\ntitle: !!python/object/apply:os.mkdir ['{tmp_path}/x']\n---\n")
    assert front.metadata.title is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ("tags:: a, b\nalias:: c\n\ntext", {"tags": "a, b", "alias": "c"}),
        ("\n\ntitle:: T\ntext", {"title": "T"}),
        ("- type:: note\n- text", {"type": "note"}),
        ("Date Created:: 2024-03-01", {"date created": "2024-03-01"}),
        ("empty::\nx:: 1", {"empty": "", "x": "1"}),
        ("a:: 1\na:: 2", {"a": "1"}),
        ("text\nkey:: value", {}),
        ("std::vector is a class", {}),
        ("", {}),
    ],
)
def test_the_lines_at_the_head_of_a_page_are_its_properties(body, fields):
    assert read_properties(body) == fields


@pytest.mark.processor_s(10)
def test_a_long_head_is_read_in_time():
    assert len(read_properties("".join(f"k{n}:: v\n" for n in range(100_000)))) == 100
    assert read_properties("a" * 1_000_000 + "::") == {}


def test_the_lines_below_the_title_of_an_exported_page_are_its_properties():
    body = "# Trip\n\nStatus: In progress\nTags: sea, sun\n\nNote: pack light"

    exported = read_inline_metadata(body, (), is_exported=True)
    assert exported.properties == (("status", "In progress"), ("tags", "sea, sun"))
    assert exported.tags == ("sea", "sun")
    prose = body.replace("Tags", "We leave.\nTags")
    assert not read_inline_metadata(prose, (), is_exported=True).properties
    assert not read_inline_metadata(body, ()).properties


def test_fields_anywhere_in_a_note_are_properties_and_those_in_code_are_not():
    body = "- who:: Ada\n\nWe met [guide:: [[Bo]]] (fee:: 85).\n\nno:: code\nf :: Int `[no:: x]`"

    assert read_inline_metadata(body, [(4, 5)]).properties == (
        ("who", "Ada"),
        ("guide", "[[Bo]]"),
        ("fee", "85"),
    )
