import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.app.review_text import ItemLocator
from kebab.cli.render.canvas import Canvas, measure_width
from kebab.cli.render.review import (
    render_applied,
    render_excerpt,
    render_explanations,
    render_fix_plan,
    render_rules,
    render_runs,
)
from kebab.core.review import Fix
from kebab.wire.review import ReviewApplied, ReviewApplyRequest, ReviewRule, ReviewRules, ReviewRuns
from tests.fakes import replies
from tests.fakes.review_pages import item, page, reviewed


@pytest.fixture
def draw(tmp_path):
    def draw_words(text, words, *, width=80, color=False, start=None, **changes):
        file = tmp_path / "a.md"
        file.write_bytes(text.encode())
        document = reviewed(file)
        first = text.index(words) if start is None else start
        found = item(document, first, first + len(words), **changes)
        located = ItemLocator().locate(page(document, found)).items[0]
        return list(render_excerpt(located, Canvas(width=width, color=color)))

    return draw_words


def test_the_words_are_underlined(draw):
    assert draw("one\na worng word\n", "worng") == ["    2 │ a worng word", "      │   ^^^^^"]


def test_wide_letters_and_tabs_shift_the_marks(draw):
    assert draw("\t한국어 worng\n", "worng") == [
        "    1 │     한국어 worng",
        "      │            ^^^^^",
    ]
    assert draw("a 한국어\n", "한국어")[1] == "      │   ^^^^^^"


def test_a_fix_is_a_difference(draw):
    assert draw("a worng word\n", "worng", edit="replace", fix=Fix("wrong")) == [
        "    1 - a worng word",
        "          ^^^^^",
        "    1 + a wrong word",
    ]


def test_an_insertion_marks_the_new_words(draw):
    assert draw("one two\n", "", start=3, edit="insert", fix=Fix(",")) == [
        "    1 - one two",
        "    1 + one, two",
        "           ^",
    ]


def test_a_deleted_line_has_no_new_one(draw):
    assert draw("worng\n", "worng", edit="delete", fix=Fix("")) == [
        "    1 - worng",
        "        ^^^^^",
    ]


def test_a_fix_may_have_several_lines(draw):
    drawn = draw("one two\n", " ", edit="replace", fix=Fix("\n"))

    assert [line for line in drawn if "^" not in line] == [
        "    1 - one two",
        "    1 + one",
        "    2 + two",
    ]


def test_the_middle_of_many_lines_is_omitted(draw):
    text = "one\ntwo\nthree\nfour\nfive\nsix"
    drawn = [line for line in draw(text, text) if "^" not in line]

    assert drawn == [
        "    1 │ one",
        "    2 │ two",
        "    3 │ three",
        "      │ …",
        "    6 │ six",
    ]


def test_the_line_end_is_no_line_of_its_own(draw):
    assert len(draw("one\ntwo\n", "one\n")) == 2


@pytest.mark.parametrize("width", [40, 80, 120])
def test_a_long_line_is_cut_around_the_words(draw, width):
    text = f"{'left ' * 60}worng {'right ' * 60}"
    line, marks = draw(text, "worng", width=width)

    assert measure_width(line) <= width
    assert line[marks.index("^") : marks.index("^") + 5] == "worng"
    assert line.startswith("    1 │ …")
    assert line.endswith("…")


def test_words_longer_than_the_line_are_cut(draw):
    line, marks = draw("x " + "y" * 500, "y" * 500, width=60)

    assert max(map(measure_width, (line, marks))) <= 60


def test_control_characters_do_not_reach_the_terminal(draw):
    assert "\x1b" not in "".join(draw("a \x1b[31mworng\n", "worng"))


def test_color_adds_nothing_but_colour(draw):
    plain = draw("a worng word\n", "worng", edit="replace", fix=Fix("wrong"))
    painted = draw("a worng word\n", "worng", edit="replace", fix=Fix("wrong"), color=True)

    import click

    assert [click.unstyle(line) for line in painted] == plain
    assert painted != plain


@given(
    st.text(alphabet="ab \t한👩e\u0301\n", min_size=1, max_size=200),
    st.integers(20, 60),
    st.data(),
)
def test_no_line_is_wider_than_the_terminal(tmp_path_factory, text, width, data):
    file = tmp_path_factory.mktemp("excerpt") / "a.md"
    file.write_bytes(text.encode())
    document = reviewed(file)
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start, len(text)))
    fix = data.draw(st.none() | st.builds(Fix, st.text(alphabet="xy \n", max_size=80)))
    found = item(document, start, end, edit="replace" if fix else "note", fix=fix)
    located = ItemLocator().locate(page(document, found)).items[0]
    drawn = list(render_excerpt(located, Canvas(width=width)))

    assert drawn
    assert all(measure_width(line) <= max(width, 30) for line in drawn)


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
