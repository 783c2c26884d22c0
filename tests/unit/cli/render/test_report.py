from kebab.app.classify import build_error_reply
from kebab.cli.render.canvas import Canvas
from kebab.cli.render.report import render_ingest_report
from kebab.errors.catalog import ParseFailed
from kebab.wire.ingest import EmbeddingSummary
from tests.fakes import replies


def drawn(report, *, verbose=False):
    return list(render_ingest_report(report, Canvas(), verbose=verbose))


def failed(name):
    fault = ParseFailed(path=name, parser="markdown", cause="no text")
    return replies.item(
        kind="error", doc_path=name, error=build_error_reply(fault, operation="ingest")
    )


def test_counts_and_what_was_left_out_are_shown():
    assert drawn(replies.ingest_report()) == [
        "10 documents, 12 files found, in 1.2 s",
        "  new        3",
        "  unchanged  7",
        "  skipped    2",
        "left out",
        "      2  binary  a.png, …",
        "vectors  3 computed, 0 reused with fastembed-minilml6-384-v1",
    ]


def test_every_failed_file_is_named_until_there_are_too_many():
    items = [failed(f"{number}.md") for number in range(12)]
    report = replies.ingest_report(errors=12, items=items)

    brief, full = drawn(report), drawn(report, verbose=True)

    assert "  0.md: cannot parse 0.md: no text" in brief
    assert "  and 2 more; --verbose lists them all" in brief
    assert "  11.md: cannot parse 11.md: no text" in full


def test_odd_files_are_counted_and_named_on_request():
    report = replies.ingest_report(items=[replies.item(warnings=["odd encoding"])])

    assert "1 file with warnings; --verbose shows them" in drawn(report)
    assert "  ops/backup.md: odd encoding" in drawn(report, verbose=True)


def test_pending_passages_have_a_reason_and_a_hint():
    none = EmbeddingSummary(version=None, embedded=0, reused=0, pending=17, unsupported=0)
    some = EmbeddingSummary(version="m", embedded=1, reused=0, pending=1, unsupported=5)

    assert "note: 17 passages without a vector, because no model is available" in drawn(
        replies.ingest_report(embedding=none)
    )
    assert "note: 1 passage still without a vector" in drawn(replies.ingest_report(embedding=some))


def test_the_reason_for_the_model_is_reported():
    chosen = EmbeddingSummary(
        version="m", embedded=2, reused=0, pending=0, unsupported=0, reason="the text is English"
    )

    assert "note: this model was chosen because the text is English" in drawn(
        replies.ingest_report(embedding=chosen)
    )


def test_a_better_model_is_advised_with_its_command():
    advised = EmbeddingSummary(
        version="m",
        embedded=2,
        reused=0,
        pending=0,
        unsupported=0,
        advice="40 % of the text is Korean, which m does not know",
        hint="kebab model use other",
    )
    said = drawn(replies.ingest_report(embedding=advised))

    assert "note: 40 % of the text is Korean, which m does not know" in said
    assert "hint: kebab model use other" in said


def test_lost_vectors_are_reported():
    lost = EmbeddingSummary(version="m", embedded=2, reused=0, pending=0, unsupported=0, lost=2)
    said = "note: 2 vectors lost or damaged; their passages were embedded again"

    assert said in drawn(replies.ingest_report(embedding=lost))


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
        "note: 2 passages without a vector: working offline",
        "hint: kebab model pull m",
    ]


def test_passages_in_an_unsupported_script_are_reported():
    some = EmbeddingSummary(version="m", embedded=1, reused=0, pending=0, unsupported=5)
    said = "note: 5 passages in a script the model does not know; words find them"

    assert said in drawn(replies.ingest_report(embedding=some))
    assert said not in drawn(replies.ingest_report())


def test_a_dry_run_and_an_interrupted_run_are_reported_first():
    assert drawn(replies.ingest_report(dry_run=True))[0].endswith("nothing was written")
    assert drawn(replies.ingest_report(cancelled=True))[0].startswith("interrupted after 1.2 s")


def test_slow_files_are_named_on_request():
    assert "    0.04 s  ops/backup.md" in drawn(replies.ingest_report(), verbose=True)
    assert "slowest files" not in drawn(replies.ingest_report())
