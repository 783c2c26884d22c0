from kebab.bench import edit
from tests.fakes.runner import VERSION


def test_one_edited_paragraph_is_compared_with_the_model_alone(make_rig, models):
    rig = make_rig(version=VERSION, models=models)

    edit.measure(rig)

    (figure,) = rig.ledger.figures
    assert (figure.name, figure.yardstick, figure.within) == (
        "edit.paragraph",
        "onnxruntime alone",
        True,
    )


def test_every_turn_changes_the_same_paragraph(make_rig, models):
    rig = make_rig(version=VERSION, models=models, runs=2)

    edit.measure(rig)

    (note,) = (rig.folder / "edit").rglob("*.md")
    assert note.read_text().count("Edited 2: ") == 1


def test_an_edit_that_embeds_more_than_it_changed_does_not_count(make_rig, models):
    rig = make_rig(version=VERSION, models=models, edited=2)

    edit.measure(rig)

    assert [(gap.name, gap.failed) for gap in rig.ledger.gaps] == [("edit.paragraph", True)]


def test_without_a_model_words_alone_follow_and_it_is_said(make_rig):
    rig = make_rig()

    edit.measure(rig)

    assert [one.name for one in rig.ledger.figures] == ["edit.paragraph"]
    assert [(gap.name, gap.failed) for gap in rig.ledger.gaps] == [("edit.vectors", False)]
