"""Renders why a search finds or misses a document."""

from collections.abc import Iterator

from kebab.cli.render.canvas import Canvas, clean
from kebab.cli.render.excerpt import INDENT
from kebab.cli.render.hits import (
    format_headings,
    format_line_range,
    note_freshness,
    render_degraded,
)
from kebab.wire.related import (
    Explanation,
    FilterReading,
    PassageAccount,
    PhraseReading,
    QueryReading,
    Standing,
)

_LABEL = 9
_UNUSED_TERMS = {
    "absent": "occurs nowhere",
    "common": "in most passages",
    "surplus": "beyond the most terms",
    "filler": "question word",
}
_VECTOR_STATES = {
    "pending": "it waits for its vector",
    "committed": "not compared",
    "unsupported": "the model does not know its script",
}
_WITHHOLDING_FLAGS = {"per_doc": "--per-doc", "confidence": "--min-confidence"}
_INTENTS = {
    "topic": "names a topic",
    "question": "asks for one passage",
    "need": "describes a need in many words",
}
_BEYOND = "ranked too low to be considered"


def render_why(reply: Explanation, canvas: Canvas) -> Iterator[str]:
    """Yield the verdict, the reading of the query, and the account of the best passages."""
    paint = canvas.success if reply.found else canvas.warning
    yield from map(paint, canvas.wrap(clean(reply.message)) or [""])
    if reply.hint:
        yield from canvas.hint(clean(reply.hint))
    yield ""
    reading = reply.reading
    asked = [f"{term.text} {term.weight:.1f}" for term in reading.terms if term.weight]
    unused = [
        f"{term.text} ({_UNUSED_TERMS[term.use]})"
        for term in reading.terms
        if term.use in _UNUSED_TERMS
    ]
    rows = {
        "document": reply.document.doc_path + note_freshness(reply.document.freshness),
        "query": reading.plain,
        "terms": ", ".join(asked),
        "left out": ", ".join(unused),
        "phrases": ", ".join(map(_format_phrase, reading.required)),
        "given up": "quoted words that no passage contains exactly" if reading.relaxed else "",
        "without": ", ".join(map(_format_phrase, reading.excluded)),
        "filters": ", ".join(map(_format_filter, reading.filters)),
        "intent": _format_intent(reading),
    }
    for label, value in rows.items():
        if value:
            yield from canvas.wrap_with_label(f"{label:<{_LABEL}}", clean(value), canvas.dim)
    for number, passage in enumerate(reply.passages, start=1):
        yield ""
        yield from _render_passage(number, passage, reply, canvas)
    for channel in reply.degraded:
        yield ""
        yield from render_degraded(channel, canvas)


def _format_phrase(phrase: PhraseReading) -> str:
    column = f"{phrase.column}:" if phrase.column else ""
    return f"{column}“{phrase.text}”"


def _format_filter(reading: FilterReading) -> str:
    origin = " (in the query)" if reading.origin == "query" else ""
    return f"{reading.name} {' or '.join(reading.values)}{origin}"


def _format_intent(reading: QueryReading) -> str:
    """Return the intents of the query, the most likely one first."""
    shares = {"topic": reading.topic, "question": reading.question, "need": reading.need}
    names = sorted((name for name in shares if shares[name] > 0), key=lambda name: -shares[name])
    if len(names) == 1:
        return _INTENTS[names[0]]
    return ", ".join(f"{_INTENTS[name]} ({shares[name]:.0%})" for name in names)


def _render_passage(
    number: int, passage: PassageAccount, reply: Explanation, canvas: Canvas
) -> Iterator[str]:
    location = canvas.location(format_line_range(passage.citation))
    yield f"{canvas.strong(f'{number:>2}')}  {location}"
    if context := format_headings(reply.document.title, passage.heading_path):
        yield INDENT + canvas.dim(canvas.fit(context, len(INDENT)))
    for barrier in passage.barriers:
        cause = f"filter {barrier.filter}"
        if barrier.phrase is not None:
            verb = "holds the excluded" if barrier.kind == "exclusion" else "does not hold"
            cause = f"{verb} {_format_phrase(barrier.phrase)}"
        yield INDENT + canvas.warning(clean(f"kept out: {cause}"))
    if number == 1:
        yield _format_row("", "rank", "score", "", canvas)
    yield from _render_stages(passage, reply, canvas)
    columns = {name: getattr(passage.held, name) for name in ("title", "headings", "body")}
    terms: dict[str, list[str]] = {"holds": [], "lacks": []}
    for term in [term.text for term in reply.reading.terms if term.use == "asked"]:
        if where := [column for column, words in columns.items() if term in words]:
            terms["holds"].append(f"{term} ({', '.join(where)})")
        else:
            terms["lacks"].append(term)
    for label, found in terms.items():
        if found:
            text = clean(", ".join(found))
            yield from canvas.wrap_with_label(f"{INDENT}{label:<11}", text, canvas.dim)


def _render_stages(passage: PassageAccount, reply: Explanation, canvas: Canvas) -> Iterator[str]:
    unmatched = "not asked" if reply.mode == "vector" else "none of the terms"
    yield _format_stage("words", passage.lexical, unmatched, canvas)
    uncompared = "not asked" if reply.mode == "lexical" else _VECTOR_STATES[passage.vector]
    yield _format_stage("meaning", passage.semantic, uncompared, canvas)
    if passage.final.rank is None:
        return
    yield _format_stage("together", passage.fused, "", canvas)
    for boost in passage.lifts:
        yield _format_row(f"  {boost.reason}", "", f"{boost.value:+.3f}", "", canvas)
    yield _format_stage("final", passage.final, "", canvas)
    if passage.hit_rank is not None:
        note = "" if passage.hit_rank <= reply.limit else f"the page holds {reply.limit:,}"
        score = "" if passage.score is None else f"{passage.score:.2f}"
        yield _format_row("hit", f"{passage.hit_rank:,}", score, note, canvas)
    elif passage.withheld:
        flag = canvas.name_flag(_WITHHOLDING_FLAGS.get(passage.withheld, ""))
        cause = f"{flag} leaves it out" if flag else "another hit has the same text"
        yield _format_row("hit", "–", "", f"not shown: {cause}", canvas)


def _format_stage(name: str, standing: Standing, note: str, canvas: Canvas) -> str:
    """Return the rank and the score in a stage, or `note` without a rank."""
    if standing.rank is None:
        return _format_row(name, "–", "", note, canvas)
    score = "" if standing.score is None else f"{standing.score:.3f}"
    note = "" if standing.candidate else _BEYOND
    return _format_row(name, f"{standing.rank:,}", score, note, canvas)


def _format_row(name: str, rank: str, score: str, note: str, canvas: Canvas) -> str:
    label = canvas.dim(f"{name:<11}")
    return f"{INDENT}{label} {rank:>7} {score:>9}  {canvas.dim(note)}".rstrip()
