import pytest

from kebab.app.fetch_references import fit_budget, share_budget
from kebab.text.model_input import estimate_tokens
from kebab.wire.library import FetchResult
from tests.fakes import replies

LINES = "\n".join(f"line {number} of the garden" for number in range(1, 41))
LONG = replies.fetch_result(text=LINES, start_line=1, end_line=40)


def cut(result, tokens, name="a.md"):
    (found,) = fit_budget([result], [name], tokens)
    assert isinstance(found, FetchResult)
    return found


def test_a_budget_that_suffices_cuts_nothing():
    assert fit_budget([LONG], ["a.md"], 10_000) == [LONG]


def test_text_is_cut_between_lines_and_the_rest_has_a_reference():
    found = cut(LONG, 60, "my note.md")

    assert LINES.startswith(found.text + "\n")
    assert found.text.count("\n") + 1 == found.end_line < 40
    assert estimate_tokens(found.text) <= 60
    assert (found.truncated, found.rest) == (True, f"my%20note.md#L{found.end_line + 1}-L40")


def test_a_first_line_over_the_budget_is_cut_inside():
    found = cut(replies.fetch_result(text="word " * 900, start_line=5), 20)

    assert 0 < len(found.text) < 200
    assert estimate_tokens(found.text) <= 20
    assert (found.truncated, found.end_line) == (True, 5)


def test_indexed_text_has_no_rest():
    lost = replies.fetch_result(text=LINES, start_line=1, end_line=40, is_indexed_text=True)

    assert cut(lost, 60).rest is None


def test_replies_without_text_take_no_share():
    missing = replies.not_found()
    found = fit_budget([missing, LONG], ["", "a.md"], 60)

    assert found == [missing, *fit_budget([LONG], ["a.md"], 60)]


@pytest.mark.parametrize(
    ("sizes", "total", "shares"),
    [
        ([10, 10], 40, [10, 10]),
        ([50, 50], 40, [20, 20]),
        ([100, 5, 100], 45, [20, 5, 20]),
        ([], 5, []),
    ],
)
def test_what_short_texts_leave_is_given_to_longer_ones(sizes, total, shares):
    assert share_budget(sizes, total) == shares
