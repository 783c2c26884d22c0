"""Ordering lines with and without a model; nothing is indexed or written."""

from kebab.app.library import find_related
from kebab.errors.catalog import StoreCorrupt
from kebab.store.vectors import MappedVectors
from kebab.wire.library import RelatedRequest

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
    assert 0 < one.score <= 1


def test_unreadable_vectors_leave_the_comparison_by_words(lab, monkeypatch):
    fill(lab)

    def torn(*_):
        raise StoreCorrupt(path="x.lance", cause="torn")

    monkeypatch.setattr(MappedVectors, "load_index", torn)

    found = neighbours(lab)

    assert [one.channel for one in found.degraded] == ["vector"]
    assert found.related[0].doc_path == "disk.md"
