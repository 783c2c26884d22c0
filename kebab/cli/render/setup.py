"""What `init` made."""

from collections.abc import Iterator

from kebab.cli.render.canvas import Canvas
from kebab.cli.render.clean import clean
from kebab.cli.render.sheet import labelled
from kebab.wire.health import InitReport


def draw(reply: InitReport, canvas: Canvas) -> Iterator[str]:
    """Yield where everything lies and what to do next."""
    state = canvas.good("written") if reply.written else "already there; `--force` writes it anew"
    yield from labelled(
        [
            ("settings", f"{canvas.place(clean(reply.config_path))}  {state}"),
            ("data", clean(reply.data_dir)),
            ("workspace", clean(reply.workspace or "")),
        ],
        canvas,
    )
    yield ""
    yield canvas.faint("next: kebab ingest" + ("" if reply.workspace else " FOLDER"))
