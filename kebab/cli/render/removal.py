"""What `rm` and `reset` took away."""

from collections.abc import Iterator

from kebab.cli.render.canvas import Canvas
from kebab.cli.render.clean import clean
from kebab.cli.render.sheet import plural, sized
from kebab.wire.health import ResetReport
from kebab.wire.library import RemoveReport


def draw_removed(reply: RemoveReport, canvas: Canvas) -> Iterator[str]:
    """Yield the documents that went, and whether they come back."""
    for one in reply.removed:
        yield f"{canvas.place(clean(one.doc_path))}  {canvas.faint(clean(one.title))}"
    documents = plural(len(reply.removed), "document")
    yield f"{documents} and {plural(reply.chunks, 'passage')} taken out of the index"
    if reply.returns:
        yield f"{canvas.odd('note:')} the files are still there: the next ingest reads them again"
        yield f"{canvas.good('hint:')} name them in a `.kebabignore` file to keep them out"


def draw_plan(reply: ResetReport, canvas: Canvas) -> Iterator[str]:
    """Yield what a reset would delete."""
    yield f"this deletes {sized(reply.bytes_freed)} from {canvas.place(clean(reply.data_dir))}:"
    yield from (f"  {clean(one)}" for one in reply.removed)
    yield "sessions of questions and texts from standard input lie there and go too"
    if reply.models_removed:
        yield "model weights are deleted too"
    yield "your own files stay as they are"


def draw_reset(reply: ResetReport, canvas: Canvas) -> Iterator[str]:
    """Yield what a reset deleted and what it left."""
    if not reply.removed:
        yield f"nothing to delete in {canvas.place(clean(reply.data_dir))}"
    yield from (f"{canvas.faint('deleted')}  {clean(one)}" for one in reply.removed)
    yield from (f"{canvas.faint('kept')}     {clean(one)}" for one in reply.kept)
    if reply.removed:
        yield f"{sized(reply.bytes_freed)} freed"
