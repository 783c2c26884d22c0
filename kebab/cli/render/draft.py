"""A golden set that was made from the notes."""

from collections.abc import Iterator

from kebab.cli.render.canvas import Canvas
from kebab.cli.render.clean import clean
from kebab.cli.render.sheet import labelled, plural
from kebab.wire.golden import EvalDraft

_KINDS = {
    "sentence": "most words of a sentence, in order",
    "rarest": "the rarest words of a sentence",
    "heading": "a heading and a rare word from below it",
    "nonsense": "words that nobody wrote, half of them beside one that is there",
}


def draw_draft(reply: EvalDraft, canvas: Canvas) -> Iterator[str]:
    """Yield where it lies, how its questions were made, and what they are good for."""
    if not reply.written:
        yield "the notes gave no question: too little running text"
        return
    yield canvas.place(clean(reply.path))
    source = plural(reply.documents, "document")
    yield f"{plural(reply.answerable, 'question')} from {source}, seed {reply.seed}"
    made = ((str(count), _KINDS.get(kind, kind)) for kind, count in reply.by_kind.items())
    yield from labelled(made, canvas, "  ")
    languages = ", ".join(f"{name} {count}" for name, count in reply.by_language.items())
    yield f"languages: {languages}"
    if reply.answerable < reply.wanted:
        yield from canvas.note(f"{reply.wanted} were asked for; the notes gave no more")
    yield from canvas.note(
        "the questions use words of the notes, which flatters search by words; "
        "questions of your own tell more"
    )
    yield from canvas.hint(f"kebab eval run {clean(reply.path)}")
