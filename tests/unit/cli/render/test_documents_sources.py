from kebab.cli.render.canvas import Canvas
from kebab.cli.render.documents import (
    render_related,
    render_removed_source,
    render_source_list,
    render_source_removal_plan,
)
from tests.fakes import replies

TERMINAL = Canvas(width=80)


def test_a_terminal_shows_the_contents_and_the_command_for_a_lost_folder():
    gone = replies.source_summary(name="/home/ada/old", state="gone", documents=1, chunks=1)

    lines = list(render_source_list(replies.source_list(replies.source_summary(), gone), TERMINAL))

    assert lines[0] == "/home/ada/notes"
    assert lines[1].startswith("  3 documents, 9 passages, read 20")
    assert lines[2] == "/home/ada/old  (folder is gone)"
    assert lines[-1].startswith("hint: remove a source whose folder is gone")


def test_a_source_in_object_storage_is_named_by_its_address():
    source = replies.source_summary(address="s3://bucket/base")
    listed = replies.source_list(source)
    removed = replies.source_removed(source=source)

    assert next(iter(render_source_list(listed, TERMINAL))) == "s3://bucket/base"
    assert "\ts3://bucket/base\t" in next(iter(render_source_list(listed, Canvas())))
    assert "s3://bucket/base" in list(render_source_removal_plan(removed, TERMINAL))
    done = list(render_removed_source(removed, TERMINAL))
    assert done[2] == "taken out of the index, the copies here are deleted, objects stay"


NARROW = Canvas(width=40, color=True, links=True)


def drawn(reply, canvas=None):
    return list(render_related(reply, canvas or Canvas()))


def test_a_pipe_gets_a_plain_layout():
    assert drawn(replies.related_docs(replies.related_doc())) == [
        " 1  0.41  ops/backup.md:12-13",
        "    Backups > Restoring",
        "    Stop the writer,",
        "    then restore the snapshot.",
        "    nearest to: ops/restic.md:3-9",
        "",
    ]


def test_a_terminal_gets_marks_and_a_link_and_no_line_that_is_too_long():
    one = replies.related_doc()

    first, _, *snippet = drawn(replies.related_docs(one), NARROW)

    assert "\x1b]8;;file:///home/ada/notes/ops/backup.md\x1b\\" in first
    assert "\x1b[1;33mrestore\x1b[0m" in "".join(snippet)
    assert all(len(line) <= 40 for line in drawn(replies.related_docs(one), Canvas(width=40)))
