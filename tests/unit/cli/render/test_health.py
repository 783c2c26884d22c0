from msgspec.structs import replace

from kebab.app.classify import build_error_reply
from kebab.cli.commands.schema import list_commands
from kebab.cli.render.canvas import Canvas, measure_width
from kebab.cli.render.health import (
    render_command_list,
    render_doctor,
    render_install,
    render_model_list,
    render_overview,
    render_repair,
    render_repair_plan,
    render_schema,
)
from kebab.errors.catalog import NotIndexed
from kebab.wire.health import (
    InstallableClient,
    InstalledFile,
    InstallOverview,
    InstallReport,
    ModelList,
    MovedDatabase,
)
from tests.fakes import replies


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

    assert list(render_doctor(reply, Canvas()))[-1] == "no problem found"
    assert list(render_doctor(replies.doctor(replies.check()), Canvas()))[-1] == "healthy"


def test_the_list_fits_a_narrow_terminal():
    lines = list(render_command_list(list_commands(), Canvas(width=80)))

    assert max(map(measure_width, lines)) <= 80


ENTRY = InstalledFile(kind="mcp", path="/m", change="add")


def report(*files, dry_run=False):
    return InstallReport(integration="zed", files=list(files), dry_run=dry_run)


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
    assert lines[1].split() == ["codex", "found", "current", "outdated"]
    assert lines[2].split() == ["zed", "not", "found", "none", "absent"]
    assert lines[-2:] == ["install: kebab install CLIENT", "update: kebab install codex --mcp"]


def test_a_build_is_described_in_the_order_of_the_contract():
    reply = replies.introspection()
    counts = {f"text/{count}": count for count in range(1, 13)}
    many = replace(reply, stats=replace(reply.stats, media_breakdown=counts))
    lines = list(render_schema(many, Canvas()))

    blocks = ("wire schemas", "capabilities", "models", "stats")
    assert lines[0].startswith("kebab v")
    assert [line for line in lines if line in blocks] == list(blocks)
    assert "  error.v1, search_response.v1" in lines
    assert "  ✓ json_mode" in lines
    assert any(line.startswith("  index_bytes ") for line in lines)
    media = next(line for line in lines if "media_breakdown" in line)
    assert media.endswith("text/4 4, text/3 3, and 2 more with `--json`")


def test_an_index_that_cannot_be_read_is_reported_at_the_end():
    signal = NotIndexed(data_dir="/kb", expected="3", found=999)
    told = replace(
        replies.introspection(), unreadable=build_error_reply(signal, operation="schema")
    )

    assert list(render_schema(told, Canvas()))[-3:] == [
        "",
        "note: no usable index in /kb: its schema is 999, this build reads 3",
        "hint: pip install --upgrade kebab",
    ]


def test_the_model_in_use_is_marked():
    rows = [replies.model_row(), replies.model_row(name="other", active=False, installed=False)]

    lines = list(render_model_list(ModelList(models=rows, configured="auto"), Canvas()))

    assert "● all-MiniLM-L6-v2" in lines
    assert "○ other" in lines
    assert "    installed          no" in lines
    assert lines[-1] == "configured: auto"


def test_a_plan_says_what_would_be_done_and_what_may_be_lost():
    vectors, database = replies.repair("planned"), replies.repair("planned", check="database")

    lines = list(render_repair_plan(replies.repair_report(vectors, dry_run=True), Canvas()))
    losing = list(render_repair_plan(replies.repair_report(database, dry_run=True), Canvas()))

    assert lines == ["would  vectors: 1 vector of 2 missing", "  compute it again"]
    assert losing[-1].endswith("what only the database has cannot come back")


def test_what_was_moved_aside_is_named_with_what_it_had():
    moved = [MovedDatabase(path="/d/x", documents=2, sessions=1), MovedDatabase(path="/d/y")]

    lines = list(render_repair(replies.repair_report(replies.repair(), moved=moved), Canvas()))

    assert "moved aside: /d/x, it had 2 documents and 1 ask session" in lines
    assert "moved aside: /d/y" in lines
