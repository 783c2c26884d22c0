from tests.shape.tree import ROOT

SKILL = ROOT / "integrations/claude-code/kebab/SKILL.md"


def test_the_skill_is_installed_and_removed(kebab, home):
    path = home / ".claude/skills/kebab/SKILL.md"

    first = kebab("install", "claude-code", "--yes", "--json")
    again = kebab("install", "claude-code", "--json")

    assert (first.reply["change"], first.reply["path"]) == ("create", str(path))
    assert (again.status, again.reply["change"]) == (0, "keep")
    assert path.read_bytes() == SKILL.read_bytes()
    assert kebab("install", "claude-code", "--uninstall", "--yes").out == f"removed: {path}\n"
    assert not path.exists()


def test_without_a_person_nothing_is_written(kebab, home):
    ran = kebab("install", "claude-code", "--json")

    assert (ran.status, ran.fault["code"]) == (2, "confirmation_required")
    assert not (home / ".claude").exists()


def test_read_only_writes_nothing(kebab, home):
    ran = kebab("install", "claude-code", "--yes", "--read-only", "--json")

    assert (ran.status, ran.fault["code"]) == (2, "read_only")
    assert not (home / ".claude").exists()


def test_one_place_is_chosen(kebab, home):
    ran = kebab("install", "claude-code", "--project", "--user", "--yes", "--json")

    assert (ran.status, ran.fault["code"]) == (2, "usage_invalid")
    assert not (home / ".claude").exists()
