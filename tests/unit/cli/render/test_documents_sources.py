from kebab.cli.render.canvas import Canvas
from kebab.cli.render.documents import (
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
