from kebab.cli.render.canvas import Canvas
from kebab.cli.render.health import render_init
from tests.fakes import replies


def test_it_says_where_everything_lies_and_what_is_next():
    lines = list(render_init(replies.init_report(), Canvas()))

    assert lines[0] == "settings  /home/ada/.config/kebab/config.toml  written"
    assert lines[-1] == "next: kebab ingest FOLDER"


def test_a_workspace_needs_no_folder():
    assert (
        list(render_init(replies.init_report(workspace="/notes"), Canvas()))[-1]
        == "next: kebab ingest"
    )


def test_a_file_that_was_there_is_left_alone():
    assert "--force" in next(iter(render_init(replies.init_report(written=False), Canvas())))
