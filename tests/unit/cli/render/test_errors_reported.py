from kebab.app.classify import View, classify_error
from kebab.cli.render.canvas import Canvas
from kebab.cli.render.errors import render_error
from kebab.errors.catalog import InvalidCursor, IoError


def drawn(fault, log=None, **view):
    seen = classify_error(fault, operation="search", view=View(**view))
    return list(render_error(seen.reply, Canvas(), log))


def test_an_error_has_a_message_a_hint_and_a_code():
    assert drawn(InvalidCursor(cause="not ours")) == [
        "error: invalid cursor: not ours",
        "hint: repeat the search without `--cursor`",
        "code: invalid_cursor",
    ]


def test_names_in_messages_cannot_control_the_terminal():
    assert "\x1b" not in drawn(IoError(path="\x1b[2J", op="read", cause="gone"))[0]


def test_causes_and_the_log_come_last():
    lines = drawn(RuntimeError("a bug"), "/state/kebab.log", verbose=True)

    assert lines[-2] == "  caused by: RuntimeError: a bug"
    assert lines[-1].startswith("log: /state/kebab.log: ")


def test_labels_and_code_stay_in_every_language():
    lines = drawn(InvalidCursor(cause="not ours"), language="ko")

    assert lines == [
        "error: 커서가 올바르지 않습니다: not ours",
        "hint: `--cursor` 없이 다시 검색하세요",
        "code: invalid_cursor",
    ]
