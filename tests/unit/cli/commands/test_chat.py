import pytest


def questions(opened):
    return [request.question for what, request in opened[0].asked if what == "ask"]


def test_without_a_terminal_each_line_is_a_question(kebab, opened):
    ran = kebab("chat", stdin="\ufeffone\n\n  백업은?  \r\nthree".encode())

    assert questions(opened) == ["one", "백업은?", "three"]
    assert (ran.status, ran.out.count("> ")) == (0, 3 + 3)
    assert ran.err == "session: none, each question stands alone\n"
    assert [request.session for what, request in opened[0].asked if what == "ask"] == [None] * 3


def test_flags_hold_for_every_question(kebab, opened):
    kebab("chat", "--session", "s", "--extractive", "--tag", "a", stdin=b"one\ntwo\n")

    for _, request in opened[0].asked:
        assert (request.session, request.extractive, request.tag) == ("s", True, ["a"])


@pytest.mark.parametrize("flags", [["--json"], ["--output-format", "json"]])
def test_a_program_gets_a_hint_to_ask(kebab, opened, flags):
    ran = kebab("chat", *flags)

    assert (ran.status, ran.out, opened) == (2, "", [])
    assert (ran.fault["code"], ran.fault["hint"]) == (
        "usage_invalid",
        "kebab ask --session NAME --json",
    )


def test_nothing_on_stdin_is_no_error(kebab):
    assert kebab("chat").status == 0


def test_an_endless_question_is_too_large(kebab, opened):
    ran = kebab("chat", stdin=b"x" * 2_000_000)

    assert (ran.status, ran.out) == (2, "")
    assert "too_large" in ran.err
    assert not [what for one in opened for what, _ in one.asked if what == "ask"]
