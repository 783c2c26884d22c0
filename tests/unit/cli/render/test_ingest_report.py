import pytest

from kebab.app.classify import build_error_reply
from kebab.cli.render.canvas import Canvas
from kebab.cli.render.ingest import render_ingest_report
from kebab.errors.catalog import DependencyMissing, ParseFailed
from kebab.wire.ingest import EmbeddingSummary
from tests.fakes import replies


def drawn(report, *, verbose=False):
    return list(render_ingest_report(report, Canvas(), verbose=verbose))


def failed(name, cause="no text"):
    fault = ParseFailed(path=name, parser="markdown", cause=cause)
    return replies.item(
        kind="error", doc_path=name, error=build_error_reply(fault, operation="ingest")
    )


def test_the_counts_are_one_line_and_verbose_names_what_was_left_out():
    counts = "10 documents, 12 files found, in 1.2 s: 3 new, 7 unchanged, 2 left out"
    embedded = "embedded  3 new passages, with all-minilm-l6-v2"

    assert drawn(replies.ingest_report()) == [counts, embedded]
    assert drawn(replies.ingest_report(), verbose=True) == [
        counts,
        "left out",
        "  - 2 binary: a.png, …",
        "slowest files",
        "  - ops/backup.md: 0.04 s",
        embedded,
    ]


def test_unread_formats_are_named_with_what_would_make_them_readable():
    report = replies.ingest_report(
        skipped_by_reason={"unsupported": 30, "ocr_off": 3},
        skipped_by_extension={".one": 17, ".onetoc2": 1, ".foo": 8, "": 4, ".png": 2, ".tif": 1},
        skip_examples={"unsupported": ["a.one"], "ocr_off": ["a.png"]},
    )
    brief, text = "\n".join(drawn(report)), "\n".join(drawn(report, verbose=True))

    formats = "OneNote section (18), .foo file (8), file without an extension (4), 1 more"
    assert f"formats not read: {formats}" in brief
    assert "  - 30 of formats that kebab does not read: a.one, …\n" in text
    assert "formats not read\n" in text
    assert "  - OneNote section (18): export it as PDF or DOCX" in text
    assert "  - image (3): export KEBAB_INGEST_OCR=true" in text


def test_a_missing_library_is_named_once_and_not_for_every_file():
    missing = DependencyMissing(feature="PDF files", install="pip install 'kebab[pdf]'")
    error = build_error_reply(missing, operation="ingest")
    items = [replies.item(kind="error", doc_path=f"{one}.pdf", error=error) for one in range(312)]
    report = replies.ingest_report(errors=312, items=items)
    lines = drawn(report, verbose=True)

    assert "formats not read: PDF (312); --verbose says more" in drawn(report)
    assert len([line for line in lines if "kebab[pdf]" in line]) == 1


@pytest.mark.parametrize("width", [80, 120])
def test_the_summary_fits_the_terminal(width):
    report = replies.ingest_report(
        skipped_by_reason={"unsupported": 30, "hidden": 4, "excluded": 3},
        skip_examples={"hidden": [".a" * 30, ".b" * 30]},
        skipped_by_extension={f".{number}xxxxxxxx": 1 for number in range(9)},
        items=[failed(f"{number}.md") for number in range(12)],
    )
    lines = list(render_ingest_report(report, Canvas(width=width)))

    assert all(len(line) <= width for line in lines), lines
    assert len(lines) <= 5


def test_documents_without_text_or_with_a_part_of_it_are_named():
    cut = "only the first 20 of 60 lines are searched"
    report = replies.ingest_report(
        items=[
            replies.item(doc_path="a.md", warnings=["x"], no_passages="no text"),
            *(replies.item(doc_path=f"{n}.csv", warnings=[cut]) for n in range(12)),
            replies.item(doc_path="b.xls", warnings=["one is hidden", "two is hidden"]),
        ]
    )
    text = "\n".join(drawn(report, verbose=True))

    assert drawn(report)[1] == (
        "read in part: 0.csv, 1.csv, 2.csv, 9 more; "
        "with warnings: b.xls; without text: a.md; --verbose says more"
    )
    assert "without text\n  - a.md: no text" in text
    assert "read in part\n  - 0.csv: only" in text
    assert f"  - 11.csv: {cut}" in text
    assert "  - b.xls: one is hidden; two is hidden" in text


def test_files_that_somebody_may_miss_are_told_and_hidden_ones_are_not():
    report = replies.ingest_report(skipped_by_reason={"hidden": 3, "over_limit": 2})

    assert drawn(report)[1].startswith("left out: 2 larger than `ingest.max_file_bytes`; ")


def test_without_a_model_the_hint_is_not_the_same_command_again():
    report = replies.ingest_report(
        embedding=EmbeddingSummary(
            version="m",
            embedded=0,
            reused=0,
            pending=2,
            unsupported=0,
            lost=2,
            unavailable="working offline",
            hint="kebab model pull m",
        )
    )

    assert drawn(report)[-3:] == [
        "note: 2 vectors lost or damaged",
        "note: 2 passages not embedded, words find them: working offline",
        "hint: kebab model pull m",
    ]


@pytest.mark.parametrize(
    ("documents", "step"),
    [
        (2, "next: kebab search WORDS"),
        (0, "nothing to search in; read another folder: kebab ingest FOLDER"),
    ],
)
def test_the_first_report_names_what_to_try_next(documents, step):
    reply = replies.ingest_report(documents=documents)

    first = list(render_ingest_report(reply, Canvas(width=80), is_first=True))

    assert first[-1] == step
    assert step not in list(render_ingest_report(reply, Canvas(width=80)))
