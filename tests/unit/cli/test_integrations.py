from pathlib import Path

import pytest

from kebab.cli.integrations import apply_change, format_change, load_skill


@pytest.fixture
def load(tmp_path):
    return lambda: load_skill("user", {"CLAUDE_CONFIG_DIR": str(tmp_path)})


def test_the_skill_is_written_once_and_removed_with_its_folder(load, tmp_path):
    skill = load()
    report = apply_change(skill, skill.plan_change(uninstall=False))

    assert report.change == "create"
    assert (tmp_path / "skills/kebab/SKILL.md").read_text() == skill.wanted
    assert load().plan_change(uninstall=False) == "keep"

    removed = apply_change(load(), load().plan_change(uninstall=True))
    assert (removed.change, removed.backup) == ("remove", None)
    assert not (tmp_path / "skills/kebab").exists()
    assert load().plan_change(uninstall=True) == "none"


@pytest.mark.parametrize("uninstall", [False, True])
def test_an_edited_file_is_kept_as_a_copy(load, uninstall):
    apply_change(load(), "create")
    path = load().path
    for text in ("mine", "mine again"):
        path.write_text(text)
        report = apply_change(load(), load().plan_change(uninstall=uninstall))
        assert report.backup is not None
        assert Path(report.backup).read_text() == text

    assert len(list(path.parent.glob("SKILL.md.bak*"))) == 2
    assert path.exists() is not uninstall


def test_a_copy_stays_when_the_skill_is_removed(load):
    apply_change(load(), "create")
    path = load().path
    path.write_text("mine")
    kept = apply_change(load(), "replace").backup
    removed = apply_change(load(), "remove")

    assert (removed.change, path.exists()) == ("remove", False)
    assert Path(str(kept)).read_text() == "mine"


def test_a_change_is_shown_as_a_difference(load):
    shown = format_change(load(), "create")

    assert shown[2].startswith("@@")
    assert "+name: kebab" in shown
    assert not any(line.startswith("-") for line in shown[2:])


def test_a_project_has_its_own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    assert load_skill("project", {}).path == tmp_path / ".claude/skills/kebab/SKILL.md"
