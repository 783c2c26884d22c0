import pytest
import yaml

from kebab.parse.front_matter import read_block
from tests.shape.libraries import list_own_exceptions


def read_top_level(inner):
    return read_block(f"---\n{inner}\n---\n")


def test_scalars_are_strings_in_lists_and_mappings_too():
    text = "a: 1\nb: [x, [y], {z: 1}, 2]\nc: {d: e}\nf: yes\n? [k]\n: v\n"
    assert read_top_level(text).fields == {
        "a": "1",
        "b": ["x", ["y"], {"z": "1"}, "2"],
        "c": {"d": "e"},
        "f": "yes",
    }


def test_only_a_few_levels_are_built():
    deep = read_top_level("a: " + "[" * 20 + "1" + "]" * 20).fields["a"]
    assert str(deep) == "[" * 8 + "]" * 8


def test_the_last_of_equal_keys_counts():
    assert read_top_level("a: 1\na: 2").fields == {"a": "2"}


@pytest.mark.parametrize("text", ["- a", "text", "# only a comment"])
def test_what_is_no_mapping_is_named(text):
    assert read_top_level(text)[2:] == (None, "is not a mapping")


@pytest.mark.parametrize(("text", "line"), [("a: b: c", 2), ("a: 1\nb: [", 4), ("a: 1\n\tb: 2", 3)])
def test_damage_is_located(text, line):
    assert read_top_level(text).fault == f"is not valid YAML at line {line}"


def test_unreasonable_depth_is_damage():
    # libyaml has a limit of its own from 0.2.6 on, and then names the line.
    assert read_top_level("a: " + "[" * 5_000 + "]" * 5_000).fault.startswith("is not valid YAML")


def test_every_exception_of_the_library_is_one_that_is_caught():
    raised = list_own_exceptions("yaml")

    assert yaml.reader.ReaderError in raised
    assert all(issubclass(kind, yaml.YAMLError) for kind in raised)
