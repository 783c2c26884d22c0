from tests.fakes.runner import VERSION
from tools.bench import ingest


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
