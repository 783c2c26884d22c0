import click

from kebab.cli.render.canvas import Canvas
from kebab.cli.render.review import (
    render_applied,
    render_explanations,
    render_fix_plan,
    render_rules,
    render_runs,
)
from kebab.wire.review import ReviewApplied, ReviewApplyRequest, ReviewRule, ReviewRules, ReviewRuns
from tests.fakes import replies

WIDE, PIPE = Canvas(width=60), Canvas()
RULE = ReviewRule(
    id="repeated-word",
    kind="repetition",
    severity="warning",
    summary="A word is written twice in a row.",
    explanation="This is left over from editing.\n\nDelete one of the two.",
    example="Open the the door.",
    enabled=True,
)


def applied(*, dry_run, run_id="r1"):
    return replies.review_applied(ReviewApplyRequest(run_id=run_id, dry_run=dry_run))


def test_a_terminal_shows_each_run_with_the_next_command():
    shown = list(render_runs(replies.review_runs(), WIDE))

    assert shown[0] == "4f1d2c3b  docs a.md  (unfinished)"
    assert shown[1].startswith(
        "  quick, without a model, 2 documents, 4 findings, 2026-01-15 09:01"
    )
    assert shown[-1] == "go on with one: kebab review --run-id RUN"
    assert list(render_runs(ReviewRuns(runs=[], keep_days=30), WIDE)) == ["no runs"]


def test_a_pipe_gets_a_line_of_fields_for_each_run():
    assert len(next(iter(render_runs(replies.review_runs(), PIPE))).split("\t")) == 10
    assert list(render_runs(ReviewRuns(runs=[], keep_days=30), PIPE)) == []


def test_a_plan_shows_the_difference_and_what_is_kept():
    shown = list(render_fix_plan(applied(dry_run=True), WIDE))

    assert shown[0] == "--- a/a.md"
    assert shown[-1] == "write 1 fix to 1 file; the originals are kept as `FILE.orig`"
    assert list(render_fix_plan(applied(dry_run=True, run_id="clean"), WIDE)) == []


def test_added_and_removed_lines_have_a_colour():
    painted = list(render_fix_plan(applied(dry_run=True), Canvas(width=60, color=True)))

    assert click.style("-Open the the door.", fg="red") in painted
    assert click.style("+Open the door.", fg="green") in painted


def test_a_dry_run_in_a_pipe_is_only_the_difference():
    assert "\n".join(render_applied(applied(dry_run=True), PIPE)).startswith("--- a/a.md\n")
    assert list(render_applied(applied(dry_run=True, run_id="clean"), PIPE)) == []


def test_written_files_are_named_with_their_originals():
    shown = list(render_applied(applied(dry_run=False), PIPE))

    assert shown[0] == "/home/ada/notes/a.md  1 fix; the original is /home/ada/notes/a.md.orig"
    assert shown[1].endswith("left out: 1")
    nothing = ReviewApplied(run_id="r1", dry_run=False, files=[])
    assert list(render_applied(nothing, PIPE)) == ["nothing to fix"]


def test_a_rule_is_explained_with_its_example_and_its_switch():
    shown = list(render_explanations(ReviewRules(rules=[RULE]), WIDE))

    assert shown[0] == "repeated-word  warning"
    assert "Delete one of the two." in shown
    assert "    Open the the door." in shown
    assert shown[-1] == 'Switch it off: review.disable = ["repeated-word"] in the settings'


def test_rules_are_listed_with_their_summaries():
    rules = ReviewRules(rules=[RULE])

    assert list(render_rules(rules, PIPE)) == [
        "repeated-word\twarning\ton\tA word is written twice in a row."
    ]
    (line, *_) = render_rules(rules, WIDE)
    assert line == "repeated-word  A word is written twice in a row."
