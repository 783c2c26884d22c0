from kebab.cli.render.canvas import Canvas
from kebab.cli.render.documents import render_removed_documents, render_reset, render_reset_plan
from tests.fakes import replies


def test_removed_documents_and_their_return_are_reported():
    lines = list(render_removed_documents(replies.remove_report(), Canvas()))

    assert lines[:2] == [
        "ops/backup.md  Backups",
        "1 document and 3 passages taken out of the index",
    ]
    assert "the next ingest reads them again" in lines[2]


def test_a_plan_lists_deletions_and_what_stays():
    lines = list(render_reset_plan(replies.reset_report(models_removed=True), Canvas()))

    assert lines[0] == "this deletes 12.3 kB from /home/ada/.local/share/kebab:"
    assert any(line.startswith("ask sessions") for line in lines)
    assert "model weights are deleted too" in lines
    assert lines[-1] == "your own files stay as they are"


def test_a_reset_lists_deleted_and_foreign_files():
    assert list(render_reset(replies.reset_report(), Canvas())) == [
        "deleted  kebab.db",
        "deleted  vectors",
        "kept     mine.txt",
        "12.3 kB freed",
    ]


def test_with_nothing_to_delete_it_is_noted():
    reply = replies.reset_report(removed=[], kept=[], bytes_freed=0)

    assert list(render_reset(reply, Canvas())) == [
        "nothing to delete in /home/ada/.local/share/kebab"
    ]
