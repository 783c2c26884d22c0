from kebab.cli.render.canvas import Canvas
from kebab.cli.render.health import render_doctor
from tests.fakes import replies


def test_each_check_has_its_mark_and_each_problem_its_fix():
    reply = replies.doctor(
        replies.check(name="disk", fix="unused"),
        replies.check(name="database", status="fail", summary="damaged", fix="kebab reset"),
        replies.check(name="language_model", status="warn", summary="silent"),
        replies.check(name="probe", status="skip", summary="no model"),
    )

    assert list(render_doctor(reply, Canvas())) == [
        "kebab v0.1.0",
        "",
        "  ✓ disk            integrity check passed",
        "  ✗ database        damaged",
        "                    fix: kebab reset",
        "  ! language_model  silent",
        "  - probe           no model",
        "",
        "1 problem to fix",
    ]


def test_warnings_leave_the_result_healthy():
    assert (
        list(render_doctor(replies.doctor(replies.check(status="warn")), Canvas()))[-1]
        == "healthy, 1 note"
    )


def test_long_summaries_are_wrapped_under_themselves():
    reply = replies.doctor(replies.check(name="disk", summary="word " * 20))

    lines = list(render_doctor(reply, Canvas(width=40)))[2:-2]

    assert all(len(line) <= 40 for line in lines)
    assert all(line.startswith("          word") for line in lines[1:])


def test_nothing_is_healthy_that_is_not_read():
    reply = replies.doctor(replies.check(), coverage=replies.coverage(unread=3, checked=5000))

    assert list(render_doctor(reply, Canvas()))[-1] == (
        "no problem found, but 3 of 5,003 files are not read yet"
    )
