from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass, replace

import pytest

from kebab.core.chunks import NO_BACKGROUND, Key
from kebab.core.queries import Filters, Mode, Query
from kebab.errors.catalog import InvalidCursor
from kebab.search.answerability import Calibration
from kebab.search.engine import (
    MAX_COPIES,
    MergedRanking,
    QueryResult,
    decode_cursor,
    deduplicate_hits,
    encode_cursor,
)
from kebab.search.lexical import WeightedTerms
from kebab.search.query_parser import parse_query
from kebab.search.retrieval import ChannelResults, RankedCandidates
from kebab.wire.search import QueryParsed
from tests.fakes.embedder import no_model


def _paths(page):
    return [hit.chunk.path for hit in page.hits]


def _refuse():
    raise AssertionError("a lexical search needs no vectors and no model")


def test_a_lexical_search_touches_neither_vectors_nor_model(base):
    base.add("a.md", "oil embargo", embed=False)

    page = base.engine(vectors=_refuse, embedder=_refuse).search(
        Query(text="embargoes", mode=Mode.LEXICAL)
    )

    assert _paths(page) == ["a.md"]
    assert page.degraded == ()


def test_pending_chunks_and_a_missing_model_degrade_the_channel(base):
    base.add("a.md", "oil embargo", embed=False)

    waiting = base.engine(vectors=_Some).search(Query(text="oil"))
    missing = base.engine(embedder=no_model).search(Query(text="oil"))

    assert [one.hint for one in waiting.degraded] == ["kebab ingest"]
    assert waiting.degraded[0].reason == "0 % embedded"
    assert [one.hint for one in missing.degraded] == ["kebab model pull auto"]
    assert _paths(missing) == ["a.md"]


def test_a_filtered_search_finds_what_an_exhaustive_scan_would(base):
    for number in range(60):
        base.add(f"{number}.md", f"oil {number}", tags=["odd"] if number % 2 else [])

    for mode in Mode:
        page = base.engine().search(
            Query(text="oil", mode=mode, limit=100, filters=Filters(tag=("odd",)))
        )
        assert len(page.hits) == 30
        assert all(hit.chunk.tags == ("odd",) for hit in page.hits)


class _Some:
    """A vector index of other chunks."""

    def find_nearest(self, query, limit, allowed=None):
        return []

    def compute_cosines(self, query, keys):
        return {}

    def measure_background(self, query):
        return NO_BACKGROUND

    def count(self):
        return 1


def test_the_query_is_reported_as_it_was_read(base):
    base.add("a.md", "the oil embargo of 1973", tags=["ops"])

    found = base.engine().search(
        Query(text='the Embargoes, "oil embargo" title:a -zebra tag:ops', mode=Mode.LEXICAL)
    )

    assert found.query_parsed == QueryParsed(
        terms=["Embargoes"],
        phrases=["oil embargo", "title:a"],
        excluded=["zebra"],
        filters={"tag": ["ops"]},
    )


@pytest.mark.parametrize(
    ("least", "paths"),
    [("weak", ["a.md", "b.md"]), ("fair", ["a.md"]), ("strong", [])],
)
def test_hits_below_the_least_confidence_are_left_out(base, least, paths):
    base.add("a.md", "a text on the oil embargo and on other matters of trade in those years")
    base.add("b.md", "a very long text about many matters, where oil occurs once")
    for number in range(4):
        base.add(f"{number}.md", f"other matters {number}")
    query = Query(
        text="oil embargo trade sanctions", mode=Mode.LEXICAL, min_confidence=least, limit=5
    )

    page = base.engine().search(query)

    assert _paths(page) == paths
    assert page.convincing
    assert not page.has_more


QUERY = Query(text="oil")


def test_fields_that_do_not_affect_the_order_may_change():
    other = replace(QUERY, limit=50, offset=3, trace=True, detail="ids", snippet_chars=80)
    other = replace(other, max_tokens=900)
    assert decode_cursor(encode_cursor(QUERY, 20, 7, "s"), other, 7, "s") == 20


_BOUND = [("text", "gas"), ("mode", Mode.LEXICAL), ("per_doc", 1), ("filters", Filters(since=1.0))]
_BOUND += [("filters", Filters(tag=("a",))), ("detail", "best")]


@pytest.mark.parametrize(("name", "value"), _BOUND)
def test_a_cursor_for_another_query_is_refused(name, value):
    other = replace(QUERY, **{name: value})
    with pytest.raises(InvalidCursor, match="not issued for this query"):
        decode_cursor(encode_cursor(QUERY, 20, 7, "s"), other, 7, "s")


def test_a_changed_cursor_is_refused():
    raw = urlsafe_b64decode(encode_cursor(QUERY, 20, 7, "s") + "==")

    for place in range(len(raw)):
        changed = raw[:place] + bytes([raw[place] ^ 1]) + raw[place + 1 :]
        with pytest.raises(InvalidCursor):
            decode_cursor(urlsafe_b64encode(changed).decode().rstrip("="), QUERY, 7, "s")


@pytest.mark.parametrize(
    "junk", ["", "x", "é", "====", "a b", encode_cursor(QUERY, 1, 1, "s") + "A", "A" * 500]
)
def test_text_that_is_no_cursor_is_refused(junk):
    with pytest.raises(InvalidCursor):
        decode_cursor(junk, QUERY, 1, "s")


ONE, TWO = Key(1), Key(2)


def result(best=0.9, weights=None, **evidence):
    """Return the ranking of a query: chunks by falling evidence, named like `k7`."""
    ranked = [(Key(int(name[1:])), value) for name, value in evidence.items()]
    candidates = RankedCandidates(
        ranked=ranked,
        method=Mode.LEXICAL,
        parsed=parse_query("oil", Filters()),
        weighted=WeightedTerms(terms=(), weights=weights or {}, max_score=1.0, rarities={}),
        lexical=ChannelResults(ranked),
    )
    return QueryResult(candidates=candidates, calibration=Calibration(best, 1.0))


def test_queries_take_turns_with_their_convincing_chunks():
    one = result(best=0.95, k1=1.0, k2=0.99, k3=0.98, k4=0.1)
    other = result(best=0.5, k11=1.0, k12=0.95, k13=0.2)

    assert MergedRanking([other, one]).keys == [1, 11, 2, 12, 3, 13, 4]


def test_a_chunk_appears_once_with_all_queries_that_found_it():
    one, other = result(best=0.9, k1=1.0, k2=0.95), result(best=0.6, k2=1.0, k1=0.1)
    ranking = MergedRanking([one, other])

    assert ranking.keys == [1, 2]
    assert ranking.find_match(ONE).queries == (0,)
    assert ranking.find_match(TWO).queries == (0, 1)
    assert ranking.find_match(TWO).result is one
    assert ranking.find_match(TWO).evidence == 0.95


def test_several_queries_are_searched_together(base):
    base.add("a.md", "The oil embargo began in October.")
    base.add("b.md", "The garden needs water in summer.")
    base.add("c.md", "The garden of the oil embargo.")
    engine = base.engine()

    page = engine.search(Query(text="oil embargo", more=("water the garden",), detail="passages"))

    found = {hit.chunk.path: hit for hit in page.hits}
    assert len(found) == len(page.hits) == 3
    assert found["a.md"].queries == (0,)
    assert found["b.md"].queries == (1,)
    text, spans = found["c.md"].snippet
    assert {text[start:end] for start, end in spans} >= {"oil", "embargo"}
    assert [hit.rank for hit in page.hits] == [1, 2, 3]


def test_facts_about_several_queries_are_merged(base):
    base.add("a.md", "The oil embargo began in October.")

    page = base.engine().search(
        Query(
            text="zeppelin oil -garden",
            more=('"oil embargo" lang:en oil', "zeppelin lang:ko"),
            filters=Filters(path_glob="*.md"),
        )
    )

    assert page.query_parsed == QueryParsed(
        terms=["zeppelin", "oil"],
        phrases=["oil embargo"],
        excluded=["garden"],
        filters={"path_glob": "*.md", "lang": ["en", "ko"]},
    )
    assert page.absent_terms[0] == "zeppelin"
    assert len(page.absent_terms) == len(set(page.absent_terms))


TEXT = "The oil embargo of {} was long. " + "More is said about the matter of oil here. " * 20


@pytest.fixture
def engine(base):
    for number in range(12):
        base.add(f"{number}.md", TEXT.format(number))
    return base.engine()


def test_pages_agree_and_end(engine):
    whole = engine.search(Query(text="oil embargo", limit=12))
    first = engine.search(Query(text="oil embargo", limit=5))
    last = engine.search(Query(text="oil embargo", limit=7, offset=5))

    assert [hit.rank for hit in whole.hits] == list(range(1, 13))
    assert [*first.hits, *last.hits] == list(whole.hits)
    assert (first.has_more, first.next_offset) == (True, 5)
    assert (last.has_more, last.next_offset) == (False, None)


def test_a_document_has_at_most_its_number_of_hits(base):
    base.add("a.md", "oil one", "oil two", "oil three")
    base.add("b.md", "oil four")

    page = base.engine().search(Query(text="oil", per_doc=1))

    assert sorted(hit.chunk.path for hit in page.hits) == ["a.md", "b.md"]


def test_frequent_words_are_not_highlighted_beside_rare_ones(base):
    for number in range(40):
        base.add(f"{number}.md", "the oil" if number % 3 == 0 else "water")
    base.add("x.md", "the oil embargo")

    hit = base.engine().search(Query(text="oil embargo")).hits[0]

    assert [hit.snippet.text[start:end] for start, end in hit.snippet.highlights] == ["embargo"]


@dataclass(frozen=True)
class _Chunk:
    key: int
    doc_id: str
    text: str


def _keys(count):
    return [Key(number) for number in range(count)]


def _reader(chunks, asked):
    by_key = {chunk.key: chunk for chunk in chunks}

    def read(keys):
        asked.extend(keys)
        return [by_key[key] for key in keys if key in by_key]

    return read


def test_copies_of_one_text_are_limited():
    chunks = [_Chunk(key, f"doc{key}", "same") for key in range(10)] + [_Chunk(10, "x", "other")]

    shown = [chunk.key for chunk in deduplicate_hits(_keys(11), _reader(chunks, []), per_doc=None)]

    assert shown == [*range(MAX_COPIES), 10]


@pytest.mark.parametrize(
    ("sort", "paths"), [("newest", ["b.md", "c.md", "a.md"]), ("oldest", ["a.md", "c.md", "b.md"])]
)
def test_good_hits_are_sorted_by_the_dates_of_their_documents(base, sort, paths):
    for path, day in (("a.md", "2021-05-01"), ("b.md", "2024-05-01"), ("c.md", "2023-05-01")):
        base.add(path, f"The oil embargo of {path}.", date=day)
    for number in range(9):
        base.add(f"other{number}.md", f"Nothing but gardens and fences {number}.")

    page = base.engine().search(Query(text="oil embargo", sort=sort))

    assert [hit.chunk.path for hit in page.hits[:3]] == paths
