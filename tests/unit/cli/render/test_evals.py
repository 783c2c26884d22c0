import msgspec
import pytest

from kebab.cli.render.canvas import Canvas
from kebab.cli.render.evals import render_evaluation
from kebab.wire.evals import EvalDegraded, EvalSkipped
from tests.fakes.outcomes import mode, nothing, outcome, report

ONE = mode(outcome("a"), outcome("b", 2, score=0.35), nothing("c"))
TWO = mode(outcome("a", 2), outcome("b", None), mode="lexical")


def drawn(*modes, width=None, **changes):
    return list(render_evaluation(report(*modes, **changes), Canvas(width=width)))


def line(lines, label):
    (found,) = [one for one in lines if one.strip().startswith(label)]
    return found.split()


def test_metrics_are_rows_and_modes_are_columns():
    lines = drawn(ONE, TWO)

    assert line(lines, "hit@5")[1] == "1.000"
    assert line(lines, "MRR@10") == ["MRR@10", "0.750", "±0.250", "0.250", "±0.250"]
    assert "hybrid           lexical" in lines[4]


def test_an_unknown_value_is_a_dash_and_a_row_without_values_is_omitted():
    assert line(drawn(ONE, TWO), "precision")[-1] == "-"
    assert not [one for one in drawn(TWO, TWO) if "precision" in one]


def test_the_best_of_several_modes_is_bold():
    lines = list(render_evaluation(report(ONE, TWO), Canvas(color=True)))
    (row,) = [one for one in lines if "MRR@10" in one]

    assert "\x1b[1m0.750" in row
    assert "\x1b[1m0.250" not in row


def test_the_bars_show_the_right_share_and_the_mean_score():
    lines = drawn(ONE)

    assert line(lines, "0.7 …") == ["0.7", "…", "0.8", "████████▓▓", "1"]
    assert line(lines, "0.3 …") == ["0.3", "…", "0.4", "░░░░", "1"]
    assert not [one for one in lines if "0.8 … 0.9" in one]


def test_the_curve_of_hits_grows_from_left_to_right():
    (at,) = [place for place, one in enumerate(drawn(ONE)) if one.startswith("hit@1 … hit@10")]

    assert drawn(ONE)[at + 1].split() == ["▅█████████"]


def test_a_deep_curve_is_rendered_in_few_columns():
    deep = msgspec.structs.replace(ONE, hit_curve=[number / 999 for number in range(1000)])

    (curve,) = [one for one in drawn(deep) if one.strip().startswith("▁")]
    assert curve.strip() == "▁▁▂▂▃▃▄▄▅▅▆▆▇▇██"


@pytest.mark.parametrize("width", [40, 60, 80])
def test_no_row_is_wider_than_the_canvas(width):
    lines = drawn(ONE, TWO, width=width)[3:]

    assert max(len(one) for one in lines if "█ right" not in one) <= width


def test_notes_of_an_evaluation_are_shown():
    golden = msgspec.structs.replace(report().golden, missing=["gone.md"], missing_count=12)
    degraded = [EvalDegraded(channel="vector", reason="no model", questions=3)]
    skipped = [EvalSkipped(mode="vector", reason="no weights")]

    told = drawn(msgspec.structs.replace(TWO, degraded=degraded), golden=golden, skipped=skipped)[
        -3:
    ]

    assert told == [
        "note: not indexed, and so never found: gone.md and 11 more",
        "note: vector was not measured: no weights",
        "note: lexical: vector did not answer 3 questions: no model",
    ]


def test_an_index_that_changed_is_reported():
    assert drawn(ONE, moved=True)[-1].startswith("note: the index changed during the run")


def test_a_report_without_modes_has_only_a_title():
    assert len(drawn()) == 3


def test_a_run_without_an_answerable_question_has_no_curve():
    assert not [one for one in drawn(mode(nothing("a"))) if "hit@1 …" in one]


def test_a_mode_without_a_value_does_not_hide_the_best_of_the_others():
    empty = mode(nothing("c"), mode="vector")
    bare = msgspec.structs.replace(empty, figures=[])

    for other in (empty, bare):
        lines = list(render_evaluation(report(ONE, TWO, other), Canvas(color=True)))
        (row,) = [one for one in lines if "MRR@10" in one]
        assert "\x1b[1m0.750" in row
        assert "\x1b[1m0.250" not in row
