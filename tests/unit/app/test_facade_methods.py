"""`import kebab` offers every operation as a method."""

import re
from pathlib import Path

import pytest

import kebab
from kebab.errors.catalog import ConfigInvalid, InvalidInput, ReadOnly
from kebab.wire.ingest import IngestReport
from kebab.wire.search import SearchResponse
from tests.shape.tree import ROOT

PAGE = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")


@pytest.fixture
def base(tmp_path, monkeypatch):
    monkeypatch.setenv("KEBAB_OFFLINE", "true")
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "backup.md").write_text("# Backups\n\nA backup is restored each quarter.\n")
    monkeypatch.chdir(tmp_path)
    with kebab.open(tmp_path / "data") as base:
        yield base


def test_the_page_runs(tmp_path, base, monkeypatch, capsys):
    monkeypatch.setenv("KEBAB_DATA_DIR", str(tmp_path / "data"))
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(code, "python.md", "exec"), {})
    out = capsys.readouterr().out

    assert "1 new documents" in out
    assert "backup.md#L1-L3" in out
    assert "restored each quarter" in out


def test_a_reply_is_a_record_and_a_single_value_stands_for_a_list(base):
    assert isinstance(base.ingest(Path("notes")), IngestReport)
    reply = base.search("backup", limit=1)

    assert isinstance(reply, SearchResponse)
    assert [hit.doc_path for hit in reply.hits] == ["backup.md"]
    assert base.search(query="backup", limit=1).hits == reply.hits
    assert base.fetch("backup.md").results[0].text.startswith("# Backups")
    assert base.inspect_doc("nowhere").found is False


def test_what_is_wrong_is_an_exception(base, tmp_path):
    with pytest.raises(InvalidInput):
        base.search("x", limit=0)
    with pytest.raises(InvalidInput):
        base.search("x", colour="red")
    with pytest.raises(AttributeError, match="no operation: find"):
        base.find("x")
    with pytest.raises(ConfigInvalid):
        kebab.open(config=tmp_path / "missing.toml")
    with pytest.raises(ReadOnly), kebab.open(tmp_path / "data", read_only=True) as other:
        other.ingest("notes")


def test_documents_are_counted_by_the_values_that_the_other_filters_leave(base):
    notes = {
        "a/one.md": "---\ntags: [x]\nkind: log\ndate: 2024-01-02\n---\n[[two]] [[gone]]",
        "a/b/two.md": "---\ntags: [x, y]\ndate: 2025-03-04\n---\n[[two]]",
        "three.txt": "plain",
    }
    for name, text in notes.items():
        Path("notes", name).parent.mkdir(parents=True, exist_ok=True)
        Path("notes", name).write_text(text)
    base.ingest("notes")
    reply = base.list(tag="y", since="2025-01-01", until="2026-01-01", counts=True, links=True)
    whole = base.list(counts=True, links=True)

    assert reply.counts["tag"] == {"x": 1, "y": 1}
    assert reply.counts["path_glob"] == {"a": 1, "a/b": 1}
    assert reply.counts["month"] == {"2025-03": 1}
    assert whole.counts["path_glob"] == {"a": 2, "a/b": 1}
    assert whole.counts["property"]["kind=log"] == 1
    ids = {one.doc_path: one.doc_id for one in whole.documents}
    assert (whole.links, reply.links) == ([(ids["a/one.md"], ids["a/b/two.md"])], [])
    assert base.list().counts == {}
