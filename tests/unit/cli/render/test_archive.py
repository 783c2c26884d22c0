from kebab.cli.render.archive import render_export, render_import, render_import_plan
from kebab.cli.render.canvas import Canvas
from kebab.wire.archive import SettingDifference
from tests.fakes import replies

PLAIN = Canvas(width=None)


def test_an_export_says_what_is_in_the_file():
    lines = list(render_export(replies.export_report(), PLAIN))

    assert lines[0] == "wrote base.zip, 12.3 kB"
    assert lines[1].split(", ")[:3] == ["  3 documents", "7 passages", "7 vectors"]


def test_a_plan_says_what_is_replaced_and_is_empty_when_nothing_is():
    assert not list(render_import_plan(replies.import_report(), PLAIN))
    (first, *_) = render_import_plan(replies.import_report(replaced_documents=3), PLAIN)
    assert first.startswith("this replaces 3 documents in ")
    (first, *_) = render_import_plan(replies.import_report(replaced_documents=-1), PLAIN)
    assert "cannot be read" in first


def test_an_import_says_where_folders_are_and_what_differs():
    sources = [
        replies.imported_source(changed=1, gone=1),
        replies.imported_source(folder="/srv/x", mapped="no", state="gone", gone=3),
    ]
    settings = [SettingDifference(name="ingest.hidden", archived="true", here="false")]

    text = "\n".join(
        render_import(replies.import_report(sources=sources, settings=settings), PLAIN)
    )

    assert "/home/ada/notes  3 documents, was /home/bob/notes, 1 changed, 1 without a file" in text
    assert "/srv/x  3 documents, not on this machine; it stays searchable" in text
    assert "setting ingest.hidden was true, and is false here" in text
    assert "kebab ingest" in text
    checked = replies.import_report(dry_run=True)
    assert next(render_import(checked, PLAIN)).startswith("the file is intact; nothing")
