from kebab.cli.render.canvas import Canvas
from kebab.cli.render.evals import render_draft
from kebab.wire.evals import EvalDraft


def drawn(**changes):
    reply = {
        "path": "queries.jsonl",
        "written": True,
        "wanted": 3,
        "answerable": 3,
        "unanswerable": 1,
        "documents": 2,
        "by_language": {"en": 2, "ko": 1},
        "by_kind": {"sentence": 2, "heading": 1, "nonsense": 1},
        "seed": 1,
        "corpus_revision": 7,
        **changes,
    }
    return list(render_draft(EvalDraft(**reply), Canvas()))


def test_the_path_and_the_kinds_of_questions_are_shown():
    lines = drawn()

    assert lines[:3] == [
        "queries.jsonl",
        "3 questions from 2 documents, seed 1",
        "  2  most words of a sentence, in order",
    ]
    assert "languages: en 2, ko 1" in lines
    assert lines[-1] == "hint: kebab eval run queries.jsonl"


def test_too_few_questions_are_reported():
    assert "note: 9 were asked for; the notes gave no more" in drawn(wanted=9)


def test_no_questions_are_reported():
    assert drawn(written=False) == ["the notes gave no question: too little running text"]
