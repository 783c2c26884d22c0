"""Renders the stored runs of reviews, the fixes that were applied, and the rules."""

from collections.abc import Iterator
from pathlib import Path

from kebab.cli.render.canvas import Canvas, format_tabs, pluralize
from kebab.cli.render.paths import format_openable_path
from kebab.cli.render.review_excerpt import PAINTS
from kebab.cli.render.width import clean
from kebab.wire.review_runs import (
    AppliedFile,
    ReviewApplied,
    ReviewRemoved,
    ReviewRule,
    ReviewRules,
    ReviewRun,
    ReviewRuns,
)

_DIFF_COLORS = {"-": "red", "+": "green", "@": "cyan"}


def render_runs(reply: ReviewRuns, canvas: Canvas) -> Iterator[str]:
    """Yield the runs, the newest first; on a terminal two lines for each."""
    if canvas.width is None:
        for run in reply.runs:
            counts = (str(run.documents), str(run.units_done), str(run.item_count))
            state = "completed" if run.completed else "unfinished"
            times = (run.created_at, run.updated_at)
            names = " ".join(run.names)
            yield format_tabs(run.run_id, run.kind, run.tier, state, *counts, *times, names)
        return
    if not reply.runs:
        yield "no runs"
        return
    for run in reply.runs:
        note = "" if run.completed else canvas.warning("  (unfinished)")
        yield f"{canvas.location(run.run_id)}  {clean(' '.join(run.names))}{note}"
        yield f"  {canvas.dim(_describe_run(run))}"
    yield ""
    yield canvas.dim(f"a run is deleted after {pluralize(reply.keep_days, 'day')} without use")
    yield canvas.step("go on with one", "kebab review --run-id RUN")


def _describe_run(run: ReviewRun) -> str:
    parts = [
        run.kind if run.kind == "translate" else "",
        run.tier,
        run.model or "without a model",
        pluralize(run.documents, "document"),
        pluralize(run.item_count, "finding"),
        run.updated_at[:16].replace("T", " "),
    ]
    return ", ".join(clean(part) for part in parts if part)


def render_removed_runs(reply: ReviewRemoved, canvas: Canvas) -> Iterator[str]:
    """Yield the number of deleted runs."""
    del canvas
    yield f"deleted: {', '.join(reply.runs)}"


def render_fix_plan(reply: ReviewApplied, canvas: Canvas) -> Iterator[str]:
    """Yield what would change; nothing when there is nothing to fix."""
    if reply.files:
        for file in reply.files:
            yield from _render_difference(file, canvas)
        yield ""
        fixes = _count_fixes(sum(file.applied for file in reply.files))
        files = pluralize(len(reply.files), "file")
        yield f"write {fixes} to {files}; the originals are kept as `FILE.orig`"


def render_applied(reply: ReviewApplied, canvas: Canvas) -> Iterator[str]:
    """Yield the differences of a dry run, else the files that were written."""
    if reply.dry_run:
        for file in reply.files:
            yield from _render_difference(file, canvas)
    else:
        for file in reply.files:
            path = canvas.link(canvas.location(_name(file.file)), file.file)
            backup = f"; the original is {_name(file.backup)}" if file.backup else ""
            yield f"{path}  {_count_fixes(file.applied)}{backup}"
    if canvas.is_terminal or not reply.dry_run:
        left_out = sum(file.overlapping for file in reply.files)
        if left_out:
            yield from canvas.note(f"fixes that overlap an earlier one were left out: {left_out}")
        if not reply.files:
            yield "nothing to fix"


def _count_fixes(count: int) -> str:
    return "1 fix" if count == 1 else f"{count:,} fixes"


def _name(file: str) -> str:
    return clean(format_openable_path(file, Path(file).name))


def _render_difference(file: AppliedFile, canvas: Canvas) -> Iterator[str]:
    """Yield a difference in colour; its heads have no sign of their own."""
    for number, line in enumerate(file.diff.splitlines()):
        if number < 2:  # noqa: PLR2004 - the names of both files
            yield canvas.strong(clean(line))
        else:
            yield canvas.paint(clean(line), fg=_DIFF_COLORS.get(line[:1]))


def render_explanations(reply: ReviewRules, canvas: Canvas) -> Iterator[str]:
    """Yield the explanation of a rule."""
    for rule in reply.rules:
        yield from _render_rule(rule, canvas)


def render_rules(reply: ReviewRules, canvas: Canvas) -> Iterator[str]:
    """Yield one line for each rule."""
    width = max((len(rule.id) for rule in reply.rules), default=0)
    for rule in reply.rules:
        if canvas.width is None:
            state = "on" if rule.enabled else "off"
            yield format_tabs(rule.id, rule.severity, state, rule.summary)
            continue
        note = "" if rule.enabled else canvas.warning(" (off)")
        label = f"{canvas.strong(f'{rule.id:<{width}}')}  "
        first, *rest = canvas.wrap(rule.summary, " " * (width + 2))
        yield label + first[width + 2 :] + note
        yield from rest
    if canvas.is_terminal:
        yield ""
        yield canvas.step("explain one", "kebab review --explain RULE")


def _render_rule(rule: ReviewRule, canvas: Canvas) -> Iterator[str]:
    state = "" if rule.enabled else canvas.warning("  (switched off in the settings)")
    yield f"{canvas.strong(rule.id)}  {PAINTS[rule.severity](canvas, rule.severity)}{state}"
    yield ""
    yield from canvas.wrap(rule.summary)
    for paragraph in filter(None, rule.explanation.split("\n\n")):
        yield ""
        yield from canvas.wrap(paragraph)
    yield ""
    yield canvas.dim("Example:")
    yield ""
    yield from (f"    {clean(line)}".rstrip() for line in rule.example.split("\n"))
    yield ""
    yield canvas.dim(f'Switch it off: review.disable = ["{rule.id}"] in the settings')
