from typing import Any

import pytest
from msgspec.structs import replace

from kebab.app.review import review
from kebab.core.progress import Cancel
from kebab.store.sqlite.reviews import SqliteReviewStore
from kebab.wire.review import ReviewRequest

LINK = "[the plan](plan.md#costs) and the the end\n"
MARK = "this was kept"


def list_reasons(context, *names, **fields):
    """Return the reasons of all findings of a new run, by file."""
    pages: list[Any] = []
    request = ReviewRequest(names=[str(name) for name in names], no_llm=True, all_pages=True)
    review(context, replace(request, **fields), pages.append, Cancel())
    return [
        (page.data.page.document.doc_path.rpartition("/")[2], item.r)
        for page in pages
        if page.type == "items"
        for item in page.data.page.items
    ]


@pytest.fixture
def note(desk):
    """A note whose stored findings have another reason than the rules give, to be known by it."""
    desk.write("plan.md", "# Plan\n\n## Costs\n\n100\n")
    path = desk.write("a.md", LINK)
    assert list_reasons(desk.context(), path)
    with SqliteReviewStore(desk.data) as store:
        known = store.find_rules_result(str(path))
        assert known is not None
        items = tuple(replace(item, r=MARK) for item in known.result.items)
        marked = replace(known, result=replace(known.result, items=items))
        store.add_rules_results([(str(path), marked)])
    return path


def is_kept(desk, note, **fields):
    return MARK in [reason for _, reason in list_reasons(desk.context(**fields), note)]


def test_an_unchanged_file_keeps_its_findings(desk, note):
    assert is_kept(desk, note)


def test_a_changed_file_is_read_again(desk, note):
    note.write_text(LINK + "\nMore.\n", encoding="utf-8")

    assert not is_kept(desk, note)


def test_a_changed_target_of_a_link_is_read_again(desk, note):
    desk.write("plan.md", "# Plan\n\n## Prices\n\n100\n")

    assert [reason for _, reason in list_reasons(desk.context(), note)] == [
        "the target has no such heading or anchor: costs",
        "the word is repeated: the",
    ]


def test_a_target_that_is_gone_is_noticed(desk, note):
    (desk.notes / "plan.md").unlink()
    found = list_reasons(desk.context(), note)

    assert ("a.md", "the file does not exist: plan.md") in found


def test_other_rules_are_applied_again(desk, note):
    found = list_reasons(desk.context(), note, rules=["repeated-word"])

    assert found == [("a.md", "the word is repeated: the")]


def test_other_settings_are_applied_again(desk, note):
    desk.flags["review.stale_days"] = 5

    assert not is_kept(desk, note)


def test_the_day_matters_only_where_a_rule_asks_for_it(desk, note):
    assert is_kept(desk, note)
    with SqliteReviewStore(desk.data) as store:
        known = store.find_rules_result(str(note))
        assert known is not None
        questions = [question for question, _ in known.answers]

    assert ("today",) not in questions
    assert ("exists", str(desk.notes / "plan.md")) in questions


def test_a_file_that_becomes_a_document_of_the_index_is_read_again(desk, note):
    desk.ingest()

    assert not is_kept(desk, note)


def test_several_processes_find_what_one_finds(desk):
    for number in range(140):
        target = f"{number + 1:03}.md"
        desk.write(f"{number:03}.md", f"# Note {number}\n\n[next]({target}) and the the.\n")
    desk.write("005.md", "\0\1\2")
    last = list_reasons(desk.context(), desk.notes / "139.md")
    with SqliteReviewStore(desk.data) as store:
        assert store.find_rules_result(str(desk.notes / "000.md")) is None
    found = list_reasons(desk.context(), desk.notes)

    assert [name for name, reason in found if reason == "the word is repeated: the"] == [
        f"{number:03}.md" for number in range(140) if number != 5
    ]
    assert [one for one in found if one[0] == "139.md"] == last
    assert list_reasons(desk.context(), desk.notes) == found


def test_documents_ahead_that_have_not_changed_keep_their_findings(desk):
    for number in range(150):
        desk.write(f"{number:03}.md", f"# Note {number}\n\nIt and the the bread.\n")
    before = list_reasons(desk.context(), desk.notes)
    changed = [f"{number:03}.md" for number in range(0, 150, 5)]
    for name in changed:
        desk.write(name, "# Note\n\nNothing.\n")

    after = list_reasons(desk.context(), desk.notes)

    assert after == [one for one in before if one[0] not in changed]
