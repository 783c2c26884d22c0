from kebab.search.retrieval import StageTimer


def test_a_stage_lasts_from_the_end_of_the_one_before():
    timer = StageTimer(iter([0.0, 0.010, 0.015, 0.030]).__next__)

    timer.record("parse", 3)
    timer.record("lexical", 7, "2 terms")

    assert [(one.stage, one.duration_ms, one.candidates, one.note) for one in timer.stages] == [
        ("parse", 10.0, 3, ""),
        ("lexical", 5.0, 7, "2 terms"),
    ]
    assert timer.get_elapsed_ms() == 30.0
