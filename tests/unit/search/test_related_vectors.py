import pytest

from kebab.core.chunks import CosineScale
from kebab.core.ids import make_doc_id
from kebab.core.queries import Filters
from kebab.search.related import DocumentVectors, VectorSpace

PLAIN = CosineScale(0.0, 1.0)


def document_vectors(base, path, scale=PLAIN):
    """Return what the vectors say of a document."""
    reader = base.reader()
    chunks = reader.load_chunks(
        reader.list_allowed_keys(Filters(doc_id=make_doc_id("notes", path)))
    )
    return DocumentVectors(reader, VectorSpace(vectors=base.vectors, scale=scale), chunks)


def near(base, path, *, filters=None, others=(), scale=PLAIN):
    found = document_vectors(base, path, scale).find_similar(filters or Filters(), others)
    order = sorted(found, key=lambda doc: -found[doc].score)
    names = {make_doc_id("notes", f"{name}.md"): name for name in "abcdef"}
    return {names[doc]: found[doc] for doc in order}


def test_a_note_on_two_topics_is_similar_to_both(base):
    base.add("a.md", "oil embargo of the seventies", "plague in medieval towns")
    base.add("b.md", "oil embargo of the decade")
    base.add("c.md", "plague in medieval villages")
    base.add("d.md", "purple bicycle")

    found = near(base, "a.md")

    assert {*list(found)[:2]} == {"b", "c"}
    assert found["b"].score > 2 * abs(found["d"].score)
    assert "a" not in found


def test_the_score_is_the_mean_of_the_best_matches(base):
    base.add("a.md", "oil embargo", "purple bicycle", title="T")
    base.add("b.md", "oil embargo", "purple bicycle", title="T")

    assert near(base, "a.md")["b"].score == pytest.approx(1.0)


def test_the_best_pair_is_named_with_its_cosine(base):
    base.add("a.md", "purple bicycle", "oil embargo", title="T")
    base.add("b.md", "green river", "oil embargo", title="T")

    found = near(base, "a.md")["b"]

    assert (found.own, found.other, found.cosine) == (2, 4, pytest.approx(1.0))


def test_filters_apply_to_other_documents_only(base):
    base.add("a.md", "oil embargo")
    base.add("b.md", "oil embargo")
    base.add("c.md", "oil embargo", tags=["x"])

    assert list(near(base, "a.md", filters=Filters(tag=("x",)))) == ["c"]


def test_documents_that_keywords_found_are_measured_too(base):
    base.add("a.md", "oil embargo")
    base.add("b.md", "oil embargo", tags=["x"])
    base.add("c.md", "purple bicycle")

    found = near(base, "a.md", filters=Filters(tag=("x",)), others=[make_doc_id("notes", "c.md")])

    assert list(found) == ["b", "c"]


def test_a_document_without_vectors_has_no_similarity(base):
    base.add("b.md", "oil embargo", embed=False)
    base.writer.mark_vectors([1], "unsupported", "v1")
    base.add("a.md", "oil embargo")

    assert near(base, "a.md", others=[make_doc_id("notes", "b.md")]) == {}
    assert not document_vectors(base, "b.md").keys
    assert near(base, "b.md") == {}


def test_cosines_are_put_on_the_scale_of_the_model(base):
    base.add("a.md", "oil embargo of the seventies")
    base.add("b.md", "oil embargo of the decade")

    plain, steep = near(base, "a.md")["b"], near(base, "a.md", scale=CosineScale(0.5, 1.0))["b"]

    assert steep.score == pytest.approx(max(0.0, (plain.cosine - 0.5) / 0.5), abs=1e-5)


def test_some_passages_of_a_long_document_are_probes(base):
    base.add("a.md", *(f"oil embargo {number}" for number in range(100)))
    base.add("b.md", "oil embargo 7")

    found = near(base, "a.md")["b"]

    assert 0.4 < found.score <= 1.0
