import pytest

from kebab.parse.latex import read_argument, to_plain_label


@pytest.mark.parametrize(
    ("source", "label"),
    [
        ("Plain words", "Plain words"),
        (r"\textbf{Bold} and \emph{it}", "Bold and it"),
        (r"Caf\'e, na\"{\i}ve, stra\ss e, \AA ngstr\"om", "Café, naïve, straße, Ångström"),
        (r"50\% of \$5 \& more", "50% of $5 & more"),
        (r"The \LaTeX{} book~2", "The LaTeX book 2"),
        (r"Title\footnote{No.} here\\ below", "Title here below"),
        ("A $x^2$ b", "A x^2 b"),
        ("", ""),
    ],
)
def test_a_label_is_what_a_reader_sees(source, label):
    assert to_plain_label(source) == label


@pytest.mark.parametrize(
    ("source", "argument"),
    [
        ("{a{b}c} d", "a{b}c"),
        ("[short]{long}", "long"),
        (r"{a\}b}", r"a\}b"),
        ("{never closed\n\nnext", "never closed"),
        ("none", ""),
        ("", ""),
    ],
)
def test_arguments_are_read_up_to_their_brace(source, argument):
    assert read_argument(source, 0) == argument
