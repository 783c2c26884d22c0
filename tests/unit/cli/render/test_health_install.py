from kebab.cli.render.canvas import Canvas
from kebab.cli.render.health import render_install, render_overview
from kebab.wire.health import InstallableClient, InstalledFile, InstallOverview, InstallReport

SKILL = InstalledFile(kind="skill", path="/s", change="none")
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
