import pytest

from tools.bench import ingest


def test_a_run_that_finds_nothing_changed_is_compared_with_a_look_at_every_file(make_context):
    context = make_context()

    ingest.measure_files(context, 20)

    figures = {one.name: one for one in context.results.figures}
    assert {"files.fts5", "files.ingest", "files.stat", "files.noop"} <= set(figures)
    assert (figures["files.noop"].ratio, figures["files.noop"].within) == (1.0, True)


def test_plain_text_is_compared_with_markdown_and_with_what_sqlite_takes_for_it(make_context):
    context = make_context()

    ingest.measure_files(context, 20)

    figures = {one.name: one for one in context.results.figures}
    assert figures["files.text"].yardstick == figures["files.ingest"].yardstick
    rate, markdown = figures["files.text_bytes"], figures["files.bytes"]
    assert rate.yardstick == "files.bytes"
    assert rate.ratio == pytest.approx(rate.median / markdown.median)
    assert rate.budget is not None


def test_files_that_could_not_be_indexed_are_one_failure(make_context):
    context = make_context(broken="ingest")

    ingest.measure_files(context, 20)

    assert [(gap.name, gap.failed) for gap in context.results.gaps] == [("files", True)]
