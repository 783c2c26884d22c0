from types import SimpleNamespace
from typing import Any

import pytest

from kebab.core.chunks import DocNumber, Key
from kebab.core.queries import Filters, Mode
from kebab.search.lexical import WeightedTerms
from kebab.search.query_parser import parse_query
from kebab.search.reordering import CODE
from kebab.search.retrieval import ChannelResults, RankedCandidates, merge_documents


def _merge(query="How do I rotate the keys?", *, documents=100, passages=4, held=1.0, **given):
    """Return the new order; document n has the keys 10n, 10n + 1, ..., and both channels put the
    first document last."""
    order = [Key(10 * one + at) for one in range(documents) for at in range(passages)]
    found = ChannelResults([(key, held) for key in order[passages:] + order[:passages]])
    values: dict[str, Any] = {
        "ranked": [(key, -float(key)) for key in order],
        "method": Mode.HYBRID,
        "parsed": parse_query(query, Filters()),
        "weighted": WeightedTerms(terms=(), weights={}, max_score=1.0, rarities={}),
        "lexical": found,
        "vector": found,
    }
    cache: Any = SimpleNamespace(
        find_doc_numbers=lambda keys: {key: DocNumber(key // 10) for key in keys}
    )
    merged = merge_documents(RankedCandidates(**{**values, **given}), cache)
    assert [score for _, score in merged.ranked] == [score for _, score in values["ranked"]]
    return [key for key, _ in merged.ranked]


def test_the_document_that_both_channels_put_first_comes_first_and_further_passages_stay():
    assert _merge()[:8] == [10, 1, 2, 3, 20, 11, 12, 13]


@pytest.mark.parametrize(
    "given",
    [
        {"documents": 60},
        {"passages": 1},
        {"query": "server keys"},
        {"held": 0.1},
        {"vector": ChannelResults()},
        {"boosts": {CODE: {Key(0): 0.1}}},
    ],
)
def test_few_or_short_documents_topics_code_and_weak_words_keep_their_order(given):
    assert _merge(**given)[:2] == ([0, 10] if "passages" in given else [0, 1])
