from typing import Any

import pytest

from kebab.cli.channels import OutputChannels
from kebab.cli.commands.review import FindingsText, ReviewDisplay
from kebab.cli.render.canvas import Canvas
from kebab.errors.signal import Exit
from kebab.review.items import ItemLocator
from kebab.wire.stream import ReviewEvent, ReviewEventData
from tests.fakes.review_pages import item, page, reviewed
from tests.unit.cli.conftest import requests


class Channel:
    """A terminal that keeps what is written."""

    columns, rows, is_terminal, descriptor = 60, 20, True, 1

    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text

    def write_lines(self, lines):
        self.text += "".join(f"{line}\n" for line in lines)


class Context:
    """A call whose stderr is a terminal, or a log."""

    def __init__(self, *, live):
        made: Any = Channel(), Channel()
        self.channels, (self.out, self.err) = OutputChannels(*made), made
        self._live = live

    def create_canvas(self, channel=None):
        return Canvas(width=60 if self._live else None, live=self._live)


@pytest.fixture
def document(tmp_path):
    file = tmp_path / "a.md"
    file.write_text("a worng word\n", encoding="utf-8")
    return reviewed(file)


def build(*, live=True):
    context: Any = Context(live=live)
    pages = []

    def show(page):
        pages.append(page)
        context.err.text += "PAGE"

    return context, pages, ReviewDisplay(context, show)


def send(display, kind, **fields):
    data = fields.get("page") or ReviewEventData(**fields)
    return display(ReviewEvent(type=kind, data=data))


def test_a_terminal_shows_the_document_the_units_and_the_time():
    context, _, display = build()
    send(display, "stage", label="notes/a.md")
    send(display, "progress", emitted=3, total=10)
    display.show_heartbeat(2500)

    assert context.err.text == "\r\x1b[Kreviewing notes/a.md  3 of 10 units, 2 s"


def test_the_line_is_removed_before_a_page_and_at_the_end(document):
    context, pages, display = build()
    with display:
        display.show_heartbeat(1000)
        send(display, "items", page=page(document))
        display.show_heartbeat(1500)

    assert context.err.text.count("\r\x1b[KPAGE") == 1
    assert context.err.text.endswith("\r\x1b[K")
    assert len(pages) == 1


def test_a_log_gets_one_line_in_half_a_minute():
    context, _, display = build(live=False)
    send(display, "stage", label="a.md")
    for elapsed in range(1000, 70_000, 1000):
        display.show_heartbeat(elapsed)

    assert context.err.text == "".join(f"reviewing a.md  {elapsed} s\n" for elapsed in (1, 31, 61))


def test_a_last_page_that_was_not_reported_is_shown(document):
    _, pages, display = build()
    last = page(document, item(document, 2, 7))
    display.show_last(last)
    display.show_last(last)

    assert (pages, display.tally.by_rule.total(), display.status) == ([last], 1, Exit.NO)


def test_a_terminal_gets_the_path_once_above_the_findings_of_a_file(document):
    context, locator = build()[0], ItemLocator()
    text = FindingsText(context)
    for end in (7, 12):
        found = page(document, item(document, 2, end))
        text.add(found, locator.locate(found))

    lines = context.out.text.splitlines()
    assert [line.endswith("a.md") for line in lines[:3]] == [True, False, False]


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
