import pytest

from kebab.parse.markdown import read_body


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
        ("[[1]](http://x) source", "1 source"),
        ("[known] and [unknown]", "known and [unknown]"),
        ("trailing ##", "trailing"),
        ("", ""),
    ],
)
def test_a_label_is_what_a_reader_sees(source, label):
    first = read_body(f"# {source}\n\n[known]: http://x\n").spans[0]
    assert first.label == label


@pytest.mark.timeout(10)
def test_a_hostile_heading_is_read_in_time():
    first = read_body("# " + "[" * 50_000).spans[0]
    assert set(first.label) == {"["}


@pytest.mark.timeout(5)
def test_an_unclosed_shortcode_takes_linear_time():
    first = read_body("# {{%" + " " * 900 + "x").spans[0]
    assert first.label == "{{% x"
