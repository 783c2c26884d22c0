"""Ordering lines with and without a model; nothing is indexed or written."""

import pytest

from kebab.app import related
from kebab.app.related import find_related, rank_lines
from kebab.errors.catalog import InvalidInput, StoreCorrupt
from kebab.search import rerank
from kebab.store.vectors import MappedVectors
from kebab.wire.related import RankRequest, RelatedRequest

FILLING = "grass sun cloud rain wind snow tree leaf root stem"


def neighbours(desk, name="vault.md", limit=10, filters=None, **flags):
    options = RelatedRequest(name=name, limit=limit, **(filters or {}))
    return find_related(desk.context(**flags), options)


def fill(desk):
    desk.write("vault.md", "# Vault\n\nrestic checks the vault\n\n## Weekly\n\nprune snapshots\n")
    desk.write("disk.md", "---\ntags: [ops]\n---\n# Disk\n\nthe vault of restic on a new disk\n")
    for word in FILLING.split():
        desk.write(f"{word}.md", f"# {word}\n\n{word} in the meadow\n")
    desk.ingest()


def test_a_related_document_has_its_matching_passages(desk):
    fill(desk)

    found = neighbours(desk)

    assert found.document.doc_path == "vault.md"
    (one,) = found.related
    assert (one.rank, one.doc_path, one.title, one.tags) == (1, "disk.md", "Disk", ["ops"])
    assert (one.source, one.freshness) == (str(desk.notes), "fresh")
    assert one.file == str(desk.notes / "disk.md")
    assert one.pair.found.citation.uri.startswith("disk.md#L4")
    assert one.pair.asked.citation.uri.startswith("vault.md#L1")
    assert {"vault", "restic"} <= set(one.terms)
    assert 0 < one.score <= 1


@pytest.mark.parametrize("spelling", ["id", "beginning", "path", "absolute"])
def test_a_document_is_found_by_every_kind_of_name(desk, spelling):
    fill(desk)
    doc_id = desk.documents()["vault.md"].doc_id
    names = {
        "id": doc_id,
        "beginning": doc_id[:8],
        "path": "vault.md",
        "absolute": str(desk.notes / "vault.md"),
    }

    assert neighbours(desk, names[spelling]).document.doc_id == doc_id


def test_filters_and_limit_hold_for_neighbours(desk):
    fill(desk)
    desk.write("more.md", "restic and the vault\n")
    desk.ingest()

    assert [one.doc_path for one in neighbours(desk, limit=1).related] == ["more.md"]
    tagged = neighbours(desk, filters={"tag": ["ops"]}).related
    assert [one.doc_path for one in tagged] == ["disk.md"]


def test_a_document_without_text_has_no_neighbours(desk):
    fill(desk)
    desk.write("empty.md", "---\ntitle: Nothing\n---\n")
    desk.ingest()

    assert neighbours(desk, "empty.md").related == []


def test_unreadable_vectors_leave_the_comparison_by_words(lab, monkeypatch):
    fill(lab)

    def torn(*_):
        raise StoreCorrupt(path="x.lance", cause="torn")

    monkeypatch.setattr(MappedVectors, "get", torn)

    found = neighbours(lab)

    assert [one.channel for one in found.degraded] == ["vector"]
    assert found.related[0].doc_path == "disk.md"


def test_a_filter_that_is_not_utf8_is_refused(desk):
    fill(desk)

    with pytest.raises(InvalidInput):
        neighbours(desk, filters={"tag": ["\udcff"]})


LINES = ["the dog runs", "", "the cat sleeps", "a cat and a dog"]


def ranked(desk, query, lines=LINES, **options):
    return rank_lines(
        desk.context(read_only=True), RankRequest(query=query, lines=lines, **options)
    )


def test_the_best_line_comes_first_and_nothing_is_written(desk):
    before = desk.tree()

    reply = ranked(desk, "cat sleeps")

    assert reply.items[0].index == 2
    assert (reply.total, reply.has_more, [one.rank for one in reply.items]) == (3, False, [1, 2, 3])
    assert desk.tree() == before


def test_with_a_model_meanings_are_compared(lab):
    reply = ranked(lab, "cat")

    assert reply.embedding_version is not None
    assert reply.degraded == []
    assert reply.total == 3


def test_more_lines_than_there_is_time_for_are_compared_by_words_only(lab, monkeypatch):
    monkeypatch.setattr(rerank, "EMBED_S", 0)
    lines = [f"the cat {number}" for number in range(99)]

    (told,) = ranked(lab, "cat", lines).degraded

    assert told.reason == "meanings compared only for the 32 of 99 lines with the best words"


def test_a_limit_leaves_out_the_worst(desk):
    reply = ranked(desk, "cat", limit=1)

    assert (len(reply.items), reply.total, reply.has_more) == (1, 3, True)


def test_equal_lines_keep_their_order(desk):
    assert [one.index for one in ranked(desk, "zebra").items] == [0, 2, 3]


def test_no_lines_are_no_error(desk):
    assert (ranked(desk, "cat", []).items, ranked(desk, "cat", []).total) == ([], 0)


@pytest.mark.parametrize("query", ["", "  ", "caf\udce9"])
def test_an_empty_or_broken_query_is_refused(desk, query):
    with pytest.raises(InvalidInput):
        ranked(desk, query)


def test_too_many_lines_are_refused(desk, monkeypatch):
    monkeypatch.setattr(related, "MAX_LINES", 2)

    with pytest.raises(InvalidInput, match="more than 2 lines"):
        ranked(desk, "cat")
