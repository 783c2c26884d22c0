"""Ordering lines with and without a model; nothing is indexed or written."""

import pytest

from kebab.app.related import find_related
from kebab.errors.catalog import InvalidInput, StoreCorrupt
from kebab.store.vectors import MappedVectors
from kebab.wire.related import RelatedRequest

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
