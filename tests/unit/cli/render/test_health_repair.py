from kebab.cli.render.canvas import Canvas
from kebab.cli.render.health import render_repair, render_repair_plan, render_verify
from kebab.wire.repair import LostText, RepairCopy
from tests.fakes import replies


def test_a_plan_names_what_is_lost_and_that_a_copy_is_made():
    lost = [LostText(doc_path=f"/n/{number}.md", passages=1) for number in range(22)]
    plan = replies.repair_report(
        replies.repair("planned"), dry_run=True, lost=lost, read_again=2, unplaced=3
    )

    lines = list(render_repair_plan(plan, Canvas()))

    assert lines[0] == "would  vectors: 1 vector of 2 missing"
    assert "damaged, is to be read again from its file: 2 documents" in lines
    assert "  and 2 more; `--json` lists all" in lines
    assert lines[-1].startswith("the index is copied before anything is replaced")


def test_a_refusal_has_its_reason_and_a_command():
    report = replies.repair_report(
        replies.repair("refused", reason="no folder", hint="kebab x"),
        copy=RepairCopy(path="/c", bytes=2000, hint="cp -a"),
    )

    text = "\n".join(render_repair(report, Canvas()))

    assert "reason: no folder\n  fix: kebab x\n" in text
    assert "copy of the index before: /c, 2.0 kB\nto put it back: cp -a" in text


def test_without_faults_nothing_is_to_repair():
    assert next(render_repair(replies.repair_report(), Canvas())) == "nothing to repair"


def test_a_comparison_ends_with_its_counts():
    lines = list(render_verify(replies.verify_report(equal=False), Canvas()))

    assert lines[0] == "gone  a.md  why"
    assert lines[-2:] == ["1 of 2 documents equal, gone 1", "2 vectors of 3 passages, 1.2 kB read"]
