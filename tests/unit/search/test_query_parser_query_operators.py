import pytest

from kebab.core.queries import Filters
from kebab.search.query_parser import read_operators

NONE = Filters()


def test_the_text_is_returned_with_and_without_the_words_of_phrases():
    found = read_operators('about "oil embargo" title:x -nixon tag:ops 1973', NONE, prose=False)

    assert found.plain == "about oil embargo x 1973"
    assert found.unquoted == "about 1973"
    assert found.filters == Filters(tag=("ops",))


@pytest.mark.parametrize(("text", "shown"), [('"oil"', "oil"), ("heading:oil", "headings:oil")])
def test_a_phrase_is_shown_with_its_column(text, shown):
    [phrase] = read_operators(text, NONE, prose=False).required

    assert phrase.format() == shown


def test_a_phrase_without_words_is_plain_text():
    found = read_operators('"--" oil', NONE, prose=False)

    assert (found.required, found.unquoted) == ((), "-- oil")
