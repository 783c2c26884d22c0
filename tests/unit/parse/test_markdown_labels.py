import pytest

from kebab.parse.markdown import find_blocks


@pytest.mark.parametrize(
    ("source", "label"),
    [
        ("plain", "plain"),
        ("*em* **strong** `code`", "em strong code"),
        ("a [link](http://x) b", "a link b"),
        ("![alt](x.png) text", "alt text"),
        ("R&amp;D &copy;", "R&D \u00a9"),
        ("snake_case_name 2 * 3", "snake_case_name 2 * 3"),
        (r"\*escaped\*", "*escaped*"),
        ("<b>bold</b>", "bold"),
        ("Title {#anchor}", "Title"),
        ('{{% heading "whatsnext" %}}', "whatsnext"),
        ("[[page]] and [[page|shown]]", "page and shown"),
        ("[known] and [unknown]", "known and [unknown]"),
        ("trailing ##", "trailing"),
        ("", ""),
    ],
)
def test_a_label_is_what_a_reader_sees(source, label):
    first = next(find_blocks(f"# {source}\n\n[known]: http://x\n"))
    assert first.label == label


@pytest.mark.timeout(10)
def test_a_hostile_heading_is_read_in_time():
    first = next(find_blocks("# " + "[" * 50_000))
    assert set(first.label) == {"["}
