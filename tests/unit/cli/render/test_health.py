import pytest
from msgspec.structs import replace

from kebab.app.classify import build_error_reply
from kebab.cli.render.canvas import Canvas, measure_width
from kebab.cli.render.health import (
    render_doctor,
    render_install,
    render_model_list,
    render_model_report,
    render_overview,
    render_schema,
    render_stats,
)
from kebab.errors.catalog import NotIndexed
from kebab.wire.health import (
    InstallableClient,
    InstalledFile,
    InstallOverview,
    InstallReport,
    ModelList,
)
from kebab.wire.review import ReviewStats, TierStats
from tests.fakes import replies
from tests.fakes.review_stream import make_tiers


def test_each_check_has_its_mark_and_each_problem_its_fix():
    reply = replies.doctor(
        replies.check(name="disk", fix="unused"),
        replies.check(name="database", status="fail", summary="damaged", fix="kebab reset"),
        replies.check(name="language_model", status="warn", summary="silent"),
        replies.check(name="probe", status="skip", summary="no model"),
    )

    assert list(render_doctor(reply, Canvas())) == [
        "kebab v0.1.0",
        "",
        "  ✓ disk               integrity check passed",
        "  ✗ database           damaged",
        "                       fix: kebab reset",
        "  ! language_model     silent",
        "  - probe              no model",
        "",
        "1 problem to fix",
    ]


def test_nothing_is_healthy_that_is_not_read():
    reply = replies.doctor(replies.check(), coverage=replies.coverage(unread=3, checked=5000))

    assert list(render_doctor(reply, Canvas()))[-1] == (
        "no problem found, but 3 of 5,003 files are not read yet"
    )


ENTRY = InstalledFile(kind="mcp", path="/m", change="add")


def report(*files, dry_run=False):
    first = files[0]
    return InstallReport(
        integration="zed",
        path=first.path,
        change=first.change,
        files=list(files),
        dry_run=dry_run,
    )


def test_each_file_has_a_line():
    replaced = InstalledFile(kind="skill", path="/s", change="replace", backup="/s.bak")

    assert list(render_install(report(replaced, ENTRY), Canvas())) == [
        "replaced: /s",
        "note: your version is kept: /s.bak",
        "entry added: /m",
    ]


CLIENTS = InstallOverview(
    clients=[
        InstallableClient(
            name="codex",
            title="Codex",
            found=True,
            mcp="outdated",
            mcp_path="/m",
            skill="current",
            skill_path="/s",
        ),
        InstallableClient(name="zed", title="Zed", found=False, mcp="absent", mcp_path="/z"),
    ]
)


def test_clients_are_a_table_on_a_terminal():
    lines = list(render_overview(CLIENTS, Canvas(width=80)))

    assert lines[0].split("  ")[0] == "client"
    assert "up to date" in lines[2]
    assert "outdated" in lines[2]
    assert lines[3].split() == ["zed", "no", "reads", "none", "not", "installed"]
    assert lines[-2:] == ["install: kebab install CLIENT", "update: kebab install codex --mcp"]


def test_four_blocks_follow_the_header():
    lines = list(render_schema(replies.introspection(), Canvas()))

    assert lines[0] == "kebab v0.1.0"
    assert [lines[at + 1] for at, line in enumerate(lines) if line == ""] == [
        "stats",
        "models",
        "capabilities",
        "wire schemas",
    ]


def test_the_names_of_schemas_are_folded_unless_asked_for():
    folded = "\n".join(render_schema(replies.introspection(), Canvas()))
    listed = "\n".join(render_schema(replies.introspection(), Canvas(), verbose=True))

    assert "error.v1, search_response.v1" not in folded
    assert "print one: kebab schema NAME" in folded
    assert "error.v1, search_response.v1" in listed


def test_an_index_that_cannot_be_read_is_reported_at_the_end():
    signal = NotIndexed(data_dir="/kb", expected=3, found=999)
    told = replace(
        replies.introspection(), unreadable=build_error_reply(signal, operation="schema")
    )

    assert list(render_schema(told, Canvas()))[-3:] == [
        "",
        "note: no usable index in /kb: its schema is 999, this build reads 3",
        "hint: pip install --upgrade kebab",
    ]


def test_the_reason_for_the_active_model_is_shown():
    reply = ModelList(
        models=[replies.model_row()], configured="auto", reason="your notes are English"
    )

    assert list(render_model_list(reply, Canvas()))[-1] == "chosen because your notes are English"


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
        "note: 1 passage not embedded yet",
        "hint: kebab ingest",
    ]


def test_an_interrupted_change_names_the_command_to_continue():
    report = replies.model_report(embedded=5, pending=3, resume="kebab model use other")

    assert list(render_model_report(report, Canvas()))[-2:] == [
        "note: 3 passages left; until then searches use the old model and vectors",
        "hint: kebab model use other",
    ]


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


def test_a_pipe_gets_the_counts_of_documents():
    library = replace(replies.introspection().stats, doc_count=3, media_breakdown={"text/plain": 3})

    lines = list(render_stats(ReviewStats(since=None, tiers=[], library=library), Canvas()))

    assert lines[0] == "doc_count\t3"
    assert "media\ttext/plain\t3" in lines


def test_a_pipe_gets_rounded_numbers():
    (line,) = render(replace(make_tiers()[0], latency_ms=93.24486799596343), width=None)

    assert "\t93.2\t" in line


@pytest.mark.parametrize("width", [80, 120])
def test_all_tiers_fit(width):
    names = ("deep", "draft", "micro-check", "quality", "quick", "revise")
    tiers = [replace(make_tiers()[0], tier=name) for name in names]
    assert max(map(measure_width, render(*tiers, width=width))) <= 80
