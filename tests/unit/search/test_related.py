import pytest

from kebab.core.chunks import CosineScale
from kebab.core.ids import make_doc_id
from kebab.core.queries import Filters
from kebab.errors.catalog import StoreCorrupt
from kebab.search.related import (
    MAX_KEYWORDS,
    SURE_SCORE,
    DocumentVectors,
    RelatedFinder,
    VectorSpace,
    extract_keywords,
    find_shared_words,
)
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
    return [one.other.path for one in found]


@pytest.fixture
def filled(base):
    base.add("vault.md", "restic checks the vault", "prune snapshots every week")
    base.add("disk.md", "restic checks the vault on a disk")
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
    pairs = {one.other.path: one for one in _finder(filled, "vault.md").find(9, Filters())}

    weekly = pairs["weekly.md"]
    assert weekly.own.text == "prune snapshots every week"
    assert weekly.cosine == pytest.approx(0.8, abs=0.2)
    assert "prune" in weekly.shared_words
    text, spans = weekly.snippet.text, weekly.snippet.highlights
    assert "prune" in [text[start:end] for start, end in spans]


def test_the_limit_and_the_filters_apply(filled):
    filled.add("more.md", "restic and the vault, prune snapshots", tags=["x"])

    assert len(_finder(filled, "vault.md").find(1, Filters())) == 1
    assert paths(_finder(filled, "vault.md").find(9, Filters(tag=("x",)))) == ["more.md"]


def test_a_document_that_shares_nothing_has_no_related_documents(filled):
    filled.add("odd.md", "quux")

    assert _finder(filled, "odd.md").find(10, Filters()) == []


@pytest.mark.parametrize(
    ("asked", "others", "related"),
    [("en", "en", False), ("de", "en", True), ("en", None, False), (None, None, False)],
    ids=["same", "different", "data", "unknown"],
)
def test_what_is_only_near_must_share_keywords_unless_languages_differ(
    base, asked, others, related
):
    for word in FILLING:
        base.add(f"{word}.md", f"{word} in the wide green meadow", lang=others)
    base.add("asked.md", "stone in the wide green meadow", lang=asked)

    found = _finder(base, "asked.md").find(10, Filters())

    assert bool(found) == related
    assert all(one.score < SURE_SCORE and one.lexical_score is None for one in found)


def test_without_vectors_keywords_decide_and_the_channel_is_degraded(filled):
    near = _finder(filled, "vault.md", space=None)

    found = near.find(10, Filters())

    assert {*paths(found)} == {"disk.md", "weekly.md"}
    assert all((one.vector_score, one.cosine) == (None, None) for one in found)
    assert [one.own.ordinal for one in found if one.other.path == "weekly.md"] == [1]
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
    assert late.degraded[0].reason == "no passage of this document is embedded yet"
    filled.add("half.md", "restic and the vault")
    filled.add("half.md", "restic and the vault", "prune snapshots", embed=False)

    half = _finder(filled, "half.md")
    half.find(9, Filters())

    assert half.degraded[0].reason == "1 of 2 passages of this document are not embedded"
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


def _extract(base, *texts):
    return extract_keywords(base.reader(), texts)


def test_a_token_that_is_frequent_here_and_rare_elsewhere_weighs_most(base):
    base.add("a.md", "restic restic restic backup disk")
    base.add("b.md", "restic backup disk")
    for word in FILLING:
        base.add(f"{word}.md", f"backup disk {word}")

    weights = _extract(base, "restic restic restic backup disk").weights

    assert next(iter(weights)) == "restic"
    assert "backup" not in weights


def test_a_token_of_one_passage_is_no_keyword(base):
    base.add("a.md", "unique shared")
    base.add("b.md", "shared")
    for word in FILLING:
        base.add(f"{word}.md", word)

    assert list(_extract(base, "unique shared").weights) == ["share"]


def test_stop_words_are_no_keywords(base):
    base.add("a.md", "what is the vault and how")
    base.add("b.md", "what is the vault and how")
    for word in FILLING:
        base.add(f"{word}.md", word)

    assert list(_extract(base, "what is the vault and how").weights) == ["vault"]


def test_the_match_expression_is_bounded_and_holds_no_operators(base):
    text = " ".join(f"term{number}" for number in range(200)) + " NOT AND"
    base.add("a.md", text)
    base.add("b.md", text)
    for word in FILLING:
        base.add(f"{word}.md", word)

    words = _extract(base, text)
    match = words.build_match_expression()

    assert len(words.weights) == MAX_KEYWORDS
    assert match.count(" OR ") == MAX_KEYWORDS - 1
    assert match.startswith('"')


def test_shared_words_are_written_as_in_the_other_document(base):
    base.add("a.md", "restoring backups with restic")
    base.add("b.md", "Restored the Backup")
    base.add("c.md", "restic")
    for word in FILLING:
        base.add(f"{word}.md", word)

    found = find_shared_words(
        _extract(base, "restoring backups with restic"), ["Restored the Backup"]
    )

    assert sorted(found) == ["Backup", "Restored"]


def test_words_of_dense_scripts_are_not_split(base):
    base.add("a.md", "쿠버네티스 클러스터를 복원한다")
    base.add("b.md", "쿠버네티스 클러스터의 상태")
    for word in FILLING:
        base.add(f"{word}.md", word)

    found = find_shared_words(
        _extract(base, "쿠버네티스 클러스터를 복원한다"), ["쿠버네티스 클러스터의 상태"]
    )

    assert sorted(found) == ["쿠버네티스", "클러스터"]


def test_held_keywords_are_those_of_the_text(base):
    base.add("a.md", "vault restic")
    base.add("b.md", "vault restic")
    for word in FILLING:
        base.add(f"{word}.md", word)

    assert list(_extract(base, "vault restic").select_held("a vault")) == ["vault"]


def test_only_the_thousand_most_frequent_tokens_can_be_keywords(base):
    base.add("a.md", "vault restic")
    base.add("b.md", "vault restic")
    for word in FILLING:
        base.add(f"{word}.md", word)
    frequent = " ".join(f"term{number}" for number in range(999))

    weights = _extract(base, frequent, frequent, "vault restic").weights

    assert list(weights) == ["vault"]


def test_shared_words_are_no_function_words(base):
    texts = (
        "**the** vault (over) all, between others; which? 있습니다",
        "the: vault over all between others which 있습니다",
    )
    base.add("a.md", texts[0])
    base.add("b.md", texts[1])
    for word in FILLING:
        base.add(f"{word}.md", word)

    assert find_shared_words(_extract(base, texts[0]), texts[1:]) == ["vault"]


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
