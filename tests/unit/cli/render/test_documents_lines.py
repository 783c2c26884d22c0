from kebab.cli.render.canvas import Canvas
from kebab.cli.render.documents import render_lines
from tests.fakes import replies

TERMINAL = Canvas(width=60)


def test_a_pipe_gets_the_text_as_it_is():
    assert list(render_lines(replies.fetch_result(text="\x1b[1mraw\tx\n"), Canvas())) == [
        "\x1b[1mraw\tx"
    ]


def test_a_terminal_gets_numbers_and_no_control_characters():
    lines = list(render_lines(replies.fetch_result(text="a\nb\x1b[2J\nc\nd"), TERMINAL))

    assert lines == [
        "ops/backup.md  lines 11 to 14 of 40",
        "11 a",
        "12 b\ufffd[2J",
        "13 c",
        "14 d",
    ]


def test_context_lines_are_dim():
    lines = list(render_lines(replies.fetch_result(), Canvas(width=60, color=True)))

    assert lines[1].endswith("\x1b[2mbefore\x1b[0m")
    assert lines[2].endswith("12\x1b[0m Stop the writer,")


def test_cut_or_stale_text_is_reported():
    lines = list(
        render_lines(
            replies.fetch_result(truncated=True, freshness="gone", is_indexed_text=True), TERMINAL
        )
    )

    assert lines[0].endswith("file is gone, indexed text")
    assert lines[-1] == "cut off by --max-chars"
