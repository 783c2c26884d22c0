import pytest

from kebab.app.why import explain_search
from kebab.errors.catalog import InvalidInput
from kebab.wire.related import WhyRequest
from kebab.wire.search import SearchRequest


def asked(desk, query, name, flags=None, **fields):
    request = SearchRequest(query=query, **fields)
    return explain_search(desk.context(**flags or {}), WhyRequest(name=name, search=request))


def fill(desk):
    desk.write("vault.md", "---\ntags: [ops]\n---\n# Vault\n\nrestic checks the vault\n")
    desk.write("disk.md", "# Disk\n\nthe vault of restic on a new disk\n\n# Next\n\nbuy a disk\n")
    for word in ("grass", "sun", "cloud", "rain"):
        desk.write(f"{word}.md", f"# {word}\n\n{word} in the meadow\n")
    desk.ingest()


def test_the_explained_rank_is_the_rank_of_the_hit(desk):
    fill(desk)
    hits = desk.search("restic vault").hits

    found = asked(desk, "restic vault", "disk.md")

    assert (found.found, found.verdict, found.hint) == (True, "found", None)
    assert found.document.doc_path == "disk.md"
    (one,) = [hit for hit in hits if hit.doc_path == "disk.md"]
    assert (found.rank, found.passages[0].chunk_id) == (one.rank, one.chunk_id)
    assert found.passages[0].score == pytest.approx(one.score)
    assert found.passages[0].held.body == ["restic", "vault"]
    assert [term.text for term in found.reading.terms] == ["restic", "vault"]


@pytest.mark.parametrize("spelling", ["id", "beginning", "path", "absolute", "passage"])
def test_a_document_or_a_passage_is_found_by_every_kind_of_name(desk, spelling):
    fill(desk)
    doc_id = desk.documents()["disk.md"].doc_id
    passage = asked(desk, "buy", "disk.md").passages[0].chunk_id
    names = {
        "id": doc_id,
        "beginning": doc_id[:8],
        "path": "disk.md",
        "absolute": str(desk.notes / "disk.md"),
        "passage": passage,
    }

    found = asked(desk, "buy", names[spelling])

    assert found.document.doc_id == doc_id
    assert len(found.passages) == (1 if spelling == "passage" else 2)


def test_with_vectors_both_channels_are_reported(lab):
    fill(lab)

    (first, *_) = asked(lab, "restic vault", "vault.md").passages

    assert first.vector == "committed"
    assert first.semantic.rank is not None
    assert first.fused.score is not None


def test_without_text_there_is_nothing_to_find(desk):
    fill(desk)
    desk.write("empty.md", "")
    desk.ingest()

    lost = asked(desk, "nothing", "empty.md")

    assert (lost.verdict, lost.passages) == ("no_text", [])
    assert lost.hint == f"kebab inspect doc {lost.document.doc_id}"


@pytest.mark.parametrize("fields", [{"query": " "}, {"since": "whenever"}, {"tag": ["\udcff"]}])
def test_a_bad_request_is_refused(desk, fields):
    fill(desk)
    request = SearchRequest(**{"query": "x", **fields})

    with pytest.raises(InvalidInput):
        explain_search(desk.context(), WhyRequest(name="disk.md", search=request))
