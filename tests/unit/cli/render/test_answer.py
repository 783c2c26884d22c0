from kebab.cli.render.answer import render_answer, render_notes, render_sources
from kebab.cli.render.canvas import Canvas
from kebab.wire.ask import AnswerWarning
from tests.fakes import replies

TERMINAL = Canvas(width=60, color=True, links=True)
PLAIN = Canvas(width=60)


def drawn(reply, canvas=None):
    return list(render_answer(reply, canvas or Canvas()))


def test_a_pipe_gets_the_markdown_and_its_citations_and_nothing_else():
    reply = replies.answer("a **b** [1].\n\n- c", warnings=[replies.answer_warning("odd")])

    assert drawn(reply) == [
        "a **b** [1].",
        "",
        "- c",
        "",
        " [1] ops/backup.md:12-13  Backups > Restoring",
        '     "Stop the writer, then restore the snapshot."',
    ]


def test_a_terminal_gets_markdown_links_notes_and_a_footer():
    lines = drawn(replies.answer(warnings=[replies.answer_warning("odd")]), TERMINAL)

    assert lines[0] == "Stop the writer, then \x1b[1mrestore\x1b[0m \x1b[36m[1]\x1b[0m."
    assert "\x1b]8;;file:///home/ada/notes/ops/backup.md\x1b\\" in lines[2]
    assert lines[-3:] == [
        "",
        "\x1b[33mnote:\x1b[0m odd",
        "\x1b[2mgemma3:4b · 5 passages · 3.2 s\x1b[0m",
    ]


def test_long_quotes_are_cut_for_a_person_and_whole_in_a_pipe():
    long = replies.answer_citation(quote="word " * 100, heading_path=["Backups", "x " * 40])
    reply = replies.answer(citations=[long])

    shown = list(render_sources(reply, PLAIN))

    assert len(shown) == 5
    assert shown[-1].endswith('…"')
    assert all(len(line) <= 60 for line in shown)
    assert "…" not in "".join(render_sources(reply, Canvas()))


def test_texts_of_files_and_models_cannot_control_the_terminal():
    quoted = replies.answer_citation(quote="\x1b[2J", title="\u202e", heading_path=["\x07"])
    warning = replies.answer_warning("\x1b]0;x\x07")
    reply = replies.answer("\x1b[2J [1]", citations=[quoted], warnings=[warning], model="\x9b")

    for canvas in (Canvas(), PLAIN):
        text = "\n".join([*render_answer(reply, canvas), *render_notes(reply, canvas)])
        assert not {"\x1b", "\u202e", "\x07", "\x9b"} & set(text)


def test_a_refusal_shows_the_nearest_passage_and_what_to_try_and_ends_with_the_verdict():
    near = [replies.hit(rank) for rank in range(1, 6)]
    reply = replies.refusal("score_gate", suggestions=near, question="what's\nup")

    lines = drawn(reply, PLAIN)

    assert lines == [
        "nearest: ops/backup.md:12-13  Backups > Restoring",
        "hint: kebab search 'what'\"'\"'s up'",
        "The notes do not say.",
    ]


def test_an_uncertain_answer_says_why_before_its_sources():
    doubts = [
        AnswerWarning(code=code, message=message, marker=None, span=None)
        for code, message in [
            ("absent_term", "not in the notes: 2031"),
            ("odd", "odd"),
            ("negation_not_cited", "it denies: not"),
        ]
    ]
    reply = replies.answer("Nightly [1]", answers_question="uncertain", warnings=doubts)

    for canvas in (Canvas(), PLAIN):
        lines = drawn(reply, canvas)
        assert lines[:2] == ["Nightly [1]", ""]
        assert lines[2] == "uncertain: not in the notes: 2031; it denies: not"
    assert list(render_notes(reply, Canvas())) == ["note: odd"]


def test_absent_words_and_answers_say_what_is_not_read():
    found = replies.coverage(unread=3, checked=5000)
    refused = replies.refusal("score_gate", absent_terms=["fjord"], coverage=found)

    assert any(
        line == "not in the files that are read: fjord (3 of 5,003 files are not read yet)"
        for line in drawn(refused)
    )
    assert "note: 3 of 5,003 files are not read yet" in list(
        render_notes(replies.answer(coverage=found), PLAIN)
    )
