import time

import pytest

from kebab.parse.data import (
    find_number_runs,
    merge_dropped,
    scan_json,
    scan_sections,
    scan_yaml,
    shorten_label,
)

LONG = "".join(f'    "k{number}": 1,\n' for number in range(6))


def list_json(text):
    return [(region.label, region.first, region.last) for region in scan_json(text).regions]


def list_yaml(text):
    return [(one.label, one.first, one.head, one.last) for one in scan_yaml(text.split("\n"))]


def test_a_key_has_the_lines_of_its_value():
    assert list_json('{\n  "a": {\n' + LONG + "  }\n}") == [("a", 1, 9)]


def test_text_in_strings_is_no_structure():
    assert list_json('{\n"a": ["\\"{[", "}"\n' + ', "b"\n' * 6 + "]\n}") == [("a", 1, 9)]


def test_comments_of_lines_are_no_structure():
    assert list_json('{ // {"x": [\n "a": {\n' + LONG + "}\n}") == [("a", 1, 9)]


@pytest.mark.parametrize("text", ["{", "]", "[}", '{"a": [}]'])
def test_brackets_that_do_not_match_are_noticed(text):
    assert not scan_json(text).is_balanced


def test_keys_are_found_to_a_depth():
    text = "".join(f'{{"k{depth}":\n' for depth in range(9)) + "1" + "}\n" * 9
    assert [label for label, _, _ in list_json(text)] == ["k0", "k1", "k2", "k3"]


def test_keys_of_yaml_end_where_the_indent_does():
    text = "a:\n  b:\n" + "    - 1\n" * 6 + "  c: 1\nd: 2\n"
    assert list_yaml(text) == [("a", 0, 1, 9), ("b", 1, 2, 8)]


def test_items_may_stand_below_their_key():
    assert list_yaml("a:\n" + "- 1\n" * 6 + "b: 2\n") == [("a", 0, 1, 7)]


def test_block_scalars_have_no_keys():
    text = "a: |\n  b:\n" + "    c: 1\n" * 6 + "d: 1\n"
    assert list_yaml(text) == [("a", 0, 1, 8)]


def test_comments_above_a_key_belong_to_it():
    text = "x: 1\n# Why.\na:\n" + "  b: 1\n" * 6 + "# Next.\nc: 1\n"
    assert list_yaml(text) == [("a", 1, 3, 9)]


def test_quoted_keys_lose_their_quotes():
    assert list_yaml('"a b":\n' + "  c: 1\n" * 6)[0][0] == "a b"


def test_one_document_has_no_name_of_its_own():
    assert list_yaml("kind: Pod\nmetadata:\n  name: x\n") == []


def test_sections_of_settings():
    lines = ["x = 1", "; about", "[a.b]", "y = 1", "[[c]] # d", 'z = """', "[no]", '"""']
    assert [tuple(region) for region in scan_sections(lines)] == [("a.b", 1, 3, 4), ("c", 4, 5, 8)]


def test_values_in_brackets_are_no_section():
    assert scan_sections(["a = [", "[1, 2]", "]"]) == []


def test_runs_of_numbers_are_long():
    lines = ["a", *["1.5,"] * 20, "b", *["2"] * 19]
    assert find_number_runs(lines) == [(1, 21)]


def test_ranges_are_merged():
    assert merge_dropped([(5, 7), (1, 3)], [(2, 4), (7, 9)]) == ((1, 4), (5, 9))


def test_a_label_is_one_short_line():
    assert shorten_label("a\n b") == "a b"
    assert len(shorten_label("x" * 200)) == 80


@pytest.mark.parametrize(
    "text", ["/* " * 300_000, '"a ' * 300_000, "[" * 300_000, '"' + "\\" * 10**6]
)
def test_hostile_json_takes_linear_time(text):
    started = time.process_time()
    scan_json(text)
    assert time.process_time() - started < 5


@pytest.mark.parametrize("line", ["[a" + " " * 10**6, "a" + " " * 10**6, ":" * 10**6, '"' * 10**6])
def test_hostile_lines_take_linear_time(line):
    started = time.process_time()
    scan_sections([line])
    scan_yaml([line])
    assert time.process_time() - started < 5
