import pytest
from msgspec.structs import replace

from kebab.cli.render.canvas import Canvas
from kebab.cli.render.errors import render_error_explanations, render_error_table
from kebab.errors.catalog import build_catalog
from kebab.wire.error import ErrorCatalog, build_error_row, build_error_rows


def rows(code=None) -> ErrorCatalog:
    return ErrorCatalog(
        errors=[build_error_row(build_catalog()[code])] if code else build_error_rows()
    )


def test_the_table_has_one_line_per_code():
    assert {line.split()[0] for line in render_error_table(rows(), Canvas())} == set(
        build_catalog()
    )


def test_a_terminal_shows_the_command_for_more():
    assert (
        list(render_error_table(rows(), Canvas(width=80)))[-1] == "more of one: kebab explain CODE"
    )


@pytest.mark.parametrize("code", build_catalog())
def test_an_explanation_is_readable_prose_with_the_facts(code):
    lines = list(render_error_explanations(rows(code), Canvas(width=60)))

    assert lines[0] == code
    assert all(len(line) <= 60 for line in lines)
    assert f"exit status  {build_catalog()[code].exit.value}" in lines


def test_explanations_are_separated_by_blank_lines():
    lines = list(render_error_explanations(rows(), Canvas(width=60)))

    assert [line for line in lines if line in build_catalog()] == sorted(build_catalog())
    assert lines[lines.index("context_overflow") - 1] == ""


def test_a_row_says_how_long_to_wait_and_that_it_is_reserved():
    busy = rows("model_busy")
    catalog = replace(busy, errors=[replace(row, reserved=True) for row in busy.errors])
    lines, reserved = (
        list(render_error_explanations(one, Canvas(width=60))) for one in (busy, catalog)
    )

    assert any(line.startswith("try again    after 2000 ms, then twice") for line in lines)
    assert "reserved     nothing raises it yet" in set(reserved) - set(lines)
