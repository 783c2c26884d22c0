import pytest
from msgspec.structs import replace

from kebab.cli.render.canvas import Canvas, measure_width
from kebab.cli.render.documents import (
    render_document_list,
    render_duplicates,
    render_removed_documents,
    render_reset,
)
from tests.fakes import replies

TERMINAL = Canvas(width=60)


def test_columns_fit_the_terminal():
    documents = [
        replies.summary(doc_path="notes/" * 20 + "백업.md", title="아주 긴 제목 " * 10),
        replies.summary(partial=True),
        replies.summary(freshness="changed", chunk_count=1234),
    ]

    lines = list(render_document_list(replies.doc_list(*documents), TERMINAL))

    assert all(measure_width(line) <= 60 for line in lines)
    assert lines[0].split() == ["document", "title", "passages", "date"]
    assert "백업.md" in "".join(line.split("  ")[0] for line in lines)
    assert [line[-7:] for line in lines[-4:-2]] == ["in part", "changed"]
    assert "1,234" in lines[-3]


@pytest.mark.parametrize("returns", [True, False])
def test_what_was_removed_and_returns_is_said(returns):
    reply = replace(replies.remove_report(), returns=returns)
    lines = render_removed_documents(reply, TERMINAL)

    assert any("kebabignore" in line for line in lines) is returns


@pytest.mark.parametrize("removed", [[], ["vectors"]])
def test_a_reset_without_anything_to_delete_says_so(removed):
    lines = render_reset(replace(replies.reset_report(), removed=removed), TERMINAL)

    assert any("nothing to delete" in line for line in lines) is (not removed)


def drawn(reply, canvas=TERMINAL, next_page=""):
    return list(render_duplicates(reply, canvas, next_page))


def test_a_terminal_gets_groups_with_their_locations():
    reply = replies.duplicates(replies.duplicate_group())

    assert drawn(reply) == [
        "2 near copies of a passage  Backups",
        "    Stop the writer, then restore the snapshot.",
        "    same  ops/backup.md:12-13",
        "    0.83  old/backup.md:4",
        "",
        "1 group among 12 passages",
    ]
