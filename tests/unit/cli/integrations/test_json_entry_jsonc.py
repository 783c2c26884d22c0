import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.cli.integrations.clients import EntryError
from kebab.cli.integrations.json_entry import parse_jsonc

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


def parse(text):
    return parse_jsonc(text)


@given(VALUES, st.sampled_from([None, 2, "\t"]), st.booleans())
def test_json_is_read_as_the_standard_library_reads_it(value, indent, is_ascii):
    text = json.dumps(value, indent=indent, ensure_ascii=is_ascii)

    assert parse(text).value == json.loads(text)


def test_comments_and_trailing_commas_are_skipped():
    text = '// a\n{ /* b\n*/ "x": [1, // c "quoted\n 2,], "y//": "/* text */", /**/ }\n//'

    assert parse(text).value == {"x": [1, 2], "y//": "/* text */"}


def test_values_know_their_place():
    text = '{ "a" : [1] , "b":{"c" : 2}}'
    root = parse(text)
    first, second = root.members

    assert text[first.start : first.end] == '"a" : [1] ,'
    assert text[first.node.start : first.node.end] == "[1]"
    assert text[second.start : second.end] == '"b":{"c" : 2}'
    assert (root.start, root.end) == (0, len(text))


@pytest.mark.parametrize("text", ["", " \r\n\t", "// nothing", "/* nothing */\n"])
def test_a_text_without_a_value_has_no_root(text):
    assert parse_jsonc(text) is None


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ('{"a" 1}', "line 1, column 6: expected a key and `:`"),
        ('{"a": 1\n "b": 2}', "line 2, column 2: expected `,` or `}`"),
        ("[1 2]", "line 1, column 4: expected `,` or `]`"),
        ("{", "line 1, column 2: expected a value"),
        ("[", "line 1, column 2: expected a value"),
        ("[,]", "line 1, column 2: expected a value"),
        ("{,}", "line 1, column 2: expected a value"),
        ("{1: 2}", "line 1, column 3: expected a key and `:`"),
        ('{"a": }', "line 1, column 7: expected a value"),
        ("{} {}", "line 1, column 4: expected the end of the file"),
        ("{'a': 1}", "line 1, column 2: expected a value or a comment"),
        ('{"a": NaN}', "line 1, column 7: expected a value or a comment"),
        ('{"a": "b\n"}', "line 1, column 7: expected a value or a comment"),
        ('{"a": "\\x"}', "line 1, column 7: expected a value"),
        ("/* open", "line 1, column 1: expected a value or a comment"),
        ("0" * 5000, "line 1, column 2: expected the end of the file"),
        ("1" * 5000, "line 1, column 1: expected a value"),
        ("[" * 1000, "values are nested in more than 200 levels"),
    ],
)
def test_anything_else_is_refused_with_its_place(text, cause):
    with pytest.raises(EntryError) as refused:
        parse_jsonc(text)

    assert str(refused.value) == cause
