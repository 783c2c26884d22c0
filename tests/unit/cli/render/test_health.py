from msgspec.structs import replace

from kebab.app.classify import build_error_reply
from kebab.cli.commands.schema import list_commands
from kebab.cli.render.canvas import Canvas, measure_width
from kebab.cli.render.health import (
    render_command_list,
    render_doctor,
    render_init,
    render_install,
    render_model_list,
    render_model_report,
    render_overview,
    render_schema,
)
from kebab.errors.catalog import NotIndexed
from kebab.wire.health import (
    InstallableClient,
    InstalledFile,
    InstallOverview,
    InstallReport,
    ModelList,
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


def test_warnings_leave_the_result_healthy():
    assert (
        list(render_doctor(replies.doctor(replies.check(status="warn")), Canvas()))[-1]
        == "healthy, 1 note"
    )


def test_long_summaries_are_wrapped_under_themselves():
    reply = replies.doctor(replies.check(name="disk", summary="word " * 20))

    lines = list(render_doctor(reply, Canvas(width=50)))[2:-2]

    assert all(len(line) <= 50 for line in lines)
    assert all(line.startswith(f"{'':23}word") for line in lines[1:])


def test_nothing_is_healthy_that_is_not_read():
    reply = replies.doctor(replies.check(), coverage=replies.coverage(unread=3, checked=5000))

    assert list(render_doctor(reply, Canvas()))[-1] == (
        "no problem found, but 3 of 5,003 files are not read yet"
    )


def test_the_list_fits_a_narrow_terminal():
    lines = list(render_command_list(list_commands(), Canvas(width=80)))

    assert max(map(measure_width, lines)) <= 80


def test_in_a_pipe_each_command_is_one_line():
    listed = list_commands()
    lines = list(render_command_list(listed, Canvas()))

    assert lines[: len(listed.commands)] == [
        f"{command.usage}  {command.summary}" for command in listed.commands
    ]


SKILL = InstalledFile(kind="skill", path="/s", change="none")
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


def test_a_file_without_anything_is_named_only_when_there_is_no_other():
    assert list(render_install(report(SKILL, ENTRY), Canvas())) == ["entry added: /m"]
    assert list(render_install(report(SKILL), Canvas())) == ["not installed: /s"]


def test_an_entry_is_removed_and_its_file_is_not():
    removed = InstalledFile(kind="mcp", path="/m", change="remove")

    assert list(render_install(report(removed), Canvas())) == ["entry removed: /m"]
    assert list(render_install(report(removed, dry_run=True), Canvas())) == [
        "entry would be removed: /m"
    ]


def test_a_planned_change_is_worded_as_such():
    shown = render_install(report(ENTRY, dry_run=True), Canvas())

    assert list(shown) == ["entry would be added: /m"]


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


def test_clients_have_one_line_each_in_a_pipe():
    assert list(render_overview(CLIENTS, Canvas())) == [
        "codex\tfound\tcurrent\toutdated",
        "zed\tnot found\tnone\tabsent",
    ]


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


def test_keys_are_padded_and_missing_capabilities_have_a_mark():
    lines = list(render_schema(replies.introspection(), Canvas()))

    assert "  ✓ json_mode" in lines
    assert any(line.startswith("  ✗ ") and " review" in line for line in lines)
    assert "  last_ingest_at      none" in lines
    assert "  active_parsers           markdown-v1, text-v1" in lines
    assert "  index_bytes         sqlite 0 B, lancedb 0 B" in lines


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
    assert "    weights    not on this machine" in lines
    assert lines[-1] == "configured: auto"


def test_the_reason_for_the_active_model_is_shown():
    reply = ModelList(
        models=[replies.model_row()], configured="auto", reason="your notes are English"
    )

    assert list(render_model_list(reply, Canvas()))[-1] == "chosen because your notes are English"


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


def test_paths_and_the_next_command_are_shown():
    lines = list(render_init(replies.init_report(), Canvas()))

    assert lines[0] == "settings  /home/ada/.config/kebab/config.toml  written"
    assert lines[-1] == "next: kebab ingest FOLDER"


def test_a_workspace_needs_no_folder():
    assert (
        list(render_init(replies.init_report(workspace="/notes"), Canvas()))[-1]
        == "next: kebab ingest"
    )


def test_an_existing_file_is_reported():
    assert "--force" in next(iter(render_init(replies.init_report(written=False), Canvas())))
