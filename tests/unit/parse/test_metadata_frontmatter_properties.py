import pytest

from kebab.parse.metadata import read_properties


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


@pytest.mark.timeout(10)
def test_a_long_head_is_read_in_time():
    assert len(read_properties("".join(f"k{n}:: v\n" for n in range(100_000)))) == 100
    assert read_properties("a" * 1_000_000 + "::") == {}
