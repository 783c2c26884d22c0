from kebab.cli.render.canvas import Canvas
from kebab.cli.render.health import render_init
from tests.fakes import replies


def test_paths_and_the_next_command_are_shown():
    lines = list(render_init(replies.init_report(), Canvas()))

    assert lines[0] == "settings  /home/ada/.config/kebab/config.toml  written"
    assert lines[-1] == "next: kebab ingest FOLDER"


def test_a_workspace_needs_no_folder():
    assert (
        list(render_init(replies.init_report(workspace="/notes"), Canvas()))[-1]
        == "next: kebab ingest"
    )


def test_an_existing_file_is_reported():
    assert "--force" in next(iter(render_init(replies.init_report(written=False), Canvas())))
