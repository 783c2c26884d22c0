import pytest

from kebab.parse.metadata import read_front_matter


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
        ("*missing", None),
    ],
)
def test_a_title_of_any_type_is_text_or_ignored(value, title):
    front = read_front_matter(f"---\nx: &missing 1\ntitle: {value}\n---\n")
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


def test_a_bare_colon_does_not_cost_the_title():
    front = read_front_matter("---\ntitle: Notes: part 2 - why?\n---\nbody")
    assert front.metadata.title == "Notes: part 2 - why?"
    assert front.warnings


def test_empty_front_matter_is_front_matter():
    assert body_of("---\n---\nbody") == "body"


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "inner",
    [
        "x: " + "[" * 50_000,
        "x: " + "[{" * 30_000,
        "x:\n  " + "- " * 30_000,
        "a: &a [x,x]\n"
        + "".join(f"{b}: &{b} [*{a},*{a}]\n" for a, b in zip("abcd", "bcde", strict=True)),
        "".join(f"k{n}: value {n}\n" for n in range(50_000)),
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
