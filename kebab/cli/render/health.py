"""What doctor found."""

from collections.abc import Iterator

from kebab.cli.render.canvas import Canvas
from kebab.cli.render.clean import clean
from kebab.cli.render.sheet import plural
from kebab.wire.health import Doctor, DoctorCheck

_MARKS = {"ok": "✓", "warn": "!", "fail": "✗", "skip": "-"}


def draw(reply: Doctor, canvas: Canvas) -> Iterator[str]:
    """Yield every check with its mark, and how to mend what is not well."""
    yield canvas.strong(f"kebab v{reply.kebab_version}")
    yield ""
    width = max((len(one.name) for one in reply.checks), default=0)
    for one in reply.checks:
        yield from _check(one, width, canvas)
    yield ""
    yield _verdict(reply, canvas)


def _check(one: DoctorCheck, width: int, canvas: Canvas) -> Iterator[str]:
    paint = {"ok": canvas.good, "warn": canvas.odd, "fail": canvas.bad, "skip": canvas.faint}[
        one.status
    ]
    indent = " " * (width + 6)
    first, *rest = canvas.paragraph(clean(one.summary), indent) or [indent]
    yield f"  {paint(_MARKS[one.status])} {one.name:<{width}}  {first[len(indent) :]}"
    yield from rest
    if one.fix and one.status != "ok":
        yield f"{indent}{canvas.good('fix:')} {clean(one.fix)}"


def _verdict(reply: Doctor, canvas: Canvas) -> str:
    failed = sum(one.status == "fail" for one in reply.checks)
    warned = sum(one.status == "warn" for one in reply.checks)
    if failed:
        return canvas.bad(f"{plural(failed, 'problem')} to mend")
    notes = f", {plural(warned, 'note')}" if warned else ""
    return canvas.good("healthy") + notes
