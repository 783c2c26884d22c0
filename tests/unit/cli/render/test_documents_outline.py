from msgspec.structs import replace

from kebab.cli.render.canvas import Canvas
from kebab.cli.render.documents import render_outline
from tests.fakes import replies

PIPE = Canvas()


def test_each_section_has_its_reference_its_tokens_and_its_heading():
    assert list(render_outline(replies.outline(), PIPE)) == [
        "ops/my%20note.md  40 lines, about 320 tokens",
        "#L1-L40  320  # Backups",
        "#L9-L12   40  ## Restore",
    ]


def test_a_symbol_is_shown_by_the_line_that_declares_it():
    (first, *_) = replies.outline().sections
    symbol = replace(first, declaration="pub struct Backups {")

    assert list(render_outline(replies.outline(sections=[symbol]), PIPE))[1].endswith(
        "# pub struct Backups {"
    )


def test_a_document_without_headings_says_so_and_what_was_not_read():
    found = replies.coverage(partial=1, partial_examples=["a.go"], partial_reasons=["40 lines"])
    reply = replies.outline(sections=[], freshness="gone", coverage=found)

    head, *notes = render_outline(reply, PIPE)

    assert head.endswith("(file is gone)")
    assert notes == ["no headings", "note: in part: `a.go` (40 lines)"]


def test_a_tree_is_indented_below_its_folder():
    assert list(render_outline(replies.outline_tree(), PIPE)) == [
        "/n  3 documents, 9 passages, about 900 tokens, 1 not listed",
        "  deep/  2 documents, 6 passages, about 600 tokens",
        "    deep/b.md  3 passages, about 300 tokens  About b",
    ]


def test_a_tree_says_which_files_are_missing():
    found = replies.coverage(unread=3, checked=5000)

    lines = list(render_outline(replies.outline_tree(coverage=found), PIPE))

    assert lines[-1] == "note: 3 of 5,003 files are not read yet"
