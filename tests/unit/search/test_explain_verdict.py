import pytest
from msgspec.structs import replace

from kebab.core.queries import Filters, Mode, Query
from kebab.search import retrieval
from kebab.search.explain import UNRANKED, Verdict, build_verdict
from kebab.wire.related import Standing
from tests.unit.search.test_explain import _explained


@pytest.fixture
def notes(base):
    base.add("a.md", "the oil embargo began", tags=["ops"])
    base.add("b.md", "oil is dear", "oil is cheap")
    base.add("c.md", "the sky is blue", embed=False)
    base.add("d.md", "한국어", embed=False)
    return base


def _verdict(base, text, path, **given):
    return build_verdict(_explained(base, text, path, **given), Query(text=text, **given))


def test_a_hit_is_found_at_its_rank(notes):
    found = _verdict(notes, "oil embargo", "a.md")

    assert (found.kind, found.text, found.remedy) == ("found", "found at rank 1", None)


def test_the_verdict_names_a_weak_hit(notes):
    assert _verdict(notes, "oil", "a.md", mode=Mode.VECTOR).kind == "found"
    assert "weak" in _verdict(notes, "zebra oil unicorn", "b.md").text


def test_a_hit_of_a_later_page_names_its_rank(notes):
    found = _verdict(notes, "oil embargo", "b.md", limit=1)

    text = "it stands at rank 2, and the page holds 1"
    assert found == Verdict("next_page", text, "limit")


@pytest.mark.parametrize(
    ("text", "given", "reason"),
    [
        ("oil", {"filters": Filters(tag=("ops", "dev"))}, "the filter --tag ops or dev keeps it"),
        ("oil path:a.md", {}, "the filter --path **/*a.md* keeps it"),
        ("oil", {"filters": Filters(since=9e9)}, "the filter --since keeps it"),
        ('"oil embargo"', {}, "it does not hold “oil embargo”"),
        ('oil -"is"', {}, "it holds the excluded “is”"),
        ("oil -title:b", {}, "it holds the excluded “b” in its title"),
    ],
)
def test_broken_conditions_are_named(notes, text, given, reason):
    if "-title" in text:
        text = 'oil -title:"b.md"'
        reason = reason.replace("“b”", "“b.md”")
    found = _verdict(notes, text, "b.md", **given)

    assert (found.kind, found.remedy) == ("kept_out", "loosen")
    assert found.text.startswith(f"lost: {reason}")
    assert "without that it stands at rank" in found.text


def test_the_verdict_says_that_a_document_is_lost_without_the_condition_too(notes):
    found = _verdict(notes, "oil tag:none", "c.md", mode=Mode.LEXICAL)

    assert found.text.endswith("it would not be among the candidates without that either")


def test_the_verdict_names_the_rank_of_a_filtered_document_beyond_the_page(notes):
    found = _verdict(notes, "oil embargo tag:none", "b.md", limit=1)

    assert found.text.endswith("it stands at rank 2, and the page holds 1")


def test_a_lexical_search_suggests_the_vector_channel(notes):
    found = _verdict(notes, "oil", "c.md", mode=Mode.LEXICAL)

    text = "lost: no term that was asked for occurs in it"
    assert found == Verdict("no_match", text, "hybrid")


@pytest.mark.parametrize(
    ("state", "reason", "remedy"),
    [
        ("pending", "it still waits for its vector", "ingest"),
        ("unsupported", "the model does not know its script", "inspect"),
        ("committed", "its vector could not be compared", "mend"),
    ],
)
def test_a_missing_vector_has_its_reason(notes, state, reason, remedy):
    explained = _explained(notes, "oil", "c.md")
    chunk = explained.best.chunk._replace(vector_state=state)
    explained = replace(explained, passages=(replace(explained.best, chunk=chunk),))

    found = build_verdict(explained, Query(text="oil"))

    text = f"lost: no term that was asked for occurs in it and {reason}"
    assert found == Verdict("no_match", text, remedy)


def test_a_passage_beyond_the_candidates_is_too_far(notes, monkeypatch):
    monkeypatch.setattr(retrieval, "CANDIDATE_LIMIT", 1)

    found = _verdict(notes, "embargo began dear", "b.md")

    assert (found.kind, found.remedy) == ("too_far", "within")
    assert "by its words it is only at rank 2" in found.text
    assert "by its meaning it is only at rank" in found.text


def test_a_vector_search_does_not_mention_words(notes):
    explained = _explained(notes, "oil", "b.md")
    far = Standing(rank=5000, score=0.1, candidate=False)
    best = replace(explained.best, hit_rank=None, final=UNRANKED, lexical=UNRANKED, semantic=far)

    found = build_verdict(replace(explained, passages=(best,)), Query(text="oil", mode=Mode.VECTOR))

    text = "lost: by its meaning it is only at rank 5,000 (1,000 are looked at)"
    assert found == Verdict("too_far", text, "within")


@pytest.mark.parametrize(
    ("withheld", "kind", "remedy"),
    [
        ("per_doc", "per_doc", "per_doc"),
        ("confidence", "confidence", "confidence"),
        ("copies", "copy", "copies"),
    ],
)
def test_a_withheld_passage_has_its_reason(notes, withheld, kind, remedy):
    explained = _explained(notes, "oil", "b.md")
    best = replace(explained.best, hit_rank=None, withheld=withheld)

    found = build_verdict(replace(explained, passages=(best,)), Query(text="oil", per_doc=1))

    assert (found.kind, found.remedy) == (kind, remedy)


def test_a_document_without_text_cannot_be_found(notes):
    assert _verdict(notes, "oil", "nowhere.md").kind == "no_text"
