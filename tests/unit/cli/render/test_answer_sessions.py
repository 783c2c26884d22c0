import pytest

from kebab.cli.render.answer import (
    render_removal_plan,
    render_removed_sessions,
    render_session_list,
    render_transcript,
)
from kebab.cli.render.canvas import Canvas, measure_width
from tests.fakes import replies

TERMINAL = Canvas(width=60)
HOSTILE = "red \x1b[31m\u202e\x07"


def drawn(*turns, canvas=TERMINAL):
    return list(render_transcript(replies.session_transcript("backups", *turns), canvas))


def test_columns_fit_the_terminal():
    sessions = [
        replies.session_summary(name="긴 이름 " * 10, turns=200, first_question="질문 " * 99),
        replies.session_summary(name="b", turns=1, first_question="one\n\ttwo"),
    ]

    first, second, *_ = render_session_list(replies.session_list(*sessions), TERMINAL)

    assert measure_width(first) <= 60
    assert first.count("…") == 2
    assert second.split() == ["b", "1", "turn", "2025-01-31", "one", "two"]
    assert measure_width(first.partition("2025")[0]) == measure_width(second.partition("2025")[0])


def test_the_footer_has_counts_and_the_command_for_details():
    reply = replies.session_list(replies.session_summary(), replies.session_summary(turns=1))

    assert list(render_session_list(reply, TERMINAL))[-2:] == [
        "2 sessions with 3 turns",
        "show one: kebab session show NAME",
    ]


def test_without_sessions_the_command_to_start_one_is_shown():
    assert list(render_session_list(replies.session_list(), TERMINAL)) == [
        "no sessions",
        "begin one: kebab ask --session NAME QUESTION",
    ]


@pytest.mark.parametrize("sessions", [[], [replies.session_summary()]])
def test_when_history_is_off_it_is_noted(sessions):
    lines = list(render_session_list(replies.session_list(*sessions, history=False), TERMINAL))

    assert lines[-1] == "note: new turns are not remembered: `ask.history` is false"


def test_a_pipe_gets_fields_and_nothing_else():
    one = replies.session_summary(name="a\tb", first_question="x" * 500 + "\ny")

    assert list(render_session_list(replies.session_list(one, history=False), Canvas())) == [
        f"a b\t2\t{replies.WHEN}\t{replies.WHEN}\t{'x' * 500} y"
    ]
    assert list(render_session_list(replies.session_list(), Canvas())) == []


def test_a_conversation_is_rendered_question_by_question():
    second = replies.session_turn(
        turn_index=1,
        question="And on Fridays?",
        query="How do I restore on Fridays?",
        answer="The notes do not say.",
        refusal_reason="score_gate",
        mode="extractive",
        model=None,
    )

    assert drawn(replies.session_turn(), second) == [
        "backups  2 turns",
        "",
        " 1  How do I restore a snapshot?",
        "    2025-01-31 12:00 UTC · gemma4:e4b",
        "",
        "    Stop the writer, then restore the snapshot [1].",
        "",
        " 2  And on Fridays?",
        "    2025-01-31 12:00 UTC · extractive · no answer: score_gate",
        "    searched for: How do I restore on Fridays?",
        "",
        "    The notes do not say.",
    ]


def test_numbers_continue_after_deleted_turns():
    lines = drawn(replies.session_turn(turn_index=199, question="one\ntwo", query="one two"))

    assert lines[2:4] == ["200  one", "     two"]


@pytest.mark.parametrize("text", ["word " * 100, "가나다라 " * 100, "x" * 500, "- a\n\n\tb\n" * 9])
def test_everything_fits_the_terminal(text):
    turn = replies.session_turn(question=text, query=text + "!", answer=text)

    assert all(measure_width(line) <= 60 for line in drawn(turn))


def test_a_pipe_gets_unwrapped_lines():
    turn = replies.session_turn(question="word " * 100, answer="word " * 100 + "\n\nend")

    lines = drawn(turn, canvas=Canvas())

    assert lines[2] == " 1  " + "word " * 99 + "word"
    assert lines[-3:] == ["    " + "word " * 99 + "word", "", "    end"]


@pytest.mark.parametrize("text", ["", "\n", " \n "])
def test_an_empty_answer_has_no_lines(text):
    assert drawn(replies.session_turn(answer=text))[-1].endswith("gemma4:e4b")


@pytest.mark.parametrize("canvas", [TERMINAL, Canvas()])
def test_texts_of_a_session_cannot_control_the_terminal(canvas):
    summary = replies.session_summary(name=HOSTILE, first_question=HOSTILE)
    turn = replies.session_turn(
        question=HOSTILE, query="?" + HOSTILE, answer=HOSTILE, model=HOSTILE
    )
    lines = [
        *render_session_list(replies.session_list(summary), canvas),
        *render_removal_plan(replies.session_list(summary), canvas),
        *render_transcript(replies.session_transcript(HOSTILE, turn), canvas),
        *render_removed_sessions(replies.session_removed(HOSTILE), canvas),
    ]

    assert not {"\x1b", "\u202e", "\x07"} & set("".join(lines))
    assert sum("red" in line for line in lines) >= 7


def test_a_plan_counts_and_names_some():
    many = [replies.session_summary(name=f"s{number}") for number in range(12)]

    lines = list(render_removal_plan(replies.session_list(*many), TERMINAL))

    assert lines[:2] == ["this deletes 12 sessions with 24 turns:", "  s0"]
    assert lines[-2:] == ["  s9", "  and 2 more"]
    assert list(render_removal_plan(replies.session_list(), TERMINAL)) == []


def test_deleted_sessions_are_named_and_counted():
    assert list(render_removed_sessions(replies.session_removed("a", "b"), Canvas())) == [
        "deleted  a",
        "deleted  b",
        "2 sessions with 4 turns deleted",
    ]
    assert list(render_removed_sessions(replies.session_removed(), Canvas())) == ["no sessions"]


def test_a_narrow_terminal_still_shows_the_first_eight_columns_of_a_question():
    reply = replies.session_list(replies.session_summary(first_question="abcdefghijkl"))

    line, *_ = render_session_list(reply, Canvas(width=20))

    assert line.endswith("  abcdefg…")
