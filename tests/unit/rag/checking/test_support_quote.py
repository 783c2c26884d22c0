import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.core.answers import Evidence
from kebab.rag.checking.support import IndexedEvidence, parse_claim, select_quote
from tests.fakes.evidence import stored

TEXT = (
    "# Pump\n\nThe heat pump stands in the cellar. It was installed on 12 March 2024 by Anna Meyer."
    "\nIt is loud.\n\n- A start takes 45 minutes.\n"
)


def get_quote(claim, text=TEXT, start=0, end=None):
    chunk = stored(text)
    passage = Evidence(marker=1, chunk=chunk, text=text[start:end], start=start)
    return select_quote(parse_claim(claim), IndexedEvidence(passage))


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("A start of the pump takes 45 minutes.", "A start takes 45 minutes."),
        ("Anna Meyer installed it.", "It was installed on 12 March 2024 by Anna Meyer."),
        ("It is loud.", "It is loud."),
        (
            "The heat pump in the cellar was installed on March 12, 2024 by Anna Meyer.",
            "The heat pump stands in the cellar. It was installed on 12 March 2024 by Anna Meyer.",
        ),
        ("Nothing of this is there.", "Pump"),
    ],
)
def test_the_sentences_with_most_of_the_claim_are_quoted(claim, expected):
    assert get_quote(claim).text == expected


def test_a_quote_of_a_cut_passage_has_its_position_in_the_chunk():
    start = TEXT.index("It was")

    found = get_quote("Anna Meyer installed it.", start=start, end=start + 48)

    assert found.text == "It was installed on 12 March 2024 by Anna Meyer."
    assert (found.start, found.lines) == (start, (3, 3))


def test_two_sentences_are_not_quoted_when_they_are_long():
    long = "The pump stands " + "in a very old cellar " * 18 + "there. "
    text = long + "Anna Meyer installed " + "in a very old cellar " * 18 + "it."

    assert get_quote("Anna Meyer installed the pump that stands there.", text).end <= len(text)
    assert len(get_quote("Anna Meyer installed the pump that stands there.", text).text) < 600


@given(claim=st.text(max_size=60), text=st.text(min_size=1, max_size=200), cut=st.integers(0, 50))
def test_a_quote_is_verbatim_trimmed_and_within_its_passage(claim, text, cut):
    cut = min(cut, len(text) - 1)

    found = get_quote(claim, text, start=cut)

    assert cut <= found.start <= found.end <= len(text)
    assert found.text == found.text.strip()
    assert found.text or not text[cut:].strip()
