from dataclasses import replace

import pytest

from kebab.core.queries import Filters, Mode, Query
from kebab.search import explain_verdict, retrieval
from kebab.search.explain_verdict import Verdict
from kebab.search.retrieval import UNRANKED
from kebab.wire.why import Standing
from tests.unit.search.test_explain import _explained


@pytest.fixture
def notes(base):
    base.add("a.md", "the oil embargo began", tags=["ops"])
    base.add("b.md", "oil is dear", "oil is cheap")
    base.add("c.md", "the sky is blue", embed=False)
    base.add("d.md", "한국어", embed=False)
    return base


def _verdict(base, text, path, **given):
    return explain_verdict.build_verdict(
        _explained(base, text, path, **given), Query(text=text, **given)
    )


def test_a_hit_is_found_at_its_rank(notes):
    found = _verdict(notes, "oil embargo", "a.md")

    assert (found.kind, found.text, found.remedy) == ("found", "found at rank 1", None)


def test_a_weak_hit_is_called_that(notes):
    assert _verdict(notes, "oil", "a.md", mode=Mode.VECTOR).kind == "found"
    assert "weak" in _verdict(notes, "zebra oil unicorn", "b.md").text


def test_a_later_page_says_how_far(notes):
    found = _verdict(notes, "oil embargo", "b.md", limit=1)

    text = "it stands at rank 2, and the page holds 1"
    assert found == Verdict("next_page", text, "limit")


@pytest.mark.parametrize(
    ("text", "given", "reason"),
    [
        ("oil", {"filters": Filters(tag=("ops", "dev"))}, "the filter --tag ops or dev keeps it"),
        ("oil path:a.md", {}, "the filter --path **/*a.md* keeps it"),
        ("oil", {"filters": Filters(since=9e9)}, "the filter --since keeps it"),
        ('"oil embargo"', {}, "it does not hold \u201coil embargo\u201d"),
        ("oil -is", {}, "it holds the excluded \u201cis\u201d"),
        ("oil -title:b", {}, "it holds the excluded \u201cb\u201d in its title"),
    ],
)
def test_what_keeps_it_out_is_named(notes, text, given, reason):
    if "-title" in text:
        text = 'oil -title:"b.md"'
        reason = reason.replace("\u201cb\u201d", "\u201cb.md\u201d")
    found = _verdict(notes, text, "b.md", **given)

    assert (found.kind, found.remedy) == ("kept_out", "loosen")
    assert found.text.startswith(f"lost: {reason}")
    assert "without that it stands at rank" in found.text


def test_what_would_be_lost_anyway_says_so(notes):
    found = _verdict(notes, "oil tag:none", "c.md", mode=Mode.LEXICAL)

    assert found.text.endswith("it would not be among the candidates without that either")


def test_a_rank_beyond_the_page_is_told_of_what_is_kept_out(notes):
    found = _verdict(notes, "oil embargo tag:none", "b.md", limit=1)

    assert found.text.endswith("it stands at rank 2, and the page holds 1")


def test_words_alone_name_the_other_channel(notes):
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
    explained = replace(explained, accounts=(replace(explained.best, chunk=chunk),))

    found = explain_verdict.build_verdict(explained, Query(text="oil"))

    text = f"lost: no term that was asked for occurs in it and {reason}"
    assert found == Verdict("no_match", text, remedy)


def test_a_passage_beyond_the_candidates_is_too_far(notes, monkeypatch):
    monkeypatch.setattr(retrieval, "CANDIDATE_LIMIT", 1)
    monkeypatch.setattr(retrieval, "CANDIDATE_LIMIT", 1)

    found = _verdict(notes, "embargo began dear", "b.md")

    assert (found.kind, found.remedy) == ("too_far", "within")
    assert "by its words it is only at rank 2" in found.text
    assert "by its meaning it is only at rank" in found.text


def test_by_meaning_alone_words_are_not_spoken_of(notes):
    explained = _explained(notes, "oil", "b.md")
    far = Standing(rank=5000, score=0.1, candidate=False)
    best = replace(explained.best, place=None, final=UNRANKED, words=UNRANKED, meaning=far)

    found = explain_verdict.build_verdict(
        replace(explained, accounts=(best,)), Query(text="oil", mode=Mode.VECTOR)
    )

    text = "lost: by its meaning it is only at rank 5,000 (1,000 are looked at)"
    assert found == Verdict("too_far", text, "within")


@pytest.mark.parametrize(
    ("withheld", "kind", "remedy"),
    [("per_doc", "per_doc", "per_doc"), ("copies", "copy", "copies")],
)
def test_what_is_not_shown_says_why(notes, withheld, kind, remedy):
    explained = _explained(notes, "oil", "b.md")
    best = replace(explained.best, place=None, withheld=withheld)

    found = explain_verdict.build_verdict(
        replace(explained, accounts=(best,)), Query(text="oil", per_doc=1)
    )

    assert (found.kind, found.remedy) == (kind, remedy)


def test_a_document_without_text_cannot_be_found(notes):
    assert _verdict(notes, "oil", "nowhere.md").kind == "no_text"
