import random

import pytest

from kebab.core.chunks import CosineScale, make_doc_id
from kebab.core.queries import Filters
from kebab.errors.catalog import StoreCorrupt
from kebab.search.related import (
    SURE_SCORE,
    DocumentVectors,
    RelatedFinder,
    VectorSpace,
    find_similar_passage,
)
from tests.fakes.vectors import MemoryVectors

FILLING = ["grass", "sun", "cloud", "rain", "wind", "snow", "tree", "leaf", "root", "stem"]


def _finder(base, path, *, space=True):
    reader = base.reader()
    chunks = reader.load_chunks(
        reader.list_allowed_keys(Filters(doc_id=make_doc_id("notes", path)))
    )
    vectors = (
        VectorSpace(vectors=lambda: base.vectors, scale=CosineScale(0.0, 1.0))
        if space is True
        else space
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
    text, spans = weekly.snippet.text, weekly.snippet.highlights
    assert "prune" in [text[start:end] for start, end in spans]


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
        filled, "vault.md", space=VectorSpace(vectors=Broken, scale=CosineScale(0.0, 1.0))
    )

    assert {*paths(near.find(10, Filters()))} == {"disk.md", "weekly.md"}
    assert near.degraded[0].channel == "vector"


PLAIN = CosineScale(0.0, 1.0)


def document_vectors(base, path, scale=PLAIN):
    """Return what the vectors say of a document."""
    reader = base.reader()
    chunks = reader.load_chunks(
        reader.list_allowed_keys(Filters(doc_id=make_doc_id("notes", path)))
    )
    return DocumentVectors(reader, VectorSpace(vectors=lambda: base.vectors, scale=scale), chunks)


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


@pytest.mark.parametrize("heading", ["", "# Day {}\n\n"])
def test_passages_that_many_documents_share_do_not_count(base, heading):
    template = "wins lessons highlights of the whole day"
    for number, text in enumerate(("skied the red slope", "baked a loaf", "tax return", "piano")):
        base.add(f"day{number}.md", text, heading.format(number) + template)
    base.add("ski.md", "keep the weight on the slope, skied well")
    for word in FILLING:
        base.add(f"{word}.md", f"{word} in the meadow")

    assert paths(_finder(base, "day0.md").find(10, Filters())) == ["ski.md"]


WORDS = [f"word{number}x" for number in range(2000)]


def prose(seed, count=60):
    return " ".join(random.Random(seed).sample(WORDS, count))


def find(base, text, own="own.md", copies=1):
    found = find_similar_passage(
        base.reader(), text, lambda chunk: chunk.path == own, copies=copies
    )
    return found and (found.chunk.path, round(found.similarity, 2))


@pytest.fixture
def copied(base):
    base.add("own.md", prose(1), prose(2))
    base.add("copy.md", f"Before. {prose(1)} And behind.")
    for number in range(9):
        base.add(f"other{number}.md", prose(100 + number))
    return base


def test_the_passage_that_holds_the_paragraph_is_found(copied):
    assert find(copied, prose(1)) == ("copy.md", 1.0)
    assert find(copied, prose(1), own="copy.md") == ("own.md", 1.0)


def test_a_few_changed_words_do_not_matter_and_many_do(copied):
    words = prose(1).split()
    few, many = list(words), list(words)
    few[20:22] = ["changed", "words"]
    many[::5] = prose(7, len(many[::5])).split()

    path, similarity = find(copied, " ".join(few))

    assert path == "copy.md"
    assert 0.8 <= similarity < 1
    assert find(copied, " ".join(many)) is None


def test_a_paragraph_without_a_copy_is_not_found(copied):
    assert find(copied, prose(2)) is None
    assert find(copied, prose(55), copies=0) is None
    assert find(copied, "") is None


def test_a_text_that_stands_in_many_documents_is_no_copy(copied):
    for number in range(4):
        copied.add(f"licence{number}.md", prose(1))

    assert find(copied, prose(1)) is None


def test_signs_of_the_query_syntax_are_plain_text(copied):
    assert find(copied, '"a" OR NEAR(b) * -c:d ' * 9, copies=0) is None
