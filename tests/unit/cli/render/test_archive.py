from kebab.cli.render.archive import render_export, render_import, render_import_plan
from kebab.cli.render.canvas import Canvas
from tests.fakes import replies

PLAIN = Canvas(width=None)


def test_an_export_says_what_is_in_the_file():
    lines = list(render_export(replies.export_report(), PLAIN))

    assert lines == ["wrote base.zip, 12.3 kB", "  3 documents, 7 passages, 7 vectors, 1 session"]


def test_a_plan_says_what_is_replaced():
    (first, *_) = render_import_plan(replies.import_report(replaced_documents=3), PLAIN)
    assert first.startswith("this replaces 3 documents in ")
    (first, *_) = render_import_plan(replies.import_report(replaced_documents=-1), PLAIN)
    assert "cannot be read" in first


def test_an_import_says_what_it_did_and_what_is_next():
    done = list(render_import(replies.import_report(), PLAIN))
    checked = list(render_import(replies.import_report(dry_run=True), PLAIN))

    assert (done[0], "kebab ingest" in done[-1]) == ("imported: base.zip", True)
    assert checked[0].startswith("the file is intact; nothing")
