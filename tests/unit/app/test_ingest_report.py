import msgspec

from kebab.app.ingest import group_suffixes, list_unread_kinds, to_ingest_report
from kebab.errors.catalog import DependencyMissing, ParseFailed
from kebab.ingest.job import IngestJob, IngestOutcome, build_item
from kebab.ingest.plan import Plan, ScanSummary
from kebab.ingest.run import build_report

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


def test_one_command_installs_all_extras():
    lacks = (INSTALL, "pip install 'kebab[code]'", "pip install apsw", INSTALL)
    errors = [DependencyMissing(feature="reading", install=install) for install in lacks]
    paths = [f"{number}.pdf" for number in range(len(lacks))]
    report = to_ingest_report(build_outcome(paths, errors))

    assert report.install == "pip install 'kebab[code,pdf]'"
    assert {kind.hint for kind in report.unread} == set(lacks)
    assert to_ingest_report(build_outcome(paths[2:3], errors[2:3])).install is None


def test_unsupported_formats_are_grouped_by_what_they_are():
    outcome = build_outcome(
        skipped_by_extension={".hwp": 2, ".hwpx": 1, ".gif": 9, ".foo": 1, "": 4},
        skip_examples={"unsupported": ["a.hwp", "b.gif"]},
    )
    kinds = list_unread_kinds(outcome)

    assert [(kind.label, kind.count, kind.extensions) for kind in kinds] == [
        ("Hangul document", 3, [".hwp", ".hwpx"]),
        ("image", 9, [".gif"]),
        ("file without an extension", 4, []),
        (".foo file", 1, [".foo"]),
    ]
    assert kinds[0].hint == "save it as DOCX, PDF or HTML"
    assert kinds[0].examples == ["a.hwp"]
    assert kinds[1].hint is None


def test_every_suffix_is_in_one_group():
    suffixes = {".png": 1, ".jpg": 2, ".foo": 3, "": 4}
    groups = group_suffixes(suffixes)

    assert sum(sum(group.values()) for group in groups.values()) == 10


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
