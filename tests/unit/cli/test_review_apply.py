import pytest

TEXT = "# Doors\n\nOpen the the door.\n"


@pytest.fixture
def note(home, monkeypatch):
    monkeypatch.chdir(home)
    file = home / "a.md"
    file.write_text(TEXT, encoding="utf-8")
    return file


def requests(opened, name):
    return [request for known in opened for what, request in known.asked if what == name]


def test_fixes_need_a_confirmation(kebab, opened):
    ran = kebab("review", "--run-id", "R", "--apply", "--json")

    assert (ran.status, ran.fault["code"]) == (2, "confirmation_required")
    assert ran.fault["hint"].endswith("review --run-id R --apply --yes")
    assert [request.dry_run for request in requests(opened, "review_apply")] == [True]


def test_confirmed_fixes_of_a_run_are_applied_without_a_review(kebab, opened):
    ran = kebab("review", "--run-id", "R", "--apply", "--yes", "--json")

    assert (ran.status, ran.reply["schema_version"]) == (0, "review_applied.v1")
    assert [request.dry_run for request in requests(opened, "review_apply")] == [False]
    assert not requests(opened, "review")


def test_fixes_of_documents_are_applied_after_their_review(kebab, note, opened):
    ran = kebab("review", "a.md", "--apply", "--yes")

    assert ran.status == 0
    assert ran.out.startswith("/home/ada/notes/a.md  1 fix; the original is /home/ada/notes")
    assert requests(opened, "review")[0].all_pages
    assert [request.run_id for request in requests(opened, "review_apply")] == ["4f1d2c3b"]


def test_a_dry_run_prints_the_differences(kebab, opened):
    ran = kebab("review", "--run-id", "R", "--apply", "--dry-run")

    assert ran.status == 0
    assert ran.out.splitlines()[-2:] == ["-Open the the door.", "+Open the door."]
    assert [request.dry_run for request in requests(opened, "review_apply")] == [True]


def test_fixes_of_an_unknown_run_are_an_answer(kebab):
    for flags in (["--yes"], ["--dry-run"], []):
        ran = kebab("review", "--run-id", "nowhere", "--apply", *flags, "--json")

        assert (ran.status, ran.reply["schema_version"]) == (1, "not_found.v1")


@pytest.mark.parametrize("flag", ["--yes", "--dry-run"])
def test_fixes_are_refused_under_read_only_before_any_work(flag, kebab, opened):
    ran = kebab("--read-only", "review", "a.md", "--apply", flag, "--json")

    assert (ran.status, ran.fault["code"]) == (2, "read_only")
    assert not requests(opened, "review")


def test_an_interrupted_review_applies_nothing(kebab, note, opened):
    note.rename(note.with_name("late.md"))
    ran = kebab("review", "late.md", "--apply", "--yes", "--json")

    assert (ran.status, ran.out, ran.fault["code"]) == (130, "", "cancelled")
    assert not requests(opened, "review_apply")


def test_an_unknown_document_has_nothing_to_apply(kebab, opened):
    ran = kebab("review", "nowhere", "--apply", "--yes", "--json")

    assert (ran.status, ran.reply["schema_version"]) == (1, "not_found.v1")
    assert not requests(opened, "review_apply")
