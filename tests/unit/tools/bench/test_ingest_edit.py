import json

import pytest

from kebab.bench.sandbox import Outcome, write_notes
from tests.fakes.runner import VERSION
from tools.bench import ingest
from tools.bench.ingest import find_changed_files


def test_one_edited_paragraph_is_compared_with_the_model_alone(make_context, models):
    context = make_context(version=VERSION, models=models)

    ingest.measure_edit(context)

    (figure,) = context.results.figures
    assert (figure.name, figure.yardstick, figure.within) == (
        "edit.paragraph",
        "onnxruntime alone",
        True,
    )


def test_every_turn_changes_the_same_paragraph(make_context, models):
    context = make_context(version=VERSION, models=models, runs=2)

    ingest.measure_edit(context)

    (note,) = (context.folder / "edit").rglob("*.md")
    assert note.read_text().count("Edited 2: ") == 1


def test_an_edit_that_embeds_more_than_it_changed_does_not_count(make_context, models):
    context = make_context(version=VERSION, models=models, edited=2)

    ingest.measure_edit(context)

    assert [(gap.name, gap.failed) for gap in context.results.gaps] == [("edit.paragraph", True)]


def test_without_a_model_the_edit_is_lexical_and_the_gap_is_reported(make_context):
    context = make_context()

    ingest.measure_edit(context)

    assert [one.name for one in context.results.figures] == ["edit.paragraph"]
    assert [(gap.name, gap.failed) for gap in context.results.gaps] == [("edit.vectors", False)]


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


@pytest.fixture
def corpus(tmp_path):
    return write_notes(tmp_path / "files", 12, 1)


@pytest.mark.parametrize(("unchanged", "fault"), [(3, None), (2, "2 of 3 files unchanged")])
def test_a_second_run_counts_when_nothing_changed(corpus, unchanged, fault):
    outcome = Outcome(status=0, seconds=1, out=json.dumps({"unchanged": unchanged}).encode())

    assert find_changed_files(outcome, corpus) == fault


def test_a_second_run_that_fails_does_not_count(corpus):
    assert find_changed_files(Outcome(status=2, seconds=1), corpus) == "exit status 2"
