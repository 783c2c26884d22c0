import json
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kebab.cli.integrations.clients import EntryError
from kebab.cli.integrations.json_entry import parse_jsonc, read_values, remove_entry, set_entry

PLACE = ("servers", "kebab")
ENTRY = {"type": "stdio", "command": "/usr/bin/kebab", "args": ["mcp", "--data-dir", "/한글"]}
OLD = {"type": "stdio", "command": "/old/kebab", "args": ["mcp"]}
STRINGS_AND_COMMENTS = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\r\n]*|/\*.*?\*/', re.DOTALL)

GAPS = st.sampled_from(["", " ", "\n", "\n  ", "\r\n\t", " /* é */ ", " // x\n", "\n// y\n    "])
TRAILING = st.sampled_from(["", ","])
KEYS = st.sampled_from(["servers", "a", "b", "other", "kebab-2"])
SCALARS = st.sampled_from(["1", "-2.50e3", "true", "null", '"x"', '"\\u00e9 // no comment"', '""'])


def remove(text):
    return remove_entry(text, PLACE)


@st.composite
def objects(draw, inner, keys=KEYS):
    """An object with comments and blanks wherever they may stand."""
    names = draw(st.lists(keys, unique=True, max_size=3))
    parts = ["{"]
    for place, name in enumerate(names):
        last = place == len(names) - 1
        comma = draw(TRAILING) if last else ","
        parts += [draw(GAPS), f'"{name}"', draw(GAPS), ":", draw(GAPS)]
        parts += [draw(inner), draw(GAPS), comma]
    return "".join([*parts, draw(GAPS), "}"])


@st.composite
def arrays(draw, inner):
    values = draw(st.lists(inner, max_size=2))
    gap = draw(GAPS)
    return "[" + f"{gap},".join(values) + (draw(TRAILING) if values else "") + draw(GAPS) + "]"


ANY = st.recursive(SCALARS, lambda inner: objects(inner) | arrays(inner), max_leaves=6)


@st.composite
def documents(draw):
    """A document; what is called `servers` at its top is an object."""
    text = draw(objects(ANY, st.sampled_from(["a", "b", "c"])))
    servers = draw(st.none() | objects(objects(ANY), st.sampled_from(["other", "kebab-2"])))
    if servers is not None:
        member = f'"servers"{draw(GAPS)}:{draw(GAPS)}{servers}'
        more = "," if read_values(text) else draw(TRAILING)
        text = f"{{{draw(GAPS)}{member}{draw(GAPS)}{more}{text[1:]}"
    return draw(GAPS) + text + draw(GAPS)


def list_comments(text):
    return [found for found in STRINGS_AND_COMMENTS.findall(text) if found.startswith("/")]


def without_entry(text):
    values = read_values(text)
    values.get("servers", {}).pop("kebab", None)
    return {key: value for key, value in values.items() if key != "servers" or value}


@given(documents())
def test_everything_but_the_entry_stays(text):
    done = set_entry(text, PLACE, ENTRY)

    assert read_values(done)["servers"]["kebab"] == ENTRY
    assert without_entry(done) == without_entry(text)
    assert list_comments(done) == list_comments(text)
    assert set_entry(done, PLACE, ENTRY) == done


@given(documents())
@example("{}")
@example("{}\n")
@example("{ }")
@example("{\n}\n")
@example('{"servers": {}}')
@example('{"servers": { }}')
@example('{\n  "servers": {\n  }\n}\n')
@example('{\n  "a": 1,\n  "servers": {}\n}\n')
@example('{\n"a":1}')
@example('{"servers":{/* none */}}')
@example('{ // x\n"servers" :{\n} } ')
@example('\n// only a comment\n{"a": 1 // own\n}')
def test_removal_restores_the_original_text(text):
    assert remove(set_entry(text, PLACE, ENTRY)) == text


@pytest.mark.parametrize("text", [None, "", "\n", "\r\n", "// c", "// c\n", "/* c */", "// c\r\n"])
def test_a_file_without_values_is_restored_too(text):
    done = set_entry(text, PLACE, ENTRY)

    assert read_values(done) == {"servers": {"kebab": ENTRY}}
    assert remove(done) == text


@given(documents())
def test_a_changed_entry_changes_in_place(text):
    before, after = set_entry(text, PLACE, OLD), set_entry(text, PLACE, ENTRY)

    assert set_entry(before, PLACE, ENTRY) == after


@given(documents())
def test_what_is_not_there_is_not_removed(text):
    assert remove(text) == text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            '{\n\t"servers": {\n\t\t"a": {}\n\t}\n}\n',
            (
                '{\n\t"servers": {\n\t\t"a": {},\n\t\t"kebab": {\n'
                '\t\t\t"command": "k"\n\t\t}\n\t}\n}\n'
            ),
        ),
        (
            '{\r\n    "servers": {\r\n        "a": {}, // mine\r\n    },\r\n}',
            (
                '{\r\n    "servers": {\r\n        "a": {}, // mine\r\n        "kebab": {\r\n'
                '            "command": "k"\r\n        },\r\n    },\r\n}'
            ),
        ),
        ('{"a":1}', '{"a":1, "servers": {"kebab": {"command": "k"}}}'),
        (
            '{\n "a": 1\n}',
            '{\n "a": 1,\n "servers": {\n  "kebab": {\n   "command": "k"\n  }\n }\n}',
        ),
        (
            "{}",
            (
                '{\n    "servers": {\n        "kebab": {\n            "command": "k"\n        }\n'
                "    }\n}"
            ),
        ),
    ],
)
def test_the_form_of_the_file_is_kept(before, after):
    assert set_entry(before, PLACE, {"command": "k"}) == after


def test_own_members_and_comments_of_an_entry_stay():
    text = (
        '{"servers": {\n  // the notes\n  "kebab": {\n    "command": "/old", // here\n'
        '    "env": {"A": "b"},\n    "disabled": true\n  } // end\n}}'
    )
    done = set_entry(text, PLACE, ENTRY)

    assert read_values(done)["servers"]["kebab"] == {
        **ENTRY,
        "env": {"A": "b"},
        "disabled": True,
    }
    assert list_comments(done) == ["// the notes", "// here", "// end"]
    removed = remove(done)
    assert read_values(removed) == {"servers": {}}
    assert list_comments(removed) == ["// the notes", "// end"]


@pytest.mark.parametrize("found", ["null", "[]", '{"url": "http://127.0.0.1/mcp", "headers": {}}'])
def test_an_entry_of_another_kind_is_replaced_as_a_whole(found):
    done = set_entry(f'{{\n  "servers": {{\n    "kebab": {found}\n  }}\n}}', PLACE, ENTRY)

    assert read_values(done) == {"servers": {"kebab": ENTRY}}


def test_a_neighbour_added_later_stays():
    done = set_entry(None, PLACE, ENTRY)
    text = done.replace('"kebab": {', '"first": {},\n    "kebab": {')

    assert read_values(remove(text)) == {"servers": {"first": {}}}


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("[]", "`servers` is expected in an object, and there is another value"),
        ('{"servers": []}', "`kebab` is expected in an object, and there is another value"),
        ('{"servers": {}, "servers": {}}', "`servers` occurs twice"),
        ('{"servers": {"kebab": {}, "kebab": {}}}', "`kebab` occurs twice"),
        ('{"servers": {}', "line 1, column 15: expected `,` or `}`"),
    ],
)
@pytest.mark.parametrize("change", [lambda text: set_entry(text, PLACE, ENTRY), remove])
def test_a_file_without_a_place_for_the_entry_is_refused(change, text, cause):
    with pytest.raises(EntryError) as refused:
        change(text)

    assert str(refused.value) == cause


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
