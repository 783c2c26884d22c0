import pytest

from kebab.cli.render.canvas import Canvas
from kebab.cli.render.health import render_model_list, render_model_report
from kebab.wire.health import ModelList
from tests.fakes import replies


def test_the_model_in_use_is_marked():
    rows = [replies.model_row(), replies.model_row(name="other", active=False, installed=False)]

    lines = list(render_model_list(ModelList(models=rows, configured="auto"), Canvas()))

    assert "● all-MiniLM-L6-v2" in lines
    assert "○ other" in lines
    assert "    weights    not on this machine" in lines
    assert lines[-1] == "configured: auto"


def test_the_reason_for_the_active_model_is_shown():
    reply = ModelList(models=[replies.model_row()], configured="auto", reason="the text is English")

    assert list(render_model_list(reply, Canvas()))[-1] == "chosen because the text is English"


@pytest.mark.parametrize(
    ("rates", "told"),
    [
        ({}, "installed, 23.0 MB, fp32"),
        (
            {"int8": 42.0, "fp32": 77.4},
            "installed, 23.0 MB, fp32 (texts/s at installation: int8 42, fp32 77)",
        ),
    ],
)
def test_the_precision_is_shown_with_its_speed(rates, told):
    row = replies.model_row(precision="fp32", texts_per_second=rates)

    lines = list(render_model_list(ModelList(models=[row], configured="auto"), Canvas()))

    assert f"    weights    {told}" in lines


def test_without_weights_the_download_command_is_shown():
    rows = [replies.model_row(installed=False, bytes=None)]

    assert list(render_model_list(ModelList(models=rows, configured="auto"), Canvas()))[
        -1
    ].startswith("fetch")


def test_a_change_reports_embedded_and_pending_passages():
    lines = list(
        render_model_report(replies.model_report(fetched=False, embedded=5, pending=1), Canvas())
    )

    assert lines[0] == "all-MiniLM-L6-v2  already here"
    assert lines[-3:] == [
        "5 passages embedded again",
        "note: 1 passage still without a vector",
        "hint: kebab ingest",
    ]


def test_an_interrupted_change_names_the_command_to_continue():
    report = replies.model_report(embedded=5, pending=3, resume="kebab model use other")

    assert list(render_model_report(report, Canvas()))[-2:] == [
        "note: 3 passages left; until then searches use the old model and vectors",
        "hint: kebab model use other",
    ]
