from kebab.app.classify import classify
from kebab.cli.render.fault import draw
from kebab.cli.render.page import Page
from kebab.errors.catalog import InvalidCursor, IoError


def drawn(fault, log=None, *, verbose=False):
    seen = classify(fault, operation="search", verbose=verbose)
    return list(draw(seen.reply, Page(), log))


def test_an_error_is_what_happened_a_hint_and_a_code():
    assert drawn(InvalidCursor(cause="not ours")) == [
        "error: cursor refused: not ours",
        "hint: repeat the search without `--cursor`",
        "code: invalid_cursor",
    ]


def test_names_in_messages_cannot_steer_the_terminal():
    assert "\x1b" not in drawn(IoError(path="\x1b[2J", op="read", cause="gone"))[0]


def test_causes_and_the_log_come_last():
    lines = drawn(RuntimeError("a bug"), "/state/kebab.log", verbose=True)

    assert lines[-2] == "  caused by: RuntimeError: a bug"
    assert lines[-1].startswith("log: /state/kebab.log: ")
