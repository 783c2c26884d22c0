import subprocess

import pytest

from kebab.app.review import review
from kebab.core.progress import Cancel
from kebab.errors.catalog import ConfigInvalid, InvalidInput, UnsupportedMedia
from kebab.wire.review import ReviewRequest

TWICE = "It is valid until May 2001.\n"


def ask(context, *names, **fields):
    request = ReviewRequest(names=[str(name) for name in names], **{"no_llm": True, **fields})
    return review(context, request, lambda _: None, Cancel())


def find(context, *names, **fields):
    page = ask(context, *names, all_pages=True, **fields)
    return [(item.rule_id, item.s) for item in page.items]


def test_overrides_of_the_user_are_for_their_files(desk):
    desk.write("drafts/a.md", TWICE)
    off = {"files": ["drafts/**"], "disable": ["stale-date"]}
    rated = {"files": ["*.md"], "severity": {"stale": "error"}}

    def look(*overrides, **settings):
        context = desk.context(review__overrides=list(overrides), **settings)
        return find(context, desk.notes)

    assert look(off) == []
    assert look({**off, "files": [f"{desk.notes}/drafts/*.md"]}) == []
    assert look({**off, "files": ["other/**"]}) == [("stale-date", "suggestion")]
    assert look(rated) == [("stale-date", "error")]
    assert look(review__severity={"stale-date": "warning"}) == [("stale-date", "warning")]


def test_settings_of_a_repository_refine_those_of_the_user(desk):
    path = desk.write("docs/a.md", f"{TWICE}\n[more](gone.md)\n")
    desk.write(
        "kebab.toml", "[review]\ndisable = ['broken-link']\nseverity = {stale-date = 'error'}\n"
    )
    context = desk.context(review__severity={"stale-date": "suggestion"})
    assert find(context, desk.notes) == [("stale-date", "error")]
    assert ("broken-link", "error") in find(context, desk.notes, rules=["broken-link"])
    desk.write("docs/b.md", "As of May 2001 there are two.\n")
    assert len(find(context, desk.notes / "docs/b.md")) == 1
    desk.write("docs/kebab.toml", "[review]\nstale_days = 0\n")
    assert find(context, desk.notes / "docs/b.md") == []
    assert path.exists()


def test_a_fault_in_settings_is_raised_before_the_review(desk):
    desk.write("docs/a.md", TWICE)
    desk.write("docs/kebab.toml", "[review]\ndisable = ['nonsense']\n")
    with pytest.raises(ConfigInvalid, match=r"docs/kebab.toml: unknown rule `nonsense`"):
        ask(desk.context(), desk.notes)
    with pytest.raises(ConfigInvalid, match=r"review.severity: unknown rule `nonsense`"):
        ask(desk.context(review__severity={"nonsense": "error"}), desk.notes)


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
    path = repository.write("a.md", TWICE)
    repository.write("b.md", TWICE)
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "x")
    context = repository.context()
    nothing = ask(context, repository.notes, changed="HEAD")
    assert (nothing.items, nothing.document) == ([], None)
    path.write_text(f"{TWICE}\nIt ends in May 2002.\n")
    page = ask(context, repository.notes, changed="HEAD")
    assert ([item.o for item in page.items], page.document.of) == ([(40, 48)], 1)
    again = ask(context, run_id=page.run_id)
    assert again.items == page.items


def test_changes_need_a_repository(desk):
    with pytest.raises(InvalidInput, match="no work tree of git"):
        ask(desk.context(), desk.write("a.md", TWICE), changed="HEAD")
    (desk.notes / "empty").mkdir()
    with pytest.raises(InvalidInput, match="no work tree of git"):
        ask(desk.context(), desk.notes / "empty", changed="HEAD")


def test_a_given_text_stands_for_its_file_and_is_not_stored(desk):
    desk.write("other.md", "x")
    name = desk.notes / "new.md"
    context = desk.context()
    text = "See [a](other.md), [b](gone.md) and it ends in May 2001.\n"
    page = ask(context, name, text=text)
    assert [item.rule_id for item in page.items] == ["broken-link", "stale-date"]
    assert (page.document.file, page.has_more) == (str(name), False)
    assert not list(desk.data.glob("*"))
    assert ask(context, name, text="").items == []
    with pytest.raises(UnsupportedMedia):
        ask(context, desk.notes / "a.zip", text="x")
    with pytest.raises(InvalidInput, match=r"\$\.text"):
        ask(context, name, name, text="x")
