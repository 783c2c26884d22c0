import pytest

from kebab.parse.html import find_heading_classes, find_target


@pytest.mark.parametrize(
    ("attributes", "target"),
    [
        ('href="notes/a.html"', "notes/a.html"),
        ('class="x" href="../b.html#part"', "../b.html"),
        ('href="a%20b.md?plain=1"', "a b.md"),
        ('href="a&amp;b.md"', "a&b.md"),
        ('href="#part"', ""),
        ('href="https://example.com/a"', ""),
        ('href="//example.com/a"', ""),
        ('href="mailto:a@example.com"', ""),
        ('id="x"', ""),
        ('data-href="a.md"', ""),
    ],
)
def test_links_to_files_are_found(attributes, target):
    assert find_target(f"a {attributes}") == target


def test_outline_styles_of_hangul_are_headings():
    styles = (
        'P.HStyle0, LI.HStyle0\n\t{style-name:"바탕글"; margin-top:0}\n'
        'P.HStyle2, LI.HStyle2\n\t{style-name:"개요 1"; margin-top:0}\n'
        'P.HStyle3\n\t{style-name:"개요 2";}\n'
    )

    assert find_heading_classes(styles) == {"HStyle2": 1, "HStyle3": 2}
