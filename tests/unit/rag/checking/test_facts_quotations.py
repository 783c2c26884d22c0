import pytest

from kebab.rag.checking.facts import find_quotations, is_verbatim
from kebab.text.normalize import fold_text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('He said "go now", then left.', ["go now"]),
        ("He said “go now.”", ["go now"]),
        ("彼は「行け」と言った", ["行け"]),
        ("«va vite» „so“", ["so", "va vite"]),
        ('"first […] last part"', ["first", "last part"]),
        ('A 5" pipe and a 6" pipe', []),
        ('"..." and "!"', []),
        ("it's and that's", []),
    ],
)
def test_text_between_quotation_marks_is_a_quotation(text, expected):
    assert sorted(find_quotations(text)) == sorted(expected)


@pytest.mark.parametrize(
    ("quotation", "expected"),
    [("Go  NOW", True), ("go now,", True), ("go never", False), ("it’s late", True)],
)
def test_white_space_case_and_end_marks_do_not_matter(quotation, expected):
    assert is_verbatim(quotation, fold_text("You should go\nnow, it's late.")) is expected
