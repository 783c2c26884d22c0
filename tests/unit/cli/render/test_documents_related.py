from kebab.cli.render.canvas import Canvas
from kebab.cli.render.documents import render_related
from tests.fakes import replies

TERMINAL = Canvas(width=40, color=True, links=True)


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

    first, _, *snippet = drawn(replies.related_docs(one), TERMINAL)

    assert "\x1b]8;;file:///home/ada/notes/ops/backup.md\x1b\\" in first
    assert "\x1b[1;33mrestore\x1b[0m" in "".join(snippet)
    assert all(len(line) <= 40 for line in drawn(replies.related_docs(one), Canvas(width=40)))
