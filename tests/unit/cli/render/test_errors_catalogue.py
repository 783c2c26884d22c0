import pytest

from kebab.cli.render.canvas import Canvas
from kebab.cli.render.errors import draw_explanation, draw_table
from kebab.errors.listing import catalog
from kebab.wire.catalog import build_error_row, build_error_rows
from kebab.wire.error import ErrorCatalog


def rows(code=None) -> ErrorCatalog:
    return ErrorCatalog(errors=[build_error_row(catalog()[code])] if code else build_error_rows())


def test_the_table_has_one_line_per_code():
    assert {line.split()[0] for line in draw_table(rows(), Canvas())} == set(catalog())


def test_a_person_learns_where_there_is_more():
    assert list(draw_table(rows(), Canvas(width=80)))[-1] == "more of one: kebab explain CODE"


@pytest.mark.parametrize("code", catalog())
def test_an_explanation_is_readable_prose_with_the_facts(code):
    lines = list(draw_explanation(rows(code), Canvas(width=60)))

    assert lines[0] == code
    assert not any(line.startswith(" ") for line in lines)
    assert f"exit status  {catalog()[code].meaning.exit.value}" in lines


def test_all_explanations_stand_apart():
    lines = list(draw_explanation(rows(), Canvas(width=60)))

    assert [line for line in lines if line in catalog()] == sorted(catalog())
    assert lines[lines.index("context_overflow") - 1] == ""


def test_a_row_says_how_long_to_wait_and_that_it_is_reserved():
    busy, unauthorized = (
        list(draw_explanation(rows(code), Canvas(width=60)))
        for code in ("model_busy", "unauthorized")
    )

    assert any(line.startswith("try again    after 2000 ms, then twice") for line in busy)
    assert "reserved     nothing raises it yet" in unauthorized
