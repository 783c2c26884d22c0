import pytest

from kebab.core.chunks import Answerability, AnswerabilityCurve
from kebab.search.answerability import LEXICAL, PRECISION
from tools.calibrate.cases import save_cases
from tools.calibrate.run import (
    Curves,
    compute_calibration_error,
    fit_curves,
    main,
    render_table,
)

_FLAT = AnswerabilityCurve(words=0.0, cosine=0.0, evidence=0.0, length=0.0, start=0.0)
_WHOLE = "one/queries hybrid 80 0.500 0.000 1.000 1.000 0.400 0.650"
_FOREIGN = "one/queries-de hybrid 1 0.000 1.000 - - 0.100 0.100"


def test_the_table_has_a_line_for_each_file_of_questions(cases, make_case):
    other = make_case(rank=2, questions="queries-de")

    head, first, second, foreign = render_table([*cases, other], [0.9] * len(cases) + [0.1])

    assert head.split()[:3] == ["questions", "mode", "n"]
    assert " ".join(first.split()) == _WHOLE
    assert second.startswith("two/queries")
    assert " ".join(foreign.split()) == _FOREIGN


def test_curves_without_cases_stay_as_they_are(cases):
    today = Curves(Answerability(hybrid=_FLAT, vector=_FLAT, absent=_FLAT), LEXICAL, PRECISION)

    fitted = fit_curves(cases, today, 0.02)

    assert fitted.model.hybrid != _FLAT
    assert (fitted.model.vector, fitted.model.foreign) == (_FLAT, None)
    assert fitted.lexical == LEXICAL


def test_the_calibration_error_is_the_mean_distance_over_bins(make_case):
    row = [(make_case(rank=1), 0.9), (make_case(rank=2), 0.9), (make_case("related"), 0.1)]

    assert compute_calibration_error(row) == pytest.approx((0.8 + 0.1) / 3)
    assert compute_calibration_error([]) is None


def test_kept_cases_are_not_collected_again(tmp_path, cases, capsys):
    save_cases(tmp_path / "cases.jsonl", cases)

    arguments = [str(tmp_path), "--bases", str(tmp_path), "--cases", str(tmp_path / "cases.jsonl")]
    assert main(arguments) == 0

    printed = capsys.readouterr().out
    assert printed.count("one/queries") == 3
    assert "each set with a fit on the others" in printed
