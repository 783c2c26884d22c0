from kebab.cli.render.canvas import Canvas
from kebab.cli.render.health import render_repair, render_repair_plan
from kebab.wire.health import MovedDatabase
from tests.fakes import replies


def test_a_plan_says_what_would_be_done_and_what_may_be_lost():
    vectors, database = replies.repair("planned"), replies.repair("planned", check="database")

    lines = list(render_repair_plan(replies.repair_report(vectors, dry_run=True), Canvas()))
    losing = list(render_repair_plan(replies.repair_report(database, dry_run=True), Canvas()))

    assert lines == ["would  vectors: 1 vector of 2 missing", "  compute it again"]
    assert losing[-1].endswith("what only the database has cannot come back")


def test_what_was_moved_aside_is_named_with_what_it_had():
    moved = [MovedDatabase(path="/d/x", documents=2, sessions=1), MovedDatabase(path="/d/y")]

    lines = list(render_repair(replies.repair_report(replies.repair(), moved=moved), Canvas()))

    assert "moved aside: /d/x, it had 2 documents and 1 ask session" in lines
    assert "moved aside: /d/y" in lines
