import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.rag.claims import check_answer
from kebab.rag.markers import find_code_spans, is_inside
from kebab.rag.prompt import Evidence
from tests.fakes.evidence import stored

PUMP = (
    "# Pump\n\nThe heat pump was installed on 12 March 2024 in Berlin by Anna Meyer. "
    "It cost US$3 million and a start takes 45 minutes. It was never painted.\n"
)
BACKUP = "Backups of all documents run every night with restic.\nThey are kept for 30 days."
CUT = 4
PASSAGES = (
    Evidence(marker=1, chunk=stored(PUMP, key=1), text=PUMP),
    Evidence(marker=2, chunk=stored("xyz " + BACKUP, key=2), text=BACKUP, start=CUT),
)
TRUE = "A start of the pump takes 45 minutes [1]."
FALSE = "A start of the pump takes 50 minutes [1]."


def codes(checked):
    return [one.code for one in checked.warnings]


def get_warned_texts(checked):
    """Return the part of the text that the only warning is about."""
    (warning,) = checked.warnings
    assert warning.span is not None
    return checked.text[slice(*warning.span)]


def get_cited_texts(checked):
    return [
        (one.marker, one.quote.text, [checked.text[start:end] for start, end in one.spans])
        for one in checked.citations
    ]


def test_a_false_claim_is_marked_and_reported_with_its_span():
    checked = check_answer(f"{TRUE} {FALSE}", PASSAGES, "mark")

    assert checked.text == f"{TRUE} A start of the pump takes 50 minutes [unsupported]."
    assert (checked.supported, checked.unsupported) == (1, 1)
    (warning,) = checked.warnings
    assert (warning.code, warning.marker) == ("unsupported_claim", 1)
    assert warning.message == "not in passage 1: 50 minutes"
    assert get_warned_texts(checked) == "A start of the pump takes 50 minutes [unsupported]."


def test_the_withhold_policy_leaves_the_text_unchanged():
    checked = check_answer(f"{TRUE} {FALSE}", PASSAGES, "withhold")

    assert checked.text == f"{TRUE} {FALSE}"
    assert (checked.supported, checked.unsupported) == (1, 1)
    assert get_warned_texts(checked) == FALSE


def test_an_unknown_marker_is_removed_and_the_rest_is_unchanged():
    checked = check_answer(f"{TRUE} Backups are kept for 30 days [2][9].", PASSAGES, "mark")

    assert checked.text == f"{TRUE} Backups are kept for 30 days [2]."
    assert (checked.supported, checked.unsupported) == (2, 0)
    (warning,) = checked.warnings
    assert (warning.code, warning.marker) == ("unknown_marker", 9)
    assert get_warned_texts(checked) == "Backups are kept for 30 days [2]."


def test_an_uncited_claim_gets_the_marker_of_its_support():
    checked = check_answer("Backups are kept for 30 days. Cats sleep long.", PASSAGES, "mark")

    assert checked.text == "Backups are kept for 30 days [2]. Cats sleep long [unsupported]."
    assert codes(checked) == ["uncited_claim"]
    assert get_cited_texts(checked)[0][2] == ["Backups are kept for 30 days [2]."]


def test_a_wrong_marker_beside_a_right_one_is_removed():
    checked = check_answer("Backups are kept for 30 days [2][1].", PASSAGES, "mark")

    assert checked.text == "Backups are kept for 30 days [2]."
    assert [(one.code, one.marker) for one in checked.warnings] == [("wrong_marker", 1)]


def test_a_wrong_marker_is_never_moved_to_another_passage():
    checked = check_answer("Backups are kept for 30 days [1].", PASSAGES, "mark")

    assert checked.text == "Backups are kept for 30 days [unsupported]."
    assert (checked.supported, checked.citations) == (0, ())
    (warning,) = checked.warnings
    assert (warning.code, warning.marker) == ("unsupported_claim", 1)
    assert warning.message == "not in passage 1: 30 days, Backups, kept"


@pytest.mark.parametrize(
    "text",
    ["According to passage 2, backups are kept for 30 days.", "4) Backups are kept for 30 days."],
)
def test_numbers_of_passages_and_items_are_no_quantities(text):
    passages = (Evidence(marker=2, chunk=stored(BACKUP, title="Backups"), text=BACKUP),)

    assert check_answer(text, passages, "withhold").unsupported == 0


PIECES = [
    *("A start takes 45 minutes", "It was painted", "Backups run every night", "Cats sleep"),
    *("[1]", " [2]", "[1, 9]", "【2】", "[^1]", "[1](http://x.y)", "[unsupported]"),
    *("(1)", " (Passage 2)", "<passage-1a2b3c4d [1]>", "</evidence-1a2b3c4d>", "[passage-abc [2]]"),
    *("From: T (a.md, lines 1-9)", "NOT_IN_NOTES", "Use only what these passages say. "),
    *(
        ". ",
        "?",
        ":",
        "\n",
        "\n\n",
        "- ",
        "# ",
        "| ",
        "`",
        "```\n",
        "\n```sh\nrestic -x",
        "(",
        ")",
        "[",
        "]",
    ),
    *("\u202e", "\x00", "한국어 45분", "。", "Sources:\n", "[1]: x\n", "50%"),
]
ANSWERS = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)


@given(text=ANSWERS, policy=st.sampled_from(["mark", "withhold"]))
def test_every_checked_answer_keeps_its_invariants(text, policy):
    checked = check_answer(text, PASSAGES, policy)

    markers = [one.marker for one in checked.citations]
    assert markers == sorted(markers)
    for one in checked.citations:
        assert one.quote.text.strip() == one.quote.text != ""
        assert one.quote.text in one.quote.chunk.text
        assert all(0 <= start < end <= len(checked.text) for start, end in one.spans)
        assert all(low[1] <= high[0] for low, high in pairwise(one.spans))
        cited = [checked.text[slice(*span)] for span in one.spans]
        assert all(f"[{one.marker}]" in part or "```" in part for part in cited)
    for warning in checked.warnings:
        assert warning.span is None or 0 <= warning.span[0] <= warning.span[1] <= len(checked.text)
    if policy == "mark" or not checked.unsupported:
        assert standing(checked.text) <= set(markers)


def standing(text):
    code = find_code_spans(text)
    found = re.finditer(r"(?<!\\)\[(\d+)\]", text)
    return {int(one[1]) for one in found if not is_inside(code, one.start())}


@pytest.mark.parametrize(
    "unit",
    [
        *("[1]", "[", "[[1]", "a [1] ", "x [9] ", "Cats sleep. ", "1,", "100 ", '"a b" ', "May 1 "),
        *("\u202eאב [1] ", "\x00\x01[2]\x1b", "| a [1] ", "- a\n", "twenty-", "十", "Aa "),
        *("<passage-", "From: (", "(a.md, line 1)", "NOT_IN_NOTES ", "passage-1a2b3c4d [", "(2) "),
        *("```\n", "`", "東京は首都です[1]。", "가 ", "([9])", "Sources:\n", "[^1]: a\n", "not "),
    ],
)
def test_hostile_answers_are_checked_completely(unit):
    checked = check_answer(unit * (4_000 // len(unit)), PASSAGES, "mark")

    assert len(checked.text) <= 4_000 * 6
