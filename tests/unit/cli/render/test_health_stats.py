import pytest
from msgspec.structs import replace

from kebab.cli.render.canvas import Canvas, measure_width
from kebab.cli.render.health import render_stats
from kebab.wire.review import ReviewStats, TierStats
from tests.fakes.review_stream import make_tiers

MOMENT = "2025-01-31T12:00:59.000Z"


def render(*tiers, since=None, width=80):
    return list(render_stats(ReviewStats(since=since, tiers=list(tiers)), Canvas(width=width)))


def test_a_tier_is_a_column_and_a_counter_a_line():
    assert render(*make_tiers()) == [
        "                         quick  micro-check",
        "runs                         3            1",
        "parts of text            1,234            0",
        "findings                    56            0",
        "requests                    40            0",
        "findings per response      1.2            -",
        "tokens read             12,345            -",
        "tokens written             678            -",
        "time of a request        1.2 s            -",
        "lower limits                 2            0",
        "pages cut short              0            0",
        "pages asked again            0            0",
        "responses repaired           0            0",
    ]


def test_the_start_of_the_period_is_said():
    assert render(*make_tiers(), since=MOMENT)[:2] == ["work since 2025-01-31 12:00 UTC", ""]
    assert render(since=MOMENT) == ["no reviews and no translations since 2025-01-31 12:00 UTC"]
    assert render() == ["no reviews and no translations"]


def test_a_pipe_gets_one_line_per_tier_with_the_fields_of_the_record():
    first, second = render(*make_tiers(), width=None)

    assert first.split("\t")[:5] == ["review", "quick", "3", "1234", "56"]
    assert len(second.split("\t")) == len(TierStats.__struct_fields__)


def test_a_pipe_gets_rounded_numbers():
    (line,) = render(replace(make_tiers()[0], latency_ms=93.24486799596343), width=None)

    assert "\t93.2\t" in line


@pytest.mark.parametrize("width", [80, 120])
def test_all_tiers_fit(width):
    names = ("deep", "draft", "micro-check", "quality", "quick", "revise")
    tiers = [replace(make_tiers()[0], tier=name) for name in names]
    assert max(map(measure_width, render(*tiers, width=width))) <= 80
