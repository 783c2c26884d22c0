from kebab.cli.render.canvas import Canvas
from kebab.cli.render.evals import render_comparison
from kebab.wire.evals import EvalChange, EvalComparison, EvalPair, EvalSide
from tests.fakes.outcomes import report


def change(name, difference, before, after):
    return EvalChange(
        id=name, query=f"question {name}", difference=difference, rank_a=before, rank_b=after
    )


def comparison(**changes):
    side = EvalSide(path="a.json", measured_at=None, versions=report().versions, corpus_revision=7)
    pair = {
        "mode_a": "hybrid",
        "mode_b": "hybrid",
        "metric": "mrr@10",
        "a": 0.5,
        "b": 0.75,
        "difference": 0.25,
        "low": 0.1,
        "high": 0.4,
        "p_value": 0.004,
        "wins": 7,
        "losses": 1,
        "ties": 2,
        "better": [change(str(at), 0.5, 2, 1) for at in range(7)],
        "worse": [change("lost", -1.0, 1, None)],
        **changes,
    }
    return EvalComparison(
        a=side,
        b=side,
        digest="d",
        questions=10,
        pairs=[EvalPair(**pair)],
        test="sign_flip",
        flips=10_000,
        resamples=1_000,
        level=0.95,
        seed=1,
    )


def drawn(canvas=None, **changes):
    return list(render_comparison(comparison(**changes), canvas or Canvas()))


def test_the_difference_is_shown_with_interval_and_p_value():
    lines = drawn()

    assert "10 questions" in lines[2]
    assert lines[4] == "hybrid  mrr@10"
    assert lines[5] == "  0.500 → 0.750   +0.250  (+0.100 … +0.400)   p = 0.0040"
    assert lines[6] == "  better 7, worse 1, the same 2"


def test_the_first_changed_questions_are_shown():
    lines = drawn()

    assert "  better, 5 of 7" in lines
    assert "    +0.50  2 → 1      question 0" in lines
    assert lines[-1] == "    -1.00  1 → -      question lost"


def test_two_modes_are_both_named_and_no_change_is_not_listed():
    lines = drawn(mode_b="lexical", better=[], worse=[])

    assert lines[4] == "hybrid → lexical  mrr@10"
    assert len(lines) == 7


def test_only_a_significant_difference_has_a_colour():
    canvas = Canvas(color=True)

    assert "\x1b[32m+0.250" in drawn(canvas)[5]
    assert "\x1b[31m\x1b[1m-0.250" in drawn(canvas, difference=-0.25)[5]
    assert "\x1b[2m+0.250" in drawn(canvas, p_value=0.2)[5]


def test_a_long_question_is_cut_to_the_width():
    long = [EvalChange(id="1", query="why " * 50, difference=1.0, rank_a=None, rank_b=1)]

    assert len(drawn(Canvas(width=60), better=long, worse=[])[-1]) <= 60
