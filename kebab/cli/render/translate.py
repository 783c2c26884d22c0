"""Renders what became of a translation, for stderr."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from kebab.cli.render.canvas import Canvas, pluralize
from kebab.cli.render.review import render_unanswered
from kebab.cli.render.width import clean
from kebab.wire.review import AgentItems, TranslatedText


def render_no_page(reply: AgentItems, canvas: Canvas) -> tuple[str, ...]:
    """Render no page, because text output has the translated document instead."""
    del reply, canvas
    return ()


def render_outcome(
    reply: AgentItems,
    findings: Sequence[str],
    score: float | None,
    target: Path | None,
    canvas: Canvas,
) -> Iterator[str]:
    """Yield how many segments are translated, the rating, and where the text is.

    Args:
        reply: The last page.
        findings: The lines of the findings.
        score: The rating of the whole, if there is one.
        target: The file with the text; None when it is on stdout.
        canvas: The channel.
    """
    text = reply.translation if isinstance(reply.translation, TranslatedText) else None
    if text is None:
        yield canvas.warning("the translation is not complete")
        yield canvas.step("go on", f"kebab translate --run-id {reply.run_id}")
        return
    parts = [f"{text.translated:,} of {pluralize(text.segments, 'segment')} translated"]
    parts += [pluralize(len(findings), "finding")] if findings else []
    parts += [f"rated {score:.0%}"] if score is not None else []
    done = ", ".join(parts)
    yield canvas.success(done) if text.translated == text.segments else canvas.warning(done)
    if reply.unanswered:
        texts = render_unanswered(reply.unanswered, reply.unanswered_count)
        yield from canvas.note(f"no answer of the model: {texts}")
        yield canvas.step("ask it again", f"kebab translate --run-id {reply.run_id}")
    if target:
        yield f"written: {clean(str(target))}"
