import subprocess

import pytest

from kebab.errors.catalog import DependencyMissing, InvalidInput
from kebab.source.changes import find_repository, list_changes


@pytest.fixture
def tree(tmp_path, monkeypatch):
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "Ada")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "ada@example.org")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    git(tmp_path, "init", "-q", "-b", "main")
    return tmp_path


def git(folder, *arguments):
    subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True)


def commit(tree):
    git(tree, "add", "-A")
    git(tree, "commit", "-q", "-m", "x")


def list_(tree, revision="HEAD", *paths):
    found = list_changes(find_repository(str(tree), revision), list(map(str, paths or [tree])))
    return {path.removeprefix(f"{tree}/"): lines for path, lines in found.items()}


def test_lines_of_changed_and_renamed_files_and_new_files(tree):
    for name, text in (("a b.md", "0\n1\n2\n3\n"), ("old.md", "a\nb\nc\nd\n"), ("gone.md", "x\n")):
        (tree / name).write_text(text)
    commit(tree)
    (tree / "a b.md").write_text("1\nzwei\n3\n4\n")
    git(tree, "mv", "old.md", "neu.md")
    (tree / "gone.md").unlink()
    (tree / "ü.md").write_text("x\n")
    assert list_(tree) == {"a b.md": ((2, 2), (4, 4)), "neu.md": (), "ü.md": None}
    assert list_(tree, "HEAD", tree / "ü.md") == {"ü.md": None}


def test_a_branch_means_its_merge_base(tree):
    (tree / "a.md").write_text("x\n")
    commit(tree)
    git(tree, "checkout", "-q", "-b", "topic")
    (tree / "b.md").write_text("y\n")
    commit(tree)
    git(tree, "checkout", "-q", "main")
    (tree / "c.md").write_text("z\n")
    commit(tree)
    git(tree, "checkout", "-q", "topic")
    assert list_(tree) == {}
    assert list_(tree, "main") == {"b.md": ((1, 1),)}


def test_no_program_of_the_repository_is_run(tree):
    (tree / "a.md").write_text("x\n")
    (tree / ".gitattributes").write_text("*.md diff=evil\n")
    commit(tree)
    (tree / "a.md").write_text("y\n")
    for name in ("diff.evil.textconv", "diff.evil.command", "diff.external", "core.fsmonitor"):
        git(tree, "config", name, f"touch {tree}/ran; cat")
    assert list_(tree)["a.md"] == ((1, 1),)
    assert not (tree / "ran").exists()


def test_what_git_cannot_compare_is_refused(tree, tmp_path_factory):
    with pytest.raises(InvalidInput, match="does not know this revision: nope"):
        find_repository(str(tree), "nope")
    with pytest.raises(InvalidInput, match="does not know this revision: --help"):
        find_repository(str(tree), "--help")
    outside = tmp_path_factory.mktemp("outside")
    with pytest.raises(InvalidInput, match="not a git repository"):
        find_repository(str(outside), "HEAD")
    git(outside, "init", "-q", "--bare", "bare.git")
    with pytest.raises(InvalidInput, match="must be run in a work tree"):
        find_repository(str(outside / "bare.git"), "HEAD")


def test_a_shallow_clone_is_named(tree, tmp_path_factory):
    for name in ("a", "b"):
        (tree / f"{name}.md").write_text("x\n")
        commit(tree)
    git(tree, "branch", "old", "HEAD~1")
    clone = tmp_path_factory.mktemp("clone")
    git(clone, "clone", "-q", "--depth", "1", "--no-single-branch", f"file://{tree}", "c")
    with pytest.raises(InvalidInput, match="no commit in common in this shallow clone"):
        find_repository(str(clone / "c"), "origin/old")


def test_without_git_the_program_is_named(tree, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(DependencyMissing) as raised:
        find_repository(str(tree), "HEAD")
    assert raised.value.program == "git"
