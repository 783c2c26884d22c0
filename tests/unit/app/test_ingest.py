"""Ingesting into real stores: what changes on disk shows in library, vectors and report."""

import pytest

from kebab.app.ingest import ingest, ingest_text
from kebab.app.library import remove_documents
from kebab.core.progress import Cancel, ignore_progress
from kebab.errors.catalog import IoError, ParseFailed, TooLarge, UsageInvalid
from kebab.wire.ingest import IngestRequest, IngestTextRequest
from kebab.wire.library import RmRequest


def _text(desk, text, title="Call with Ada", *, context=None, **options):
    asked = IngestTextRequest(text=text.encode(), title=title, **options)
    return ingest_text(context or desk.context(), asked, ignore_progress, Cancel())


def test_the_knowledge_base_never_reads_itself(desk):
    desk.flags["data_dir"] = str(desk.notes / "kb")
    desk.write("a.md", "the cat\n")
    _text(desk, "kept text")
    report = desk.ingest()

    assert (report.new, report.skipped_by_reason) == (1, {"excluded": 1})


def test_a_removed_text_loses_its_file(desk):
    _text(desk, "kept text")
    remove_documents(desk.context(), RmRequest(names=list(desk.documents())))

    assert list((desk.data / "stdin").iterdir()) == []


def test_the_size_of_a_text_excludes_its_metadata(desk):
    limit = {"ingest__max_file_bytes": 20}
    told = _text(desk, "x" * 20, context=desk.context(**limit))
    with pytest.raises(TooLarge) as caught:
        _text(desk, "x" * 21, context=desk.context(**limit))
    later = ingest(desk.context(**limit), IngestRequest(), ignore_progress, Cancel())

    assert (told.new, later.unchanged, later.skipped) == (1, 1, 0)
    assert (caught.value.size, caught.value.limit) == (21, 20)


def test_a_failed_scan_creates_no_empty_knowledge_base(desk):
    with pytest.raises(IoError):
        desk.ingest(desk.folder / "nowhere")
    with pytest.raises(UsageInvalid):
        desk.again()

    assert not desk.data.exists()


def test_a_refused_file_is_reported_with_its_absolute_path(desk, monkeypatch):
    desk.write("a.md", "the cat\n")
    bad = desk.write("deep/bad.md", "\0\1\2" * 50)
    (item,) = [one for one in desk.ingest().items if one.error]
    with pytest.raises(ParseFailed) as alone:
        desk.ingest(str(bad))
    monkeypatch.chdir(desk.notes)
    with pytest.raises(ParseFailed) as typed:
        desk.ingest("deep/bad.md")
    with pytest.raises(ParseFailed) as piped:
        _text(desk, "\0\1\2" * 50)

    assert (item.doc_path, item.error.details["path"]) == ("deep/bad.md", str(bad))
    assert (alone.value.path, typed.value.path) == (str(bad), str(bad))
    assert piped.value.path == "<stdin>"
