"""Why a search finds a document, or where it loses it."""

from collections.abc import Iterator

from kebab.cli.render.canvas import Canvas
from kebab.cli.render.hits import (
    FRESHNESS_NOTES,
    INDENT,
    format_headings,
    format_line_range,
    render_degraded,
)
from kebab.cli.render.width import clean, truncate
from kebab.wire.why import (
    Barrier,
    Explanation,
    FilterReading,
    PassageAccount,
    PhraseReading,
    QueryReading,
    Standing,
)

_LABEL = 9
_UNASKED = {
    "absent": "occurs nowhere",
    "common": "in most passages",
    "surplus": "beyond the most terms",
    "filler": "only asks",
}
_VECTOR = {
    "pending": "it waits for its vector",
    "committed": "not compared",
    "unsupported": "the model does not know its script",
}
_WITHHELD = {
    "per_doc": "not shown: --per-doc leaves it out",
    "copies": "not shown: its very text is there already",
}
_AIMS = {
    "topic": "names a topic",
    "question": "asks for one passage",
    "need": "tells of a need in many words",
}
_BEYOND = "too far down to be looked at"


def render_why(reply: Explanation, canvas: Canvas) -> Iterator[str]:
    """Yield the verdict, how the query was read, and what became of the best passages."""
    first, *rest = canvas.wrap(clean(reply.message)) or [""]
    paint = canvas.success if reply.found else canvas.warning
    yield from map(paint, (first, *rest))
    if reply.hint:
        yield from canvas.hint(clean(reply.hint))
    yield ""
    yield from _asked(reply, canvas)
    for number, one in enumerate(reply.passages, start=1):
        yield ""
        yield from _passage(number, one, reply, canvas)
    for lost in reply.degraded:
        yield ""
        yield from render_degraded(lost, canvas)


def _asked(reply: Explanation, canvas: Canvas) -> Iterator[str]:
    read = reply.reading
    state = FRESHNESS_NOTES[reply.document.freshness]
    rows = {
        "document": reply.document.doc_path + state,
        "query": read.plain,
        "terms": ", ".join(f"{one.text} {one.weight:.1f}" for one in read.terms if one.weight),
        "left out": ", ".join(
            f"{one.text} ({_UNASKED[one.use]})" for one in read.terms if one.use in _UNASKED
        ),
        "phrases": _phrases(read.required),
        "given up": "quoted words that no passage holds as they stand" if read.relaxed else "",
        "without": _phrases(read.excluded),
        "filters": ", ".join(map(_filter, read.filters)),
        "aim": _aim(read),
    }
    for label, value in rows.items():
        if value:
            yield from canvas.wrap_with_label(f"{label:<{_LABEL}}", clean(value), canvas.dim)


def _phrases(phrases: list[PhraseReading]) -> str:
    return ", ".join(map(_phrase, phrases))


def _phrase(one: PhraseReading) -> str:
    return f"{one.column}:\u201c{one.text}\u201d" if one.column else f"\u201c{one.text}\u201d"


def _filter(one: FilterReading) -> str:
    origin = " (in the query)" if one.origin == "query" else ""
    return f"{one.name} {' or '.join(one.values)}{origin}"


def _aim(read: QueryReading) -> str:
    shares = {"topic": read.topic, "question": read.question, "need": read.need}
    told = sorted((name for name in shares if shares[name] > 0), key=lambda name: -shares[name])
    whole = len(told) == 1
    return ", ".join(
        _AIMS[name] if whole else f"{_AIMS[name]} ({shares[name]:.0%})" for name in told
    )


def _passage(number: int, one: PassageAccount, reply: Explanation, canvas: Canvas) -> Iterator[str]:
    yield f"{canvas.strong(f'{number:>2}')}  {canvas.location(format_line_range(one.citation))}"
    if context := format_headings(reply.document.title, one.heading_path):
        yield INDENT + canvas.dim(truncate(context, canvas.width - 4) if canvas.width else context)
    for barrier in one.barriers:
        yield INDENT + canvas.warning(clean(f"kept out: {_barrier(barrier)}"))
    if number == 1:
        yield _row("", "rank", "score", "", canvas)
    yield from _stages(one, reply, canvas)
    for label, terms in _held(one, reply.reading).items():
        if terms:
            yield from _indented(label, ", ".join(terms), canvas)


def _barrier(one: Barrier) -> str:
    if one.phrase is None:
        return f"filter {one.filter}"
    lacks = "holds the excluded" if one.kind == "exclusion" else "does not hold"
    return f"{lacks} {_phrase(one.phrase)}"


def _stages(one: PassageAccount, reply: Explanation, canvas: Canvas) -> Iterator[str]:
    unheld = "not asked" if reply.mode == "vector" else "none of the terms"
    yield _stage("words", one.lexical, unheld, canvas)
    unasked = "not asked" if reply.mode == "lexical" else _VECTOR[one.vector]
    yield _stage("meaning", one.semantic, unasked, canvas)
    if one.final.rank is None:
        return
    yield _stage("together", one.fused, "", canvas)
    for lift in one.lifts:
        yield _row(f"  {lift.reason}", "", f"{lift.value:+.3f}", "", canvas)
    yield _stage("final", one.final, "", canvas)
    if one.hit_rank is not None:
        note = "" if one.hit_rank <= reply.limit else f"the page holds {reply.limit:,}"
        score = "" if one.score is None else f"{one.score:.2f}"
        yield _row("hit", f"{one.hit_rank:,}", score, note, canvas)
    elif one.withheld:
        yield _row("hit", "\u2013", "", _WITHHELD[one.withheld], canvas)


def _stage(name: str, at: Standing, why_not: str, canvas: Canvas) -> str:
    if at.rank is None:
        return _row(name, "\u2013", "", why_not, canvas)
    score = "" if at.score is None else f"{at.score:.3f}"
    return _row(name, f"{at.rank:,}", score, "" if at.candidate else _BEYOND, canvas)


def _row(name: str, rank: str, score: str, note: str, canvas: Canvas) -> str:
    label = canvas.dim(f"{name:<11}")
    return f"{INDENT}{label} {rank:>7} {score:>9}  {canvas.dim(note)}".rstrip()


def _held(one: PassageAccount, read: QueryReading) -> dict[str, list[str]]:
    """Return the terms that a passage holds, with where they stand, and those that it lacks."""
    columns = {"title": one.held.title, "headings": one.held.headings, "body": one.held.body}
    held, lacks = [], []
    for term in [term.text for term in read.terms if term.use == "asked"]:
        where = [column for column, terms in columns.items() if term in terms]
        if where:
            held.append(f"{term} ({', '.join(where)})")
        else:
            lacks.append(term)
    return {"holds": held, "lacks": lacks}


def _indented(label: str, text: str, canvas: Canvas) -> Iterator[str]:
    yield from canvas.wrap_with_label(f"{INDENT}{label:<11}", clean(text), canvas.dim)
