"""Counts of documents are drawn as bars and columns that fit a terminal."""

import pytest
from msgspec.structs import replace

from kebab.cli.render.canvas import Canvas, measure_width
from kebab.cli.render.charts import render_bars, render_library, render_months
from kebab.cli.render.health import render_schema
from tests.fakes import replies

MOMENT = "2025-01-31T12:00:59.000Z"

LIBRARY = replace(
    replies.introspection().stats,
    doc_count=9,
    chunk_count=1200,
    pending_embeddings=1,
    last_ingest_at=MOMENT,
    media_breakdown={"text/markdown": 6, "application/pdf": 3},
    lang_breakdown={"en": 8, "unknown": 1},
    month_breakdown={"2020-01": 5, "2024-12": 1, "2025-01": 3},
    tag_breakdown={f"t{number}": 1 for number in range(8)},
)


def test_documents_are_charts_on_a_terminal():
    lines = list(render_library(LIBRARY, Canvas(width=80)))

    assert lines[:13] == [
        "9 documents, 1,200 passages (1 not embedded yet), last change 2025-01-31 12:00",
        *["", "formats"],
        "  Markdown  6  " + "█" * 24,
        "  PDF       3  " + "█" * 12,
        *["", "languages"],
        "  English  8  " + "█" * 24,
        "  unknown  1  ███",
        *["", "months"],
        f"  2022-02 {' ' * 34}▃█ 2025-01",
        "  at most 3 in 2025-01, 5 before 2022-02",
    ]
    assert "  and 2 more" in lines
    schema = list(render_schema(replace(replies.introspection(), stats=LIBRARY), Canvas(width=80)))
    assert "  PDF       3  " + "█" * 12 in schema
    assert not any("media_breakdown" in line for line in schema)


@pytest.mark.parametrize("width", [80, 120])
def test_charts_fit_the_terminal(width):
    stats = replace(LIBRARY, tag_breakdown={"낱말" * 40: 1_000_000, "b": 1})

    assert all(measure_width(line) <= width for line in render_library(stats, Canvas(width=width)))


def test_nothing_is_drawn_without_documents():
    assert [*render_bars("tags", {}, Canvas(width=80)), *render_months({}, Canvas(width=80))] == []
