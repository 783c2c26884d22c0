"""Renders why files are in the index or not."""

from collections.abc import Iterator

from kebab.cli.render.canvas import Canvas, format_bytes, render_fields
from kebab.cli.render.width import clean
from kebab.wire.path_explanation import PathExplanation, PathExplanations, SkipRule


def render_path_explanations(reply: PathExplanations, canvas: Canvas) -> Iterator[str]:
    """Yield for each path whether it is read, why, and what can be done."""
    for number, found in enumerate(reply.paths):
        if number:
            yield ""
        yield from _render_path(found, canvas)


def _render_path(found: PathExplanation, canvas: Canvas) -> Iterator[str]:
    state = canvas.success("in") if found.included else canvas.warning("out")
    yield f"{canvas.location(clean(found.path))}  {state}"
    yield from canvas.hang(clean(found.message), "  ")
    yield from render_fields(_list_fields(found), canvas, "  ")
    for warning in found.indexed.warnings if found.indexed else []:
        yield from canvas.note(clean(warning))
    if found.hint:
        yield from canvas.hint(clean(found.hint))


def _list_fields(found: PathExplanation) -> list[tuple[str, str]]:
    indexed = found.indexed
    label = found.label or ""
    return [
        ("rule", _format_rule(found.rule) if found.rule else ""),
        ("source", clean(found.source or "")),
        ("format", f"{label} ({found.media})" if found.media else label),
        ("parser", found.parser or ""),
        ("size", "" if found.size is None else format_bytes(found.size)),
        ("document", f"{indexed.doc_id}  {clean(indexed.title)}" if indexed else ""),
        ("passages", f"{indexed.chunk_count:,}" if indexed else ""),
        ("indexed", f"{indexed.indexed_at} ({indexed.freshness})" if indexed else ""),
    ]


def _format_rule(rule: SkipRule) -> str:
    """Return a rule as `FILE:LINE: PATTERN`, or the setting with its pattern."""
    pattern = f"  {clean(rule.pattern)}" if rule.pattern else ""
    if rule.file is not None:
        return f"{clean(rule.file)}:{rule.line}{pattern}"
    if rule.setting:
        return f"{rule.setting}{pattern}"
    return f"built in  {clean(rule.path.rpartition('/')[2])}"
