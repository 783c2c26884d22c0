import pytest

from kebab.core.chunks import CosineScale
from kebab.core.ids import make_doc_id
from kebab.core.queries import Filters
from kebab.errors.catalog import StoreCorrupt
from kebab.search.related import RelatedFinder, VectorSpace
from tests.fakes.vectors import MemoryVectors

FILLING = ["grass", "sun", "cloud", "rain", "wind", "snow", "tree", "leaf", "root", "stem"]


def _finder(base, path, *, space=True):
    reader = base.reader()
    chunks = reader.load_chunks(
        reader.list_allowed_keys(Filters(doc_id=make_doc_id("notes", path)))
    )
    vectors = (
        VectorSpace(vectors=base.vectors, scale=CosineScale(0.0, 1.0)) if space is True else space
    )
    return RelatedFinder(reader, chunks, vectors)


def paths(found):
    return [one.pair.other.path for one in found]


@pytest.fixture
def filled(base):
    base.add("vault.md", "restic checks the vault", "prune snapshots every week")
    base.add("disk.md", "the vault and restic on a new disk", "buy screws")
    base.add("weekly.md", "every week prune old snapshots")
    for word in FILLING:
        base.add(f"{word}.md", f"{word} in the meadow")
    return base


def test_both_channels_find_related_documents_best_first(filled):
    found = _finder(filled, "vault.md").find(10, Filters())

    assert {*paths(found)} == {"disk.md", "weekly.md"}
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    for one in found:
        assert one.score == pytest.approx((one.vector_score + one.lexical_score) / 2)


def test_the_best_pair_shows_why(filled):
    pairs = {one.pair.other.path: one for one in _finder(filled, "vault.md").find(9, Filters())}

    weekly = pairs["weekly.md"]
    assert weekly.pair.own.text == "prune snapshots every week"
    assert weekly.pair.cosine == pytest.approx(0.8, abs=0.2)
    assert "prune" in weekly.shared_words
    text, spans = weekly.pair.snippet.text, weekly.pair.snippet.highlights
    assert "prune" in [text[start:end] for start, end in spans]


def test_the_limit_and_the_filters_apply(filled):
    filled.add("more.md", "restic and the vault, prune snapshots", tags=["x"])

    assert len(_finder(filled, "vault.md").find(1, Filters())) == 1
    assert paths(_finder(filled, "vault.md").find(9, Filters(tag=("x",)))) == ["more.md"]


def test_a_document_that_shares_nothing_has_no_related_documents(filled):
    filled.add("odd.md", "quux")

    assert _finder(filled, "odd.md").find(10, Filters()) == []


def test_without_vectors_keywords_decide_and_the_channel_is_degraded(filled):
    near = _finder(filled, "vault.md", space=None)

    found = near.find(10, Filters())

    assert {*paths(found)} == {"disk.md", "weekly.md"}
    assert all((one.vector_score, one.pair.cosine) == (None, None) for one in found)
    assert [one.pair.own.ordinal for one in found if one.pair.other.path == "weekly.md"] == [1]
    (lost,) = near.degraded
    assert (lost.channel, lost.hint) == ("vector", "kebab ingest")


@pytest.mark.parametrize(("better", "found"), [(599, ["b.md", "c.md"]), (600, ["b.md"])])
def test_keywords_find_the_best_600_passages_of_other_documents(base, better, found):
    base.add("a.md", "restic vault", embed=False)
    base.add("b.md", *["restic vault"] * better, embed=False)
    base.add("c.md", "restic vault on a disk", embed=False)
    base.add("d.md", *["grass"] * 700, embed=False)

    assert paths(_finder(base, "a.md", space=None).find(9, Filters())) == found


def test_a_script_that_the_model_does_not_know_is_compared_by_words(base):
    for path, text in (
        ("a.md", "쿠버네티스 클러스터를 복원한다"),
        ("b.md", "쿠버네티스 클러스터의 상태를 본다"),
    ):
        base.add(path, text, embed=False)
    base.writer.mark_vectors([1, 2], "unsupported", "v1")
    for word in FILLING:
        base.add(f"{word}.md", word)

    near = _finder(base, "a.md")

    assert paths(near.find(10, Filters())) == ["b.md"]
    (lost,) = near.degraded
    assert (lost.reason, lost.hint) == (
        "the model does not know the script of this document",
        None,
    )


def test_passages_without_a_vector_are_counted(filled):
    filled.add("late.md", "restic and the vault", "prune snapshots", embed=False)
    late = _finder(filled, "late.md")
    assert {*paths(late.find(9, Filters()))} >= {"vault.md", "disk.md"}
    assert late.degraded[0].reason == "no passage of this document has a vector yet"
    filled.add("half.md", "restic and the vault")
    filled.add("half.md", "restic and the vault", "prune snapshots", embed=False)

    half = _finder(filled, "half.md")
    half.find(9, Filters())

    assert half.degraded[0].reason == "passages of this document without a vector: 1 of 2"
    assert half.degraded[0].hint == "kebab ingest"


def test_unreadable_vectors_degrade_the_channel(filled):
    class Broken(MemoryVectors):
        def get(self, keys):
            raise StoreCorrupt(path="x.lance", cause="torn")

    near = _finder(
        filled, "vault.md", space=VectorSpace(vectors=Broken(), scale=CosineScale(0.0, 1.0))
    )

    assert {*paths(near.find(10, Filters()))} == {"disk.md", "weekly.md"}
    assert near.degraded[0].channel == "vector"
