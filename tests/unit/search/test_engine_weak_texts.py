"""With the detail `best` a page has the texts of the hits that may answer."""

import pytest

from kebab.core.ids import DocId
from kebab.core.queries import Hit
from kebab.search.engine import drop_weak_texts
from tests.fakes import evidence


def build_page(scores: str) -> list[Hit]:
    """Return hits of different documents, `s` strong and `w` weak."""
    return [
        evidence.hit(evidence.stored(f"Text {number}.", number), number, 0.9 if one == "s" else 0.1)
        for number, one in enumerate(scores, 1)
    ]


@pytest.mark.parametrize(
    ("scores", "with_text"),
    [
        ("ssss", "1111"),
        ("swwww", "11100"),
        ("sswww", "11110"),
        ("sssww", "11100"),
        ("wwww", "1110"),
    ],
)
def test_where_few_hits_are_better_than_weak_the_first_weak_ones_have_text(scores, with_text):
    shown = drop_weak_texts(build_page(scores))

    assert "".join(str(int(bool(hit.snippet.text))) for hit in shown) == with_text


def test_the_first_hit_of_each_query_and_what_continues_a_better_one_have_text():
    *better, first, beside, other = build_page("ssswww")
    first = first._replace(queries=(1,))
    same = better[0].chunk
    beside = beside._replace(
        chunk=beside.chunk._replace(doc_id=same.doc_id, ordinal=same.ordinal + 1)
    )
    other = other._replace(chunk=other.chunk._replace(doc_id=DocId("f" * 32)))

    shown = drop_weak_texts([*better, first, beside, other])

    assert [bool(hit.snippet.text) for hit in shown] == [True] * 5 + [False]
