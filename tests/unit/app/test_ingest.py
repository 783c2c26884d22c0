"""Ingesting into real stores: what changes on disk shows in library, vectors and report."""

import msgspec
import pytest
from msgspec import structs

from kebab.app.ingest import (
    ingest,
    ingest_text,
    list_unread_kinds,
    to_ingest_report,
)
from kebab.core.progress import Cancel, ignore_progress
from kebab.errors.catalog import (
    DependencyMissing,
    IoError,
    ParseFailed,
    TooLarge,
    UsageInvalid,
)
from kebab.ingest.job import IngestJob, IngestOutcome, build_item
from kebab.ingest.plan import Plan, ScanSummary
from kebab.ingest.run import build_report
from kebab.wire.ingest import IngestRequest, IngestTextRequest


def _text(desk, text, title="Call with Ada", *, context=None, **options):
    asked = IngestTextRequest(text=text.encode(), title=title, **options)
    return ingest_text(context or desk.context(), asked, ignore_progress, Cancel())


def test_the_knowledge_base_never_reads_itself(desk):
    desk.flags["data_dir"] = str(desk.notes / "kb")
    desk.write("a.md", "the cat\n")
    _text(desk, "kept text")
    report = desk.ingest()

    assert (report.new, report.skipped_by_reason) == (1, {"excluded": 1})


def test_the_size_of_a_text_excludes_its_metadata(desk):
    limit = {"ingest__max_file_bytes": 20}
    told = _text(desk, "x" * 20, context=desk.context(**limit))
    with pytest.raises(TooLarge) as caught:
        _text(desk, "x" * 21, context=desk.context(**limit))
    later = ingest(desk.context(**limit), IngestRequest(), ignore_progress, Cancel())

    assert (told.new, later.unchanged, later.skipped) == (1, 1, 0)
    assert (caught.value.size, caught.value.limit) == (21, 20)


def test_a_failed_item_gets_the_reply_of_its_error():
    report = build_report(IngestJob(), ScanSummary(()), Plan())
    items = [build_item("new", "/notes", "a.md"), build_item("error", "/notes", "b.md")]
    outcome = IngestOutcome(
        structs.replace(report, items=items),
        [IoError(path="/notes/b.md", op="read", cause="gone")],
    )
    stored, failed = to_ingest_report(outcome).items

    assert stored.error is None
    assert failed.error
    assert failed.error.details == {"path": "/notes/b.md", "op": "read", "cause": "gone"}


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


INSTALL = "pip install 'kebab[pdf]'"


def fail(error=None):
    return error or DependencyMissing(feature="PDF files", install=INSTALL)


def build_outcome(paths=(), errors=(), **fields):
    items = [build_item("error", "/n", path) for path in paths]
    empty = build_report(IngestJob(), ScanSummary(()), Plan())
    return IngestOutcome(msgspec.structs.replace(empty, items=items, **fields), list(errors))


def test_files_that_lack_a_library_are_counted_with_the_command():
    outcome = build_outcome([f"{number}.pdf" for number in range(5)], [fail()] * 5)
    (kind,) = list_unread_kinds(outcome)

    assert (kind.reason, kind.label, kind.count, kind.hint) == (
        "library_missing",
        "PDF",
        5,
        INSTALL,
    )
    assert kind.examples == ["0.pdf", "1.pdf", "2.pdf"]


def test_unsupported_formats_are_grouped_by_what_they_are():
    outcome = build_outcome(
        skipped_by_extension={".one": 2, ".onetoc2": 1, ".gif": 9, ".foo": 1, "": 4},
        skip_examples={"unsupported": ["a.one", "b.gif"]},
    )
    kinds = list_unread_kinds(outcome)

    assert [(kind.label, kind.count, kind.extensions) for kind in kinds] == [
        ("OneNote section", 3, [".one", ".onetoc2"]),
        ("image", 9, [".gif"]),
        ("file without an extension", 4, []),
        (".foo file", 1, [".foo"]),
    ]
    assert kinds[0].hint == "export it as PDF or DOCX"
    assert kinds[0].examples == ["a.one"]
    assert kinds[1].hint is None


def test_images_and_scanned_documents_name_the_setting_that_reads_them():
    refusal = ParseFailed(
        path="scan.pdf", parser="pdf-v1", cause="only images, no text", setting="ingest.ocr"
    )
    outcome = build_outcome(
        ["scan.pdf"],
        [refusal],
        skipped_by_reason={"ocr_off": 3, "unsupported": 1},
        skipped_by_extension={".png": 2, ".tif": 1, ".gif": 1},
        skip_examples={"ocr_off": ["a.png", "b.png", "c.tif"]},
    )

    images, documents, other = list_unread_kinds(outcome)

    assert (images.reason, images.label, images.count) == ("ocr_off", "image", 3)
    assert images.hint == documents.hint == "export KEBAB_INGEST_OCR=true"
    assert (documents.label, documents.examples) == ("scanned document", ["scan.pdf"])
    assert (other.reason, other.extensions) == ("unsupported", [".gif"])
