import json

from kebab.errors.listing import catalog
from kebab.wire.pages import broken_promises, errors_page, lock, rows


def test_the_page_holds_a_section_for_every_code():
    page = errors_page()

    assert [code for code in catalog() if f"\n## {code}\n" not in page] == []


def test_rows_come_by_code_with_their_explanation():
    codes = [row.code for row in rows()]

    assert codes == sorted(catalog())
    assert all(row.explanation for row in rows())


def test_a_lock_of_today_is_kept():
    assert broken_promises(json.dumps(lock())) == []


def test_adding_a_row_keeps_the_promises():
    released = lock()
    del released["locked"]

    assert broken_promises(json.dumps(released)) == []


def test_a_removed_row_and_a_changed_meaning_break_a_promise():
    released = lock()
    released["gone_one"] = released["locked"]
    released["locked"] = released["locked"] | {"exit": 3}

    assert sorted(broken_promises(json.dumps(released))) == [
        "gone_one: removed",
        "locked: its meaning changed",
    ]
