import pytest

from kebab.parse.rst import to_plain_label, to_signature_label


@pytest.mark.parametrize(
    ("source", "label"),
    [
        ("A title", "A title"),
        ("The ``*args`` option", "The *args option"),
        ("*One* and **two**", "One and two"),
        (":func:`~os.path.join` explained", "join explained"),
        (":doc:`The guide <guide/intro>`", "The guide"),
        ("`A link <https://example.org>`_", "A link"),
        ("`A link`__", "A link"),
        ("|version| of it", "version of it"),
        ("Footnote [1]_", "Footnote"),
        ("A reference_ in it", "A reference in it"),
        ("snake_case stays", "snake_case stays"),
        (r"Escaped \*stars\*", "Escaped *stars*"),
        ("2 * 3 * 4", "2 * 3 * 4"),
        ("", ""),
    ],
)
def test_a_label_is_what_a_reader_sees(source, label):
    assert to_plain_label(source) == label


@pytest.mark.parametrize(
    ("signature", "label"),
    [
        ("open(file, mode='r')", "open"),
        ("Loaf.cool", "Loaf.cool"),
        ("-o FILE, --output FILE", "-o FILE, --output FILE"),
        ("int main(void)", "int main"),
        ("(x)", "(x)"),
    ],
)
def test_a_signature_is_shown_by_its_name(signature, label):
    assert to_signature_label(signature) == label
