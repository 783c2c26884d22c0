"""Ordering lines with and without a model; nothing is indexed or written."""

import random

from kebab.app.library import find_duplicates, find_related
from kebab.core.progress import ignore_progress
from kebab.errors.catalog import StoreCorrupt
from kebab.store.vectors import MappedVectors
from kebab.wire.library import DupesRequest, RelatedRequest

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


WORDS = [f"word{number}" for number in range(3000)]


def prose(seed, count=60):
    return " ".join(random.Random(seed).sample(WORDS, count))


def find(desk, **options):
    return find_duplicates(desk.context(), DupesRequest(**options), ignore_progress)


def test_copies_of_a_file_are_an_exact_group_with_path_and_lines(desk):
    for name in ("a.md", "old/b.md"):
        desk.write(name, f"# Title\n\n{prose(1)}\n\n{prose(2)}\n")
    desk.ingest()

    found = find(desk)

    (group,) = found.groups
    assert (group.unit, group.kind, group.similarity) == ("document", "exact", 1.0)
    assert [one.doc_path for one in group.members] == ["a.md", "old/b.md"]
    assert [one.citation.uri for one in group.members] == ["a.md#L1-L5", "old/b.md#L1-L5"]
    assert all((one.chunk_id, one.exact) == (None, True) for one in group.members)
    assert group.snippet.startswith("# Title")
    assert (found.total, found.has_more) == (1, False)
    assert find(desk, exact=True).groups == found.groups
