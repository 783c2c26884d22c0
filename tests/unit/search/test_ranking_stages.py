from kebab.search.ranking import StageTimer


def test_a_stage_lasts_from_the_end_of_the_one_before():
    stages = StageTimer(iter([0.0, 0.010, 0.015, 0.030]).__next__)

    stages.note("parse", 3)
    stages.note("lexical", 7, "2 terms")

    assert [(one.stage, one.duration_ms, one.candidates, one.note) for one in stages.all()] == [
        ("parse", 10.0, 3, ""),
        ("lexical", 5.0, 7, "2 terms"),
    ]
    assert stages.elapsed_ms() == 30.0
