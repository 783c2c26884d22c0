import subprocess

import pytest

from kebab.app.review import review
from kebab.core.progress import Cancel
from kebab.errors.catalog import InvalidInput
from kebab.wire.review import ReviewRequest

OLD = "It is valid until May 2001.\n"


def ask(context, *names, **fields):
    request = ReviewRequest(names=[str(name) for name in names], **{"no_llm": True, **fields})
    return review(context, request, lambda _: None, Cancel())


@pytest.fixture
def repository(desk, monkeypatch):
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "Ada")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "ada@example.org")
    git(desk, "init", "-q")
    return desk


def git(desk, *arguments):
    subprocess.run(["git", "-C", str(desk.notes), *arguments], check=True, capture_output=True)


def test_only_changed_files_and_lines_are_reviewed(repository):
    path = repository.write("a.md", OLD)
    repository.write("b.md", OLD)
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "x")
    context = repository.context()
    nothing = ask(context, repository.notes, changed="HEAD")
    assert (nothing.items, nothing.document) == ([], None)
    path.write_text(f"{OLD}\nIt is planned for May 2001.\n")
    page = ask(context, repository.notes, changed="HEAD")
    assert ([item.o for item in page.items], page.document.of) == ([(47, 55)], 1)
    again = ask(context, run_id=page.run_id)
    assert again.items == page.items


def test_changes_need_a_repository(desk):
    with pytest.raises(InvalidInput, match="no work tree of git"):
        ask(desk.context(), desk.write("a.md", OLD), changed="HEAD")
    (desk.notes / "empty").mkdir()
    with pytest.raises(InvalidInput, match="no work tree of git"):
        ask(desk.context(), desk.notes / "empty", changed="HEAD")
